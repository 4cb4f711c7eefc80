import Text

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The current time and time zone for `since:` and `before:`. For a finished session `now` is the time of its last
/// exchange, so that `since:10m` means its last ten minutes.
package struct FilterClock: Sendable {
    /// Microseconds since 1970.
    package var now: Int64
    package var secondsAheadOfUTC: @Sendable (Int64) -> Int64

    /// `now` in microseconds since 1970.
    package static func local(now: Int64) -> FilterClock {
        FilterClock(now: now) { seconds in
            var time = time_t(seconds)
            var parts = tm()
            return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
        }
    }

    package static var current: FilterClock { .local(now: WallClock.now()) }

    /// Reads a time as microseconds since 1970: `14:30` or `14:30:05` (the latest before now), `2026-11-21`,
    /// `2026-11-21T14:30:05` with `Z`, `+02:00` or local, or `10m` ago. Years before 1 cannot be written again and are
    /// refused.
    package func read(_ text: String) -> Int64? {
        if let ago = Quantity.time.read(text, requiresUnit: true) {
            let (time, overflows) = now.subtractingReportingOverflow(ago)
            return overflows || time < CivilDate.day(year: 1, month: 1, day: 1) * 86_400_000_000 ? nil : time
        }
        if let parts = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([0-9:.]+)(.+)?)?/) {
            guard let day = CivilDate.day(parts.1, parts.2, parts.3) else { return nil }
            guard let clock = parts.4 else { return utc(ofLocal: day * 86_400_000_000) }
            guard let time = Self.timeOfDay(clock) else { return nil }
            let local = day * 86_400_000_000 + time
            guard let zone = parts.5 else { return utc(ofLocal: local) }
            return Self.offset(zone).map { local - $0 * 1_000_000 }
        }
        guard let time = Self.timeOfDay(text[...]) else { return nil }
        let nowSeconds = now.flooredDivision(by: 1_000_000)
        let today = (nowSeconds + secondsAheadOfUTC(nowSeconds)).flooredDivision(by: 86_400)
        let candidate = utc(ofLocal: today * 86_400_000_000 + time)
        return candidate <= now ? candidate : utc(ofLocal: (today - 1) * 86_400_000_000 + time)
    }

    /// Microseconds since midnight.
    private static func timeOfDay(_ text: Substring) -> Int64? {
        guard let parts = text.wholeMatch(of: /([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?/),
            let hour = Int64(parts.1), hour < 24, let minute = Int64(parts.2), minute < 60,
            let second = Int64(parts.3 ?? "0"), second < 60,
            let micros = Int64(((parts.4 ?? "") + "000000").prefix(6))
        else { return nil }
        return ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros
    }

    /// Seconds ahead of UTC: `Z`, `+02:00`, `+0200` or `-05`.
    private static func offset(_ text: Substring) -> Int64? {
        if text == "Z" || text == "z" { return 0 }
        guard let parts = text.wholeMatch(of: /([+-])([0-9]{2}):?([0-9]{2})?/),
            let hours = Int64(parts.2), hours < 24, let minutes = Int64(parts.3 ?? "0"), minutes < 60
        else { return nil }
        return (hours * 3_600 + minutes * 60) * (parts.1 == "-" ? -1 : 1)
    }

    private func utc(ofLocal local: Int64) -> Int64 {
        let seconds = local.flooredDivision(by: 1_000_000)
        // The offset depends on the time itself: the second guess is right except in the hour of a clock change.
        return local - secondsAheadOfUTC(seconds - secondsAheadOfUTC(seconds)) * 1_000_000
    }

    /// In UTC, with as many decimals as needed.
    static func write(_ time: Int64) -> String {
        let day = time.flooredDivision(by: 86_400_000_000)
        var micros = time - day * 86_400_000_000
        let (year, month, dayOfMonth) = CivilDate.of(day: day)
        let fraction = micros % 1_000_000
        micros /= 1_000_000
        var text = "\(year.padded(to: 4))-\(month.padded(to: 2))-\(dayOfMonth.padded(to: 2))"
        text += "T\((micros / 3_600).padded(to: 2)):\((micros / 60 % 60).padded(to: 2)):\((micros % 60).padded(to: 2))"
        if fraction != 0 { text += "." + fraction.padded(to: 6) }
        return text + "Z"
    }
}

package enum CivilDate {
    /// Years begin in March, so that the leap day is the last; eras have 400 years.
    package static func day(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year.flooredDivision(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    package static func of(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = shifted.flooredDivision(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }

    /// `nil` if the date does not exist.
    fileprivate static func day(_ year: Substring, _ month: Substring, _ day: Substring) -> Int64? {
        guard let year = Int64(year), let month = Int64(month), let day = Int64(day), (1...12).contains(month),
            day > 0
        else { return nil }
        let number = self.day(year: year, month: month, day: day)
        return of(day: number) == (year, month, day) ? number : nil
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}

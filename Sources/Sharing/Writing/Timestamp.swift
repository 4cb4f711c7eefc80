/// Moments as text, in UTC, without Foundation.
package enum Timestamp {
    struct Parts: Equatable {
        var year: Int
        var month: Int
        var day: Int
        var hour: Int
        var minute: Int
        var second: Int
        var microsecond: Int
    }

    /// ISO 8601 with microseconds, for example `2026-11-21T10:57:03.000125Z`.
    package static func iso8601(_ microseconds: Int64) -> String {
        let parts = parts(microseconds)
        return "\(date(parts))T\(time(parts)).\(pad(parts.microsecond, 6))Z"
    }

    /// Date and time to the millisecond, for people, for example `2026-11-21 10:57:03.000 UTC`.
    package static func readable(_ microseconds: Int64) -> String {
        "\(date(parts(microseconds))) \(clock(microseconds)) UTC"
    }

    /// The time of day to the millisecond, for example `10:57:03.000`.
    package static func clock(_ microseconds: Int64) -> String {
        let parts = parts(microseconds)
        return "\(time(parts)).\(pad(parts.microsecond / 1000, 3))"
    }

    /// Splits microseconds since 1970 in the Gregorian calendar.
    static func parts(_ microseconds: Int64) -> Parts {
        let (seconds, microsecond) = floorDivision(Int(microseconds), 1_000_000)
        let (days, inDay) = floorDivision(seconds, 86_400)
        let (year, month, day) = civil(days)
        return Parts(
            year: year,
            month: month,
            day: day,
            hour: inDay / 3600,
            minute: inDay / 60 % 60,
            second: inDay % 60,
            microsecond: microsecond
        )
    }

    /// Division that rounds towards the past, so that moments before 1970 come out right too.
    private static func floorDivision(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    /// The day of a number of days since 1970-01-01, counting years from March so that the leap day comes last.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The number of days from 1970-01-01 to a day.
    static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func date(_ parts: Parts) -> String {
        "\(pad(parts.year, 4))-\(pad(parts.month))-\(pad(parts.day))"
    }

    private static func time(_ parts: Parts) -> String {
        "\(pad(parts.hour)):\(pad(parts.minute)):\(pad(parts.second))"
    }

    private static func pad(_ number: Int, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.utf8.count, 0)) + digits
    }
}

import Content
import Description
import HTTPModel

extension ArchiveEntry {
    private static let moments = Double(RecordedRange.moments.lowerBound)...Double(RecordedRange.moments.upperBound)

    /// Reads the start; it is 1970 if the text cannot be read. `name` is the archive's name of the time.
    mutating func setStart(_ text: String, _ name: String, _ losses: ArchiveLosses) {
        guard let (moment, hasZone) = ArchiveEntry.moment(text) else {
            return losses.add(text.isEmpty ? .missingTime(name) : .unreadableTime(name))
        }
        if !hasZone { losses.add(.init("time{|s} 'NAME' without a time zone, read as UTC", of: name)) }
        setStart(moment, name, losses)
    }

    mutating func setState(_ name: String) {
        let state = ExchangeRecord.State.allCases.first { $0.exportName == name }
        // A complete exchange needs no response, for example if its request was not sent yet.
        isUnsent = state == .complete
        self.state = state == .blocked || state == .interrupted ? state : nil
    }

    /// `moment` is in microseconds since 1970; out of range, it is counted and becomes the nearest possible moment.
    mutating func setStart(_ moment: Double, _ name: String, _ losses: ArchiveLosses) {
        startedAt = RecordedRange.nearest(moment, in: RecordedRange.moments)
        if !ArchiveEntry.moments.contains(moment) { losses.add(.outOfRange(name)) }
    }

    /// Reads ISO 8601, seconds or milliseconds since 1970, and HTTP dates; `nil` for other texts.
    static func moment(_ text: String) -> (microseconds: Double, hasZone: Bool)? {
        if let moment = ISOTime(text) { return (moment.microseconds, moment.hasZone) }
        if let moment = EpochTime(text) { return (Double(moment.microseconds), true) }
        return CookieDate.microseconds(text).map { (Double($0), true) }
    }
}

/// ISO 8601 as programs write it: a blank for `T`, no seconds, no time, a comma in the fraction, or no zone (then UTC).
private struct ISOTime {
    private(set) var microseconds = 0.0
    private(set) var hasZone = true
    private var rest: Substring.UTF8View

    init?(_ text: String) {
        rest = Substring(text).utf8
        guard let year = digits(6, atLeast: 4), take("-"), let month = digits(2, 1...12), take("-"),
            let day = digits(2, 1...31)
        else { return nil }
        var seconds = CivilDate.day(year: year, month: month, day: day) * 86_400
        var fraction = 0.0
        if take("Tt ") {
            guard let hour = digits(2, 0...24), take(":"), let minute = digits(2, 0...59) else { return nil }
            seconds += hour * 3_600 + minute * 60
            if take(":") {
                guard let second = digits(2, 0...60) else { return nil }
                seconds += second
                if take(".,") {
                    let places = rest.prefix { $0 &- 0x30 < 10 }
                    guard !places.isEmpty, let part = Double("0.\(Substring(places))") else { return nil }
                    fraction = part
                    rest = rest.dropFirst(places.count)
                }
            }
        }
        guard let offset = zone(), rest.isEmpty else { return nil }
        microseconds = Double(seconds - offset) * 1_000_000 + (fraction * 1_000_000).rounded()
    }

    private mutating func zone() -> Int64? {
        if take("Zz") { return 0 }
        let isBehind = rest.first == UInt8(ascii: "-")
        guard take("+-") else {
            hasZone = false
            return 0
        }
        guard let hours = digits(2, 0...23) else { return nil }
        let minutes = take(":") || !rest.isEmpty ? digits(2, 0...59) : 0
        return minutes.map { (hours * 3_600 + $0 * 60) * (isBehind ? -1 : 1) }
    }

    private mutating func take(_ signs: String) -> Bool {
        guard let byte = rest.first, signs.utf8.contains(byte) else { return false }
        rest = rest.dropFirst()
        return true
    }

    private mutating func digits(
        _ most: Int,
        atLeast least: Int = 2,
        _ range: ClosedRange<Int64> = 0...999_999
    ) -> Int64? {
        let digits = rest.prefix(most).prefix { $0 &- 0x30 < 10 }
        guard digits.count >= least, let number = Int64(Substring(digits)), range.contains(number) else { return nil }
        rest = rest.dropFirst(digits.count)
        return number
    }
}

import Text

/// Dates as HTTP sends them (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// The years 1 to 9999.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// A time in seconds since 1970 as an HTTP date; `nil` if its year is not from 1 to 9999.
    package static func text(_ seconds: Int64) -> String? {
        guard range.contains(seconds) else { return nil }
        let day = (seconds - ((seconds % 86_400) + 86_400) % 86_400) / 86_400
        let rest = seconds - day * 86_400
        let (year, month, date) = CivilDate.of(day: day)
        let name = days[Int(((day % 7) + 7) % 7)]
        let clock = [rest / 3_600, rest % 3_600 / 60, rest % 60].map { $0.padded(to: 2) }.joined(separator: ":")
        return "\(name), \(date.padded(to: 2)) \(months[Int(month) - 1]) \(year.padded(to: 4)) \(clock) GMT"
    }
}

import HTTPModel
import Sharing

/// Moves the dates of a recorded response: `Date`, `Expires` and the end of cookies.
///
/// `Last-Modified` stays: it is about the content, which is the recorded one.
enum RefreshedDates {
    /// Moves the dates by seconds; what is no date stays as it is.
    static func move(_ fields: inout FieldSection, by seconds: Int64) {
        for place in fields.indices {
            let field = fields[place]
            let value: String?
            switch field.name.lowercased() {
            case "date", "expires": value = moved(field.value, by: seconds)
            case "set-cookie": value = movedCookie(field.value, by: seconds)
            default: value = nil
            }
            if let value { fields.setValue(value, at: place) }
        }
    }

    private static func movedCookie(_ cookie: String, by seconds: Int64) -> String? {
        var parts = cookie.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
        guard
            let index = parts.indices.dropFirst().first(where: {
                parts[$0].drop { $0 == " " }.lowercased().hasPrefix("expires=")
            }), let equals = parts[index].firstIndex(of: "=")
        else { return nil }
        let start = parts[index].index(after: equals)
        guard let date = moved(String(parts[index][start...]), by: seconds) else { return nil }
        parts[index] = parts[index][..<start] + date
        return parts.joined(separator: ";")
    }

    private static func moved(_ date: String, by seconds: Int64) -> String? {
        guard let moment = CookieDate.microseconds(date) else { return nil }
        let (later, isTooFar) = (moment / 1_000_000).addingReportingOverflow(seconds)
        return isTooFar ? nil : HTTPDate.text(later)
    }
}

/// Dates as HTTP sends them (RFC 9110 §5.6.7).
enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    /// The years 1 to 9999.
    private static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// A moment in the form that is sent; `nil` where its year has no four digits.
    static func text(_ seconds: Int64) -> String? {
        guard range.contains(seconds) else { return nil }
        let day = (seconds - ((seconds % 86_400) + 86_400) % 86_400) / 86_400
        let rest = seconds - day * 86_400
        let (year, month, date) = CivilDate.of(day: day)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : String(number) }
        let name = days[Int(((day % 7) + 7) % 7)]
        let monthName = months[Int(month) - 1]
        let fullYear = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
        let clock = [rest / 3_600, rest % 3_600 / 60, rest % 60].map(two).joined(separator: ":")
        return "\(name), \(two(date)) \(monthName) \(fullYear) \(clock) GMT"
    }
}

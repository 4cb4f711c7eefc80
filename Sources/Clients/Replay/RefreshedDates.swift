import Content
import Formats
import HTTPModel

/// Moves `Date`, `Expires` and the end of cookies of a recorded response. `Last-Modified` stays: it is the content's.
enum RefreshedDates {
    /// Texts that are not dates are not changed.
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

package import HTTPModel

/// Cookies in messages (RFC 6265).
package enum Cookies {
    package struct Cookie: Equatable, Sendable {
        package var name: String
        package var value: String
    }

    package struct SetCookie: Sendable {
        package var name: String
        package var value: String
        /// Its attributes in order, their names in lower case; the value is empty if there is no `=`.
        package var attributes: [(name: String, value: String)]

        package var path: String? { attribute("path") }
        package var domain: String? { attribute("domain") }
        package var sameSite: String? { attribute("samesite") }
        package var isSecure: Bool { attribute("secure") != nil }
        package var isHTTPOnly: Bool { attribute("httponly") != nil }

        /// When the cookie expires, in microseconds since 1970; `Max-Age` overrides `Expires` (RFC 6265 §4.1.2.2).
        package func expires(receivedAt moment: Int64) -> Int64? {
            if let seconds = attribute("max-age").flatMap({ Int64($0) }) {
                // Limits `Max-Age`: dates later than any calendar mean "never".
                return moment + min(max(seconds, 0), 10_000_000_000) * 1_000_000
            }
            return attribute("expires").flatMap { CookieDate.microseconds($0) }
        }

        private func attribute(_ name: String) -> String? { attributes.last { $0.name == name }?.value }
    }

    package static func request(_ fields: FieldSection) -> [Cookie] {
        fields.values(of: .cookie).flatMap { pieces($0) }.map { Cookie(name: $0.name ?? "", value: $0.value) }
            .filter { !$0.name.isEmpty || !$0.value.isEmpty }
    }

    package static func response(_ fields: FieldSection) -> [SetCookie] {
        fields.values(of: .setCookie).compactMap { line in
            let pieces = pieces(line)
            guard let first = pieces.first, let name = first.name else { return nil }
            let attributes = pieces.dropFirst().map { name, value in
                name.map { ($0.lowercased(), value) } ?? (value.lowercased(), "")
            }
            return SetCookie(name: name, value: first.value, attributes: attributes)
        }
    }

    /// Splits a line at semicolons, by bytes: a `;` with a combining mark after it would be a different `Character`.
    private static func pieces(_ line: String) -> [(name: String?, value: String)] {
        line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { piece in
            func trimmed(_ text: Substring.UTF8View) -> String { String(Substring(text.trimmingASCIIWhitespace)) }
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { return (nil, trimmed(piece)) }
            return (trimmed(piece[..<equals]), trimmed(piece[piece.index(after: equals)...]))
        }
    }
}

/// The dates of cookies and of HTTP, by the lenient rules of RFC 6265 §5.1.1: tokens in any order.
package enum CookieDate {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// Microseconds since 1970; `nil` if a part is missing or impossible.
    package static func microseconds(_ text: String) -> Int64? {
        var time: [Int]?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != ":" }) {
            let number = token.utf8.count <= 4 ? Int(token) : nil
            let parts = token.split(separator: ":").compactMap { Int($0) }
            if time == nil, parts.count == 3 {
                time = parts
            } else if day == nil, let number, token.utf8.count <= 2 {
                day = number
            } else if month == nil, let index = months.firstIndex(of: token.prefix(3).lowercased()) {
                month = index + 1
            } else if year == nil, let number, token.utf8.count >= 2 {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let time, let day, let month, let year, (1...31).contains(day), (1601...9999).contains(year),
            (0...23).contains(time[0]), (0...59).contains(time[1]), (0...59).contains(time[2])
        else { return nil }
        let days = CivilDate.day(year: Int64(year), month: Int64(month), day: Int64(day))
        return (days * 86_400 + Int64(time[0] * 3600 + time[1] * 60 + time[2])) * 1_000_000
    }
}

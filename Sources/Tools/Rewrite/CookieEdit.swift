import Content
import Expressions
import HTTPModel
import Rules

/// Removes single cookies from the `Cookie` field of a request, or the `Set-Cookie` fields of a response.
struct CookieEdit: Sendable {
    /// Names are case-sensitive, as they are for servers (RFC 6265 §5.3).
    enum Name: Sendable {
        case any
        /// The whole name.
        case glob(Glob)
        /// A part of the name.
        case expression(TextPattern)
    }

    let name: Name
    /// What must be found in the value; `nil` for any value.
    let value: TextPattern?

    private static let semicolon = UInt8(ascii: ";")

    /// Removes cookies from a request, and fields that become empty; returns the change for the trace, `nil` if nothing
    /// changed. Throws ``RegularExpression/MatchLimitError``; nothing is changed then.
    func apply(toRequest fields: inout FieldSection) throws -> String? {
        try edit(.cookie, in: &fields) { value, removed in
            let cookies = value.split(separator: CookieEdit.semicolon, omittingEmptySubsequences: false)
            var kept: [ArraySlice<UInt8>] = []
            for (number, cookie) in cookies.enumerated() {
                if let name = try match(cookie) {
                    removed.append(name)
                } else {
                    // If the first cookies are removed, the blank before the next cookie is removed, too.
                    kept.append(kept.isEmpty && number > 0 ? cookie.drop { CookieEdit.isBlank($0) } : cookie)
                }
            }
            let isEmpty = kept.allSatisfy { $0.allSatisfy(CookieEdit.isBlank) }
            return isEmpty ? nil : Array(kept.joined(separator: [CookieEdit.semicolon]))
        }
    }

    /// Removes the `Set-Cookie` lines of cookies from a response; returns the change for the trace, `nil` if nothing
    /// changed. Throws ``RegularExpression/MatchLimitError``; nothing is changed then.
    func apply(toResponse fields: inout FieldSection) throws -> String? {
        try edit(.setCookie, in: &fields) { value, removed in
            if let name = try match(value.prefix { $0 != CookieEdit.semicolon }) { removed.append(name) }
            return nil
        }
    }

    /// Why no cookie was removed; the text has the names of the cookies only, because values are often secrets.
    func absence(in fields: FieldSection, _ field: FieldName) -> String {
        let values = fields.filter { FieldName($0.name) == field }.map(\.value)
        let cookies = field == .cookie ? values.flatMap { $0.split(separator: ";") } : values.map { $0[...] }
        let names = cookies.compactMap { $0.split(separator: "=").first.map { String($0.trimmingASCIIWhitespace) } }
        guard !names.isEmpty else { return "there is no \(field)" }
        return "\(field): no cookie of that name or value; there are \(names.joined(separator: ", ").clipped())"
    }

    /// Edits the fields of a name that have cookies to remove; `rest` returns the new value, `nil` to remove a field.
    private func edit(
        _ name: FieldName,
        in fields: inout FieldSection,
        _ rest: (_ value: [UInt8], _ removed: inout [String]) throws -> [UInt8]?
    ) throws -> String? {
        var edited = fields
        var removed: [String] = []
        var start = 0
        while let position = edited.firstIndex(of: name, from: start) {
            start = position + 1
            let count = removed.count
            let value = try rest(edited.valueBytes(at: position), &removed)
            guard removed.count > count else { continue }
            if let value {
                edited.setValue(value, at: position)
            } else {
                edited.remove(at: position)
                start = position
            }
        }
        guard !removed.isEmpty else { return nil }
        fields = edited
        // Names only, because values are often secrets.
        return "removed \(removed.joined(separator: ", ").clipped())"
    }

    /// The name of a cookie if the cookie is to be removed; otherwise `nil`.
    private func match(_ cookie: ArraySlice<UInt8>) throws(RegularExpression.MatchLimitError) -> String? {
        let equals = cookie.firstIndex(of: UInt8(ascii: "=")) ?? cookie.endIndex
        let text = CookieEdit.text(cookie[..<equals])
        switch name {
        case .any: if text.isEmpty { return nil }
        case .glob(let glob): if !glob.matches(text) { return nil }
        case .expression(let expression): if try !expression.matches(text) { return nil }
        }
        if let value, try !value.matches(CookieEdit.text(cookie[equals...].dropFirst())) { return nil }
        return text
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(String(fieldBytes: bytes)[...].trimmingASCIIWhitespace)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

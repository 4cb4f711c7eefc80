import HTTPModel
import Rules

/// The removal of single cookies: out of the `Cookie` of a request, the rest of which stays byte for byte, or with their
/// `Set-Cookie` out of a response.
struct CookieEdit: Sendable {
    /// Which names are meant; the case of letters counts, as it does for servers (RFC 6265 §5.3).
    enum Name: Sendable {
        case any
        /// The whole name.
        case glob(Glob)
        /// A part of the name.
        case expression(TextPattern)
    }

    let name: Name
    /// What the value must have in it; `nil` for any value.
    let value: TextPattern?

    private static let semicolon = UInt8(ascii: ";")

    /// Removes cookies from a request; a field that has none left is removed.
    ///
    /// - Returns: what was done in words, or `nil` where nothing was.
    /// - Throws: ``RegularExpression/Runaway``; nothing is changed then.
    func apply(toRequest fields: inout FieldSection) throws -> String? {
        var edited = fields
        var removed: [String] = []
        var start = 0
        while let position = edited.firstIndex(of: .cookie, from: start) {
            start = position + 1
            let cookies = edited.valueBytes(at: position)
                .split(separator: CookieEdit.semicolon, omittingEmptySubsequences: false)
            var kept: [ArraySlice<UInt8>] = []
            for (number, cookie) in cookies.enumerated() {
                if let name = try match(cookie) {
                    removed.append(name)
                } else {
                    // The blank behind a semicolon that is gone goes with it.
                    kept.append(kept.isEmpty && number > 0 ? cookie.drop { CookieEdit.isBlank($0) } : cookie)
                }
            }
            guard kept.count < cookies.count else { continue }
            if kept.allSatisfy({ $0.allSatisfy(CookieEdit.isBlank) }) {
                edited.remove(at: position)
                start = position
            } else {
                edited.setValue(Array(kept.joined(separator: [CookieEdit.semicolon])), at: position)
            }
        }
        return finish(&fields, edited, removed)
    }

    /// Removes the `Set-Cookie` lines of cookies from a response.
    ///
    /// - Returns: what was done in words, or `nil` where nothing was.
    /// - Throws: ``RegularExpression/Runaway``; nothing is changed then.
    func apply(toResponse fields: inout FieldSection) throws -> String? {
        var edited = fields
        var removed: [String] = []
        var start = 0
        while let position = edited.firstIndex(of: .setCookie, from: start) {
            start = position + 1
            guard let name = try match(edited.valueBytes(at: position).prefix { $0 != CookieEdit.semicolon }) else {
                continue
            }
            removed.append(name)
            edited.remove(at: position)
            start = position
        }
        return finish(&fields, edited, removed)
    }

    /// Names alone are told: values are often secrets, and stand in the message as received.
    private func finish(_ fields: inout FieldSection, _ edited: FieldSection, _ removed: [String]) -> String? {
        guard !removed.isEmpty else { return nil }
        fields = edited
        return "removed \(removed.joined(separator: ", ").clipped())"
    }

    /// The name of a cookie that is meant; `nil` for another one.
    private func match(_ cookie: ArraySlice<UInt8>) throws(RegularExpression.Runaway) -> String? {
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

    /// Without the blanks around it.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(fieldBytes: bytes)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

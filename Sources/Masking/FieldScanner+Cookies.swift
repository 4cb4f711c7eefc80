/// Cookies in a text that is no head, as a list of fields in JSON has them.
extension FieldScanner {
    /// What stands beside a cookie in `Set-Cookie` (RFC 6265 §5.2, and what browsers added).
    private static let attributes: Set<String> = [
        "path", "domain", "expires", "max-age", "samesite", "priority", "version", "comment",
    ]

    /// Whether a name is `Cookie` or `Set-Cookie`, in whatever letters.
    func isOfCookies(_ name: some Collection<UInt8>) -> Bool {
        switch name.count {
        case 6, 7: FieldScanner.isSame(name, "cookie") || FieldScanner.isSame(name, "cookie2")
        case 9: FieldScanner.isSame(name, "setcookie")
        case 10: FieldScanner.isSame(name, "set-cookie")
        default: false
        }
    }

    private static func isSame(_ name: some Collection<UInt8>, _ word: StaticString) -> Bool {
        name.count == word.utf8CodeUnitCount
            && zip(name, UnsafeBufferPointer(start: word.utf8Start, count: name.count)).allSatisfy { $0 | 0x20 == $1 }
    }

    /// Takes the value of each cookie; attributes stay.
    mutating func takeCookies(_ range: Range<Int>, _ quote: Quote, needsShape: Bool) {
        var start = range.lowerBound
        for place in range {
            let isEnd =
                bytes[place] == UInt8(ascii: ";")
                || bytes[place] == 0x20 && place > start && bytes[place - 1] == UInt8(ascii: ",")
            guard isEnd else { continue }
            takeCookie(start..<place, quote, needsShape: needsShape)
            start = place + 1
        }
        takeCookie(start..<range.upperBound, quote, needsShape: needsShape)
    }

    private mutating func takeCookie(_ cookie: Range<Int>, _ quote: Quote, needsShape: Bool) {
        guard let equals = bytes[cookie].firstIndex(of: UInt8(ascii: "=")) else { return }
        let name = bytes[cookie.lowerBound..<equals].drop { $0 <= 0x20 }
        var (start, end) = (equals + 1, cookie.upperBound)
        while start < end, isAround(bytes[start]) { start += 1 }
        while end > start, isAround(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: ",") { end -= 1 }
        start = CredentialScheme.end(in: bytes, start..<end)
        let value = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
        let label = String(decoding: name, as: UTF8.self)
        guard !name.isEmpty, !value.isEmpty, !value.contains(0x20), !names.isExempt(name),
            !FieldScanner.attributes.contains(label.lowercased()), !Placeholder.isOne(value),
            !ValueShape.isOrdinaryWord(value), !needsShape || ValueShape.isMadeByChance(value, least: 12)
        else { return }
        let kind = names.kind(of: name)
        add(
            FoundSecret(
                range: start..<end,
                kind: kind ?? .cookie,
                name: "cookie \(label)",
                secret: PlainValue.of(value, in: quote, isMarkup: syntax == .markup),
                isSought: kind.map { !ValueShape.isOrdinary(value, $0) } ?? ValueShape.isRandom(value)
            )
        )
    }

    /// Blanks and quotes, and the backslashes before these.
    private func isAround(_ byte: UInt8) -> Bool { byte <= 0x20 || "\"'\\".utf8.contains(byte) }
}

import HTTPModel

extension StructureScanner {
    /// Names of secrets only in URLs, forms and fields, if the value looks random.
    static let namesOfParameters: [(name: String, kind: SecretKind)] = [
        ("code", .code), ("ticket", .code), ("key", .apiKey), ("auth", .token),
    ]
    private static let longestName = 160

    mutating func scanForm() {
        var start = 0
        while start < bytes.count {
            let end = find(UInt8(ascii: "&"), from: start) ?? bytes.count
            if let equals = find(UInt8(ascii: "="), from: start, to: end) {
                if !takeParameter(start..<equals, equals + 1..<end) { scanValue(equals + 1..<end) }
            } else {
                scanValue(start..<end)
            }
            start = end + 1
        }
    }

    mutating func scanParameters() {
        var place = 0
        while let equals = find(UInt8(ascii: "="), from: place) {
            place = equals + 1
            guard let name = parameterName(before: equals) else { continue }
            let end = bytes.runEnd(from: place) { $0 > 0x20 && !"?&#\"'<>\\`;".utf8.contains($0) }
            // The punctuation of a sentence is not part of the value.
            let last = bytes.runStart(before: end, from: place) { ".,:)!?]".utf8.contains($0) }
            if !takeParameter(name, place..<last) {
                guard bytes[place..<end].contains(UInt8(ascii: "%")) else { continue }
                scanValue(place..<end)
            }
            place = end
        }
    }

    private func parameterName(before equals: Int) -> Range<Int>? {
        let start = bytes.runStart(before: equals, most: StructureScanner.longestName) {
            $0.isLetterOrDigit || "_-.[]%$".utf8.contains($0)
        }
        guard start > 0, start < equals else { return nil }
        switch bytes[start - 1] {
        case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"): return start..<equals
        // A JSON string may have an ampersand as \u0026.
        case UInt8(ascii: "\\") where has("u0026", at: start): return start + 5 < equals ? start + 5..<equals : nil
        default: return nil
        }
    }

    /// Returns whether the name is a secret's.
    private mutating func takeParameter(_ name: Range<Int>, _ value: Range<Int>) -> Bool {
        var plain = Array(bytes[name])
        if plain.contains(UInt8(ascii: "%")) { plain = PercentEncoding.decoded(plain) ?? plain }
        let word = StructureScanner.innermost(plain[...])
        if let kind = names.kind(of: word) {
            var value = value
            if kind == .session, let end = bytes[value].firstIndex(of: UInt8(ascii: "?")) {
                value = value.lowerBound..<end
            }
            let count = found.count
            take(value, kind, name: word) { PlainValue.ofForm($0) }
            // A URL as the value may contain a secret.
            if found.count == count { scanValue(value) }
            return true
        }
        guard !names.isExempt(word), let kind = StructureScanner.kindOfParameter(word) else { return false }
        let text = bytes.part(value)
        guard text.count <= 4_096, !Placeholder.isOne(text), ValueShape.isMadeByChance(text, least: 12),
            kind != .apiKey || ValueShape.isRandom(text) && ValueShape.isInPieces(text)
        else { return false }
        let label = String(decoding: word, as: UTF8.self)
        found.append(FoundSecret(range: value, kind: kind, name: label, secret: PlainValue.ofForm(text)))
        return true
    }

    static func kindOfParameter(_ name: some Collection<UInt8>) -> SecretKind? {
        namesOfParameters.first { isSame(name, $0.name) }?.kind
    }

    func isSame(_ range: Range<Int>, _ word: String) -> Bool { StructureScanner.isSame(bytes[range], word) }

    /// In any case; `word` is in lower case.
    static func isSame(_ name: some Collection<UInt8>, _ word: String) -> Bool {
        word.utf8.count == name.count && zip(name, word.utf8).allSatisfy { $0 | 0x20 == $1 }
    }

    /// `password` of `user[password]`, `password[]` and `password[0]`.
    static func innermost(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var name = name
        while name.last == UInt8(ascii: "]"), let open = name.lastIndex(of: UInt8(ascii: "[")), open > name.startIndex {
            let inner = name[(open + 1)...].dropLast()
            if !inner.allSatisfy(\.isDigit) { return inner }
            name = name[..<open]
        }
        return name
    }

    private static let longestUser = 512

    mutating func scanUserInformation() {
        var place = 0
        while let at = find(UInt8(ascii: "@"), from: place) {
            place = at + 1
            let start = bytes.runStart(before: at, most: StructureScanner.longestUser) { !isEndOfAuthority($0) }
            guard has("://", at: start - 3) else { continue }
            // The password may contain an `@`.
            let left = StructureScanner.longestUser - (at - start)
            let end = bytes.runEnd(from: at, most: left) { !isEndOfAuthority($0) }
            let last = bytes[at..<end].lastIndex(of: UInt8(ascii: "@")) ?? at
            place = max(end, at + 1)
            let password = find(UInt8(ascii: ":"), from: start, to: last).map { $0 + 1..<last }
            guard password != nil || ValueShape.isRandom(bytes.part(start..<last)) else { continue }
            let kind: SecretKind = password == nil ? .token : .password
            take(password ?? start..<last, kind, name: "user information".utf8, origin: .request) {
                PercentEncoding.decoded($0) ?? Array($0)
            }
        }
    }

    private func isEndOfAuthority(_ byte: UInt8) -> Bool { byte <= 0x20 || "/?#\"'\\`".utf8.contains(byte) }
}

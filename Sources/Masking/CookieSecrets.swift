/// The values of `Cookie` and `Set-Cookie`, in a head or in JSON.
struct CookieSecrets {
    let bytes: UnsafeRawBufferPointer
    let names: SecretNames
    var decode: (Slice<UnsafeRawBufferPointer>) -> [UInt8] = { Array($0) }

    func found(in value: Range<Int>, isResponse: Bool) -> [FoundSecret] {
        let pairs = isResponse ? responsePairs(value) : bytes[value].split(separator: UInt8(ascii: ";")).map(\.indices)
        return pairs.compactMap { secret(in: $0) }
    }

    /// The first pair of each cookie; several may be joined by commas.
    private func responsePairs(_ value: Range<Int>) -> [Range<Int>] {
        var pairs: [Range<Int>] = []
        var start = value.lowerBound
        while start < value.upperBound {
            let next = nextCookie(in: start..<value.upperBound)
            let end = next?.comma ?? value.upperBound
            pairs.append(start..<(bytes[start..<end].firstIndex(of: UInt8(ascii: ";")) ?? end))
            start = next?.start ?? value.upperBound
        }
        return pairs
    }

    /// The next cookie: a comma, then a name and an equals sign. The comma of a date has no equals sign after it.
    private func nextCookie(in range: Range<Int>) -> (comma: Int, start: Int)? {
        var (comma, isPastPair): (Int?, Bool) = (nil, false)
        for place in range {
            switch bytes[place] {
            case UInt8(ascii: ","): comma = place
            case UInt8(ascii: ";"): (comma, isPastPair) = (nil, true)
            case UInt8(ascii: "\""): comma = nil
            case UInt8(ascii: "="):
                guard let found = comma else { continue }
                comma = nil
                let name = bytes[(found + 1)..<place].drop(while: \.isSpace)
                let hasSpace = name.startIndex > found + 1
                if !name.isEmpty, hasSpace || isPastPair, !name.contains(where: \.isSpace) {
                    return (found, name.startIndex)
                }
            default: break
            }
        }
        return nil
    }

    private func secret(in cookie: Range<Int>) -> FoundSecret? {
        let equals = bytes[cookie].firstIndex(of: UInt8(ascii: "="))
        let name = bytes[cookie.lowerBound..<(equals ?? cookie.lowerBound)].drop(while: \.isSpace)
        let whole = bytes.trimmed((equals.map { $0 + 1 } ?? cookie.lowerBound)..<cookie.upperBound) {
            $0.isSpace || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\")
        }
        let kind = names.kind(of: name) ?? .cookie
        let range = CredentialScheme.end(in: bytes, whole, kind)..<whole.upperBound
        let value = bytes.part(range)
        guard !value.isEmpty, !Placeholder.isOne(value), !names.isExempt(name) else { return nil }
        // A cookie that is not random, such as a page's setting, is masked only here.
        let isSought = kind == .cookie ? ValueShape.isRandom(value) : !OrdinaryValue.isCommonWord(value)
        let label = String(decoding: name, as: UTF8.self).filter { !$0.isWhitespace }
        let secret = decode(bytes[range])
        return FoundSecret(range: range, kind: kind, name: "cookie \(label)", secret: secret, isSought: isSought)
    }
}

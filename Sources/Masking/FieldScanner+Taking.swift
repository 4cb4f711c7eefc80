/// Which values are secrets.
extension FieldScanner {
    mutating func take(
        _ range: Range<Int>,
        _ kind: SecretKind,
        _ name: Range<Int>,
        _ quote: Quote = .none,
        needsShape: Bool
    ) {
        if kind == .cookie { return takeCookies(range, quote, needsShape: needsShape) }
        let whole = range
        let range = withoutScheme(whole, kind)
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        let word = innermost(name)
        let isCalledSecret = kind == .token && isName(word.suffix(6), among: ["secret"])
        guard !ValueShape.isOrdinary(value, kind, isCalledSecret: isCalledSecret) else { return }
        if kind != .named, value.count <= 400, value.contains(where: { "%&\\".utf8.contains($0) }) {
            // In its coding it may be no word: %7Btoken%7D
            let plain = PlainValue.of(value, in: quote, isMarkup: syntax == .markup)
            let isOrdinary = plain.withUnsafeBytes { plain in
                OrdinaryValue.isOne(plain, kind, isCalledSecret: isCalledSecret) || ValueShape.isOrdinaryWord(plain)
                    || NamedValue.isOrdinary(plain, kind, name: bytes[word], isAfterScheme: false)
                    || kind == .signature && !ValueShape.isRandom(plain)
            }
            guard !isOrdinary else { return }
        }
        // Code of a program, as a link to a playground has it: no code that is sent to a user has spaces.
        if kind == .code, find(Array("++".utf8), from: range.lowerBound, within: range.count - 2) != nil { return }
        // The shell's directory.
        if kind == .password, isName(word, among: ["pwd", "oldpwd"]), ValueShape.isDirectory(value) { return }
        if needsShape, !ValueShape.isMadeByChance(value, least: 12) {
            // Of code a literal under the very name of a secret.
            guard syntax == .script, isQuoted(quote), names.isExactly(bytes[word]), ValueShape.isLiteral(value) else {
                return
            }
        }
        let isAfterScheme = CredentialScheme.end(in: bytes, whole) > whole.lowerBound
        if NamedValue.isOrdinary(value, kind, name: bytes[word], isAfterScheme: isAfterScheme) { return }
        if kind == .token, isName(word, among: ["token"]), isOfAnalysis(whole, name) { return }
        if kind == .session, isName(word, among: ["sid"]), isOfPolicy(whole, name) { return }
        switch kind {
        case .signature:
            guard ValueShape.isRandom(value) || !HeldSecrets.digests(Array(value)).isEmpty else { return }
        case .card: guard PlainValue.spaced(value).withUnsafeBytes(ValueShape.isCard) else { return }
        // `accesskey` of HTML is a letter.
        case .session, .token, .apiKey: guard value.count >= 4 else { return }
        case .privateKey: guard value.count >= 8 else { return }
        default: break
        }
        add(
            FoundSecret(
                range: range,
                kind: kind,
                name: String(decoding: bytes[word], as: UTF8.self),
                secret: PlainValue.of(value, in: quote, isMarkup: syntax == .markup)
            )
        )
    }

    /// The range without `Bearer` or another scheme before the credentials (RFC 9110 §11.4).
    private func withoutScheme(_ range: Range<Int>, _ kind: SecretKind) -> Range<Int> {
        let credentials = CredentialScheme.end(in: bytes, range)
        // A password may be words with plus signs.
        if credentials > range.lowerBound, kind != .password || bytes[credentials - 1] == 0x20 {
            return credentials..<range.upperBound
        }
        guard kind == .credential, let space = bytes[range].prefix(32).firstIndex(of: 0x20), space > range.lowerBound,
            !bytes[(space + 1)..<range.upperBound].contains(0x20)
        else { return range }
        let start = bytes[space..<range.upperBound].firstIndex { $0 != 0x20 } ?? range.upperBound
        return start..<range.upperBound
    }

    func has(_ text: StaticString, endingAt end: Int) -> Bool {
        let count = text.utf8CodeUnitCount
        guard end >= count, end <= bytes.count else { return false }
        // A loop, as most differ in their first byte.
        for place in 0..<count where bytes[end - count + place] != text.utf8Start[place] { return false }
        return true
    }

    func has(_ text: String, endingAt end: Int) -> Bool {
        let count = text.utf8.count
        guard end >= count, end <= bytes.count else { return false }
        return bytes[(end - count)..<end].elementsEqual(text.utf8)
    }
}

/// What is a secret together with one that is known: what its value stands for, and what stands in it.
///
/// A value under a secret's name is masked whole. Elsewhere the text may stand that it is in base64, the password of its
/// `user:password` (RFC 7617), or the digest behind its `sha256=`.
struct HeldSecrets {
    /// The same secret as it is elsewhere.
    private(set) var reading: [UInt8]?
    /// Secrets of their own that stand in it.
    private(set) var parts: [FoundSecret] = []

    private static let mostLayers = 2
    /// Longer values are files and messages.
    private static let longest = 4_096
    private static let longestUser = 128

    init(_ found: FoundSecret) {
        guard (SecretBook.shortestSought...HeldSecrets.longest).contains(found.secret.count) else { return }
        if found.kind == .signature {
            let digests = HeldSecrets.digests(found.secret)
            if digests.count == 1 { reading = digests[0] } else { parts = digests.map { HeldSecrets.part(found, $0) } }
        }
        guard let bytes = HeldSecrets.decoded(found.secret) else { return }
        let isCredential = found.kind == .credential
        if let password = HeldSecrets.password(in: bytes, isCredential: isCredential) {
            parts.append(HeldSecrets.part(found, password, .password))
        }
        if reading == nil, HeldSecrets.isText(bytes), HeldSecrets.isSecret(bytes, found.kind) { reading = bytes }
    }

    private static func part(_ found: FoundSecret, _ secret: [UInt8], _ kind: SecretKind? = nil) -> FoundSecret {
        FoundSecret(range: found.range, kind: kind ?? found.kind, name: found.name, secret: secret)
    }

    /// Whether bytes are base64 of `user:password`, as files of Docker and npm have it.
    static func isCredentials(_ value: UnsafeRawBufferPointer) -> Bool {
        guard value.count <= longest, let bytes = decoded(Array(value)), isText(bytes) else { return false }
        return password(in: bytes, isCredential: true) != nil
    }

    /// What a value in base64 or hexadecimal digits stands for, two layers deep; `nil` where it is in neither.
    private static func decoded(_ value: [UInt8]) -> [UInt8]? {
        var (bytes, layer) = (value, 0)
        while layer < mostLayers, let next = layerBelow(bytes), layer == 0 || isText(next) {
            (bytes, layer) = (next, layer + 1)
            guard isText(bytes) else { break }
        }
        return layer > 0 ? bytes : nil
    }

    private static func layerBelow(_ value: [UInt8]) -> [UInt8]? {
        guard value.count >= SecretBook.shortestSought, !value.contains(where: { $0 <= 0x20 }) else { return nil }
        if value.count.isMultiple(of: 2), value.allSatisfy(ValueShape.isHexadecimal) {
            let bytes = PlainValue.percentDecoded(
                stride(from: 0, to: value.count, by: 2).flatMap { [UInt8(ascii: "%"), value[$0], value[$0 + 1]] }
            )
            if let bytes, isText(bytes) { return bytes }
        }
        guard var bytes = Base64Content(value)?.bytes else { return nil }
        // What `echo` gave.
        while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
        return bytes
    }

    /// Whether bytes are one line of text, in UTF-8.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        guard !bytes.isEmpty, !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return false }
        return bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    /// Whether a text is a secret wherever it stands, and no object or list, whose secrets have names of their own, nor a number.
    private static func isSecret(_ text: [UInt8], _ kind: SecretKind) -> Bool {
        guard text.count >= SecretBook.shortestSought, let first = text.first, !"{[<".utf8.contains(first) else {
            return false
        }
        // A number, or one of something: User:12345678
        let number = text.lastIndex(of: UInt8(ascii: ":")).map { text[($0 + 1)...] } ?? text[...]
        if kind != .password, number.allSatisfy({ $0 &- 0x30 < 10 }) { return false }
        return text.withUnsafeBytes { !ValueShape.isOrdinary($0, kind) && !ValueShape.isCommonWord($0) }
    }

    private static func password(in text: [UInt8], isCredential: Bool) -> [UInt8]? {
        guard let colon = text.prefix(longestUser).firstIndex(of: UInt8(ascii: ":")), colon + 1 < text.count else {
            return nil
        }
        let password = text[(colon + 1)...]
        guard isCredential || isText(text) && colon > 0, !password.starts(with: "//".utf8) else { return nil }
        if isCredential { return Array(password) }
        let isNumber = password.allSatisfy { $0 &- 0x30 < 10 }
        return isNumber || text[..<colon].contains(where: { " {[<\"".utf8.contains($0) }) ? nil : Array(password)
    }

    /// The digests in a signature: `sha256=…`, `t=…,v1=…`, `sig1=:…:` (RFC 9421 §4.2).
    static func digests(_ value: [UInt8]) -> [[UInt8]] {
        value.split { ",; ".utf8.contains($0) }.compactMap { part in
            guard let equals = part.prefix(longestUser).firstIndex(of: UInt8(ascii: "=")), equals > part.startIndex,
                part[..<equals].allSatisfy({ ValueShape.isLetterOrDigit($0) || "-_".utf8.contains($0) })
            else { return nil }
            var digest = part[(equals + 1)...]
            if let first = digest.first, digest.count > 2, first == digest.last, ":\"".utf8.contains(first) {
                digest = digest.dropFirst().dropLast()
            }
            return digest.withUnsafeBytes { ValueShape.isRandom($0) } ? Array(digest) : nil
        }
    }
}

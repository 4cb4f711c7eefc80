import Text

/// Credentials in a field: a scheme, then a token or parameters (RFC 9110 §11.4).
extension HeadMask {
    /// Parameters that are secrets, where there are parameters (RFC 7616, AWS Signature Version 4, OAuth 1).
    private static let secretParameters: Set<String> = [
        "response", "cnonce", "signature", "oauth_signature", "oauth_token", "oauth_verifier", "token", "mac", "sig",
    ]
    /// Parameters that are no secrets beside a token. What others are there is for the scheme to know.
    private static let plainParameters: Set<String> = [
        "realm", "scope", "charset", "username", "uri", "algorithm", "qop", "nc", "version", "error",
    ]

    /// `Authorization` and what is written like it.
    func credentials(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ name: String) -> [Mark] {
        guard let space = bytes[value].firstIndex(where: HeadMask.isSpace) else {
            noteFirstWord(of: bytes, value, .token, name)
            return secret(bytes, value, .token, name)
        }
        let start = bytes[space..<value.upperBound].firstIndex { !HeadMask.isSpace($0) } ?? value.upperBound
        let rest = start..<value.upperBound
        let scheme = String(decoding: bytes[value.lowerBound..<space], as: UTF8.self).lowercased()
        let parts = CredentialParts(bytes, rest)
        let tokenKind: SecretKind =
            scheme == "basic" && Base64Text.decode(bytes[parts.token ?? rest]) != nil ? .credential : .token
        guard !parts.parameters.isEmpty else {
            noteFirstWord(of: bytes, rest, tokenKind, name)
            return secret(bytes, rest, tokenKind, name)
        }
        var marks: [Mark] = []
        var hasSecret = parts.token != nil
        // A token with a sign behind it, as on a folded line, is no name of a parameter.
        if !hasSecret, let first = parts.parameters.first?.name {
            noteWord(of: bytes, first, tokenKind, name)
        }
        if let token = parts.token {
            noteFirstWord(of: bytes, token, tokenKind, name)
            marks += secret(bytes, token, tokenKind, name)
        }
        for parameter in parts.parameters {
            guard let (kind, label) = secretKind(bytes, parameter, hasToken: parts.token != nil) else { continue }
            hasSecret = true
            marks += secret(bytes, parameter.value, kind, label, isEscaped: parameter.isQuoted)
        }
        // A scheme whose parameters have names of their own may hold the secret in any of them.
        guard hasSecret else { return secret(bytes, rest, .credential, name) }
        if parts.token != nil { for stray in parts.strays { marks += secret(bytes, stray, .token, name) } }
        return marks + self.marks(bytes, rest, nil)
    }

    private func secretKind(
        _ bytes: UnsafeRawBufferPointer,
        _ parameter: CredentialParts.Parameter,
        hasToken: Bool
    ) -> (SecretKind, label: String)? {
        let label = String(decoding: bytes[parameter.name], as: UTF8.self)
        let name = label.lowercased()
        if HeadMask.secretParameters.contains(name) {
            return (name.hasSuffix("signature") ? .signature : .token, label)
        }
        // `Credential` of AWS is the number of a key.
        if let kind = mask.names.kind(of: name.utf8), kind != .credential { return (kind, label) }
        return hasToken && !HeadMask.plainParameters.contains(name) ? (.token, label) : nil
    }

    /// Notes a secret by itself where more follows it, as on a folded line: it has no spaces.
    func noteFirstWord(of bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ kind: SecretKind, _ name: String) {
        let end = bytes[value].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
        guard let end, end > value.lowerBound else { return }
        noteWord(of: bytes, value.lowerBound..<end, kind, name)
    }

    private func noteWord(of bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ kind: SecretKind, _ name: String) {
        let word = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard ValueShape.isRandom(word) else { return }
        mask.note(FoundSecret(range: range, kind: kind, name: name, secret: Array(word)))
    }
}

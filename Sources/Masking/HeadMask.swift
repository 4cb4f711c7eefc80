import Expressions
import HTTPModel
import NIOCore
import Text

struct HeadMask {
    struct Part: Sendable {
        let name: String
        let path: any WritableKeyPath<ExchangeMessages, ByteBuffer?> & Sendable
        var isRequest = false
        var hasStartLine = true
    }

    static let parts = [
        Part(name: "request headers", path: \.requestHead, isRequest: true),
        Part(name: "request headers", path: \.requestHeadSent, isRequest: true),
        Part(name: "request trailers", path: \.requestTrailers, hasStartLine: false),
        Part(name: "interim responses", path: \.interimHeads),
        Part(name: "response headers", path: \.responseHead),
        Part(name: "response headers", path: \.responseHeadSent),
        Part(name: "response trailers", path: \.responseTrailers, hasStartLine: false),
    ]

    let mask: TextMask

    func masked(_ head: ByteBuffer, as part: Part) -> (ByteBuffer, count: Int) {
        masked(head, isRequest: part.isRequest, hasStartLine: part.hasStartLine)
    }

    /// A stored head with its secrets replaced. Bytes after the head of a malformed request are masked like a body.
    func masked(_ head: ByteBuffer, isRequest: Bool, hasStartLine: Bool = true) -> (ByteBuffer, count: Int) {
        mask.origin = isRequest ? .request : .response
        return head.withUnsafeReadableBytes { bytes in
            var marks: [Mark] = []
            var place = 0
            var isStartLine = hasStartLine
            while place < bytes.count {
                var end = bytes[place...].firstIndex(of: 0x0A) ?? bytes.count
                // A folded line belongs to the one before (RFC 9112 §5.2).
                while !isStartLine, end + 1 < bytes.count, bytes[end + 1] == 0x20 || bytes[end + 1] == 0x09 {
                    end = bytes[(end + 1)...].firstIndex(of: 0x0A) ?? bytes.count
                }
                let next = min(end + 1, bytes.count)
                if end > place, bytes[end - 1] == 0x0D { end -= 1 }
                let line = place..<end
                if isStartLine, isRequest {
                    marks += startLine(bytes, line)
                } else if isStartLine || !line.isEmpty {
                    let text = bytes.part(line)
                    let found = mask.marks(inLine: text) { isStartLine ? statusLine(text) : self.line(text) }
                    marks += found.map { $0.moved(by: place) }
                } else if isRequest {
                    guard next < bytes.count else { break }
                    marks += self.marks(bytes, next..<bytes.count, BodySyntax.of(nil, bytes[next...]).0)
                    break
                }
                // Another interim head may follow.
                isStartLine = hasStartLine && !isStartLine && line.isEmpty
                place = next
            }
            guard !marks.isEmpty else { return (head, 0) }
            let masked = Mark.replaced(Mark.merged(marks), in: bytes[...], keepsLength: false, mask.book)
            return (ByteBuffer(bytes: masked), marks.count)
        }
    }

    func masked(_ url: RequestURL) -> RequestURL {
        mask.origin = .request
        var masked = url
        if let query = url.query.flatMap({ mask.masked($0, .form) }) { masked.query = query }
        if let path = mask.masked(url.path, .field) { masked.path = path }
        return masked
    }

    private func marks(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ syntax: ScanSyntax?) -> [Mark] {
        range.isEmpty ? [] : mask.marks(in: bytes.part(range), syntax).map { $0.moved(by: range.lowerBound) }
    }

    private func startLine(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> [Mark] {
        // Without a version, as in HTTP/0.9 and malformed lines, the target ends with the line and may have spaces.
        guard let space = bytes[line].firstIndex(of: 0x20), let last = bytes[line].lastIndex(of: 0x20), space < last,
            bytes[(last + 1)..<line.upperBound].starts(with: "HTTP/".utf8)
        else { return marks(bytes, line, .field) }
        return marks(bytes, line.lowerBound..<space, nil) + target(bytes, space + 1..<last)
    }

    private func statusLine(_ line: UnsafeRawBufferPointer) -> [Mark] {
        marks(line, (line.firstIndex(of: 0x20) ?? 0)..<line.count, .field)
    }

    private func target(_ bytes: UnsafeRawBufferPointer, _ target: Range<Int>) -> [Mark] {
        guard let mark = bytes[target].firstIndex(of: UInt8(ascii: "?")) else { return marks(bytes, target, .field) }
        return marks(bytes, target.lowerBound..<mark, .field) + marks(bytes, mark + 1..<target.upperBound, .form)
    }

    private func line(_ line: UnsafeRawBufferPointer) -> [Mark] {
        // A pseudo-field of HTTP/2 begins with a colon.
        let nameStart = line[0] == UInt8(ascii: ":") ? 1 : 0
        guard let colon = line[nameStart...].firstIndex(of: UInt8(ascii: ":")) else {
            return mask.marks(in: line, .field)
        }
        let value = line.trimmed(colon + 1..<line.count)
        let facts = mask.facts(ofField: String(decoding: line[nameStart..<colon], as: UTF8.self))
        if nameStart == 1, facts.name == "path" { return target(line, value) }
        (mask.field, mask.suspectsNothing) = (facts.label, facts.isOrdinary)
        defer { (mask.field, mask.suspectsNothing) = ("", false) }
        let named = found(in: line, value, facts)
        return mask.marks(in: line, named.isEmpty && facts.hasNames ? .field : nil, named: named)
    }

    private func found(in line: UnsafeRawBufferPointer, _ value: Range<Int>, _ facts: FieldNameFacts) -> [FoundSecret] {
        let cookies = CookieSecrets(bytes: line, names: mask.names)
        switch facts.name {
        case "cookie", "cookie2", "x-cookie": return cookies.found(in: value, isResponse: false)
        case "set-cookie", "set-cookie2", "x-set-cookie": return cookies.found(in: value, isResponse: true)
        default: break
        }
        guard let kind = facts.kind else { return [] }
        if kind == .credential { return Credentials(line, value, facts.label).secrets.filter(isSecret) }
        let range = CredentialScheme.end(in: line, value, kind)..<value.upperBound
        let text = line.part(range)
        let mustBeRandom = ["ticket", "x-ticket", "key", "code"].contains(facts.name)
        guard !mustBeRandom || ValueShape.isMadeByChance(text, least: 12) else { return [] }
        let plain = PercentEncoding.decoded(text) ?? Array(text)
        return [FoundSecret(range: range, kind: kind, name: facts.label, secret: plain)].filter(isSecret)
    }

    private func isSecret(_ found: FoundSecret) -> Bool {
        found.secret.withUnsafeBytes { value in
            let isFiller = OrdinaryValue.isTemplate(value) || OrdinaryValue.isWord(value, found.kind, mask.origin)
            return !value.isEmpty && !Placeholder.isOne(value) && (found.kind == .named || !isFiller)
        }
    }
}

/// `Authorization` and fields like it: a scheme, then a token or parameters (RFC 9110 §11.4).
private struct Credentials {
    private let bytes: UnsafeRawBufferPointer
    private let label: String
    private(set) var secrets: [FoundSecret] = []

    /// Parameters of Digest (RFC 7616) and Hawk, besides those in ``SecretNames``.
    private static let secretParameters = ["response", "cnonce", "mac"]

    init(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ label: String) {
        (self.bytes, self.label) = (bytes, label)
        guard let space = bytes[value].firstIndex(where: \.isSpace) else {
            secrets = [FoundSecret(range: value, kind: .token, name: label, secret: Array(bytes[value]))]
            return
        }
        let rest = bytes.trimmed(space..<value.upperBound)
        let isBasic = String(decoding: bytes[value.lowerBound..<space], as: UTF8.self).lowercased() == "basic"
        // A token, alone or before parameters; or parameters alone. Anything else is a secret as a whole.
        let word = bytes[rest].prefix { !",; \t\r\n".utf8.contains($0) }
        let next = bytes[word.endIndex..<value.upperBound].first { !$0.isSpace }
        let isToken =
            !word.isEmpty && !word.drop(while: { $0 != UInt8(ascii: "=") }).contains { $0 != UInt8(ascii: "=") }
        let isFollowed = word.endIndex < value.upperBound
        if isToken, !isFollowed || next.map({ ",;".utf8.contains($0) }) ?? false {
            take(token: rest.lowerBound..<word.endIndex, isBasic: isBasic)
            takeParameters(word.endIndex..<value.upperBound, othersAreSecrets: true)
            return
        }
        takeParameters(rest, othersAreSecrets: false)
        guard secrets.isEmpty else { return }
        take(token: rest, isBasic: isBasic)
        guard isFollowed, word.count >= 16 else { return }
        secrets.append(FoundSecret(range: rest, kind: .token, name: label, secret: Array(word)))
    }

    private mutating func take(token: Range<Int>, isBasic: Bool) {
        let plain = isBasic ? Base64Text.decode(bytes[token]) : nil
        let hasParameters = bytes[token].dropLast(2).contains(UInt8(ascii: "="))
        let kind: SecretKind = plain != nil || hasParameters ? .credential : .token
        secrets = [FoundSecret(range: token, kind: kind, name: label, secret: Array(bytes[token]))]
        if let plain, let colon = plain.firstIndex(of: UInt8(ascii: ":")), colon + 1 < plain.count {
            // The password is a secret of its own, and may be elsewhere (RFC 7617).
            let password = Array(plain[(colon + 1)...])
            secrets.append(FoundSecret(range: token, kind: .password, name: label, secret: password))
        }
    }

    private static let parameter = try? RegularExpression(
        #"\G[,;\s]*([0-9A-Za-z_.*-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*+)"?|([^,\s]*))"#,
        isCaseSensitive: true,
        takesAnyBytes: true
    )

    private static let plainParameters: Set<String> = [
        "realm", "scope", "charset", "username", "uri", "algorithm", "qop", "nc", "version", "error",
    ]

    /// Adds the parameters with secret names; after a token also those with unknown names.
    private mutating func takeParameters(_ range: Range<Int>, othersAreSecrets: Bool) {
        let part = bytes.part(range)
        try? Credentials.parameter?.forEachMatch(in: part) { match in
            guard let labelRange = match.group(1), let value = match.group(2) ?? match.group(3) else { return true }
            let label = String(decoding: part[labelRange], as: UTF8.self)
            let name = label.lowercased()
            // In AWS signatures `Credential` has the id of a key, which is not secret.
            let isNamed = SecretNames.standard.kind(of: name.utf8).map { $0 != .credential } ?? false
            let isOther = othersAreSecrets && !Credentials.plainParameters.contains(name)
            guard !value.isEmpty, isNamed || isOther || Credentials.secretParameters.contains(name) else { return true }
            let secret = match.group(2) != nil ? PlainValue.ofQuoted(part[value]) : Array(part[value])
            let kind: SecretKind = name.hasSuffix("signature") ? .signature : .token
            let moved = value.moved(by: range.lowerBound)
            secrets.append(FoundSecret(range: moved, kind: kind, name: label, secret: secret))
            return true
        }
    }
}

struct FieldNameFacts {
    /// Fields without secrets, although some of their values look random; besides names of identifiers such as `ETag`.
    private static let ordinary: Set<String> = [
        "if-none-match", "if-match", "if-range", "sec-websocket-key", "sec-websocket-accept", "b3", "via", "cf-ray",
        "last-modified", "date", "accept", "www-authenticate", "proxy-authenticate", "http2-settings", "x-cache",
        "content-type", "x-served-by",
    ]
    /// Such fields whose values may contain URLs or JSON with secrets.
    private static let ordinaryWithNames: Set<String> = [
        "content-security-policy", "content-security-policy-report-only", "server-timing", "alt-svc", "report-to",
        "nel", "user-agent", "reporting-endpoints",
    ]

    let label: String
    /// The label in lower case.
    let name: String
    let kind: SecretKind?
    let isOrdinary: Bool
    let hasNames: Bool

    init(_ label: String, _ names: SecretNames) {
        self.label = label
        name = label.lowercased()
        let isExempt = names.isExempt(name.utf8)
        kind = names.kind(ofField: name) ?? (isExempt ? nil : StructureScanner.kindOfParameter(name.utf8))
        let isPlain = FieldNameFacts.ordinary.contains(name)
        isOrdinary =
            isPlain || isExempt || FieldNameFacts.ordinaryWithNames.contains(name)
            || SuspectScanner.isNameOfIdentifiers(name)
        hasNames = !isPlain && !isExempt
    }
}

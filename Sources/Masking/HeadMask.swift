import Content
import HTTPModel
import NIOCore
import Text

/// Masks heads, trailers and URLs.
struct HeadMask {
    /// Fields whose values look made by chance and are no secrets.
    private static let ordinary: Set<String> = [
        "etag", "if-none-match", "if-match", "if-range", "sec-websocket-key", "sec-websocket-accept", "traceparent",
        "tracestate", "content-digest", "repr-digest", "digest", "content-md5", "cf-ray", "x-amz-cf-id", "b3", "via",
        "last-modified", "date", "accept", "www-authenticate", "proxy-authenticate", "http2-settings", "x-cache",
        "content-type",
    ]
    /// The same, where a value may have URLs or JSON in it: there are names in it.
    private static let ordinaryWithNames: Set<String> = [
        "content-security-policy", "content-security-policy-report-only", "server-timing", "alt-svc", "report-to",
        "nel",
        "user-agent",
    ]
    let mask: TextMask

    /// A stored head with its values masked, a start line's target too; and how many there were. What follows the head of a
    /// request, as in one that is malformed, is masked as a body is.
    func masked(_ head: ByteBuffer, isRequest: Bool, hasStartLine: Bool = true) -> (ByteBuffer, count: Int) {
        head.withUnsafeReadableBytes { bytes in
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
                if isStartLine {
                    marks += isRequest ? startLine(bytes, place..<end) : statusLine(bytes, place..<end)
                    isStartLine = false
                } else if end > place {
                    let whole = place..<end
                    marks += mask.marks(inLine: UnsafeRawBufferPointer(rebasing: bytes[whole])) { line(bytes, whole) }
                } else if isRequest {
                    // Nearly always there is nothing.
                    guard next < bytes.count else { break }
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[next...])
                    marks += mask.marks(in: rest, BodySyntax.of(rest).0).map { mark in
                        let range = mark.range.lowerBound + next..<mark.range.upperBound + next
                        return Mark(range, mark.placeholder, isNumber: mark.isNumber)
                    }
                    break
                } else {
                    // Interim heads stand one after the other.
                    isStartLine = hasStartLine
                }
                place = next
            }
            guard !marks.isEmpty else { return (head, 0) }
            let masked = Mark.replaced(Mark.merged(marks), in: bytes[...], keepsLength: false, mask.book)
            return (ByteBuffer(bytes: masked), marks.count)
        }
    }

    func masked(_ url: RequestURL) -> (RequestURL, count: Int) {
        var masked = url
        var count = 0
        if let query = url.query, let text = mask.masked(query, .form) {
            masked.query = text
            count += 1
        }
        if let path = mask.masked(url.path, .field) {
            masked.path = path
            count += 1
        }
        return (masked, count)
    }

    private func startLine(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> [Mark] {
        guard let space = bytes[line].firstIndex(of: 0x20) else { return marks(bytes, line, .field) }
        // Without a version, as of HTTP/0.9 and of what is malformed, the target goes to the end.
        let last = bytes[(space + 1)..<line.upperBound].lastIndex(of: 0x20)
        let hasVersion = last.map { bytes[($0 + 1)..<line.upperBound].starts(with: "HTTP/".utf8) } ?? false
        let end = hasVersion ? last ?? line.upperBound : line.upperBound
        let method =
            space - line.lowerBound < SecretBook.shortestSought ? [] : marks(bytes, line.lowerBound..<space, nil)
        return method + target(bytes, space + 1..<end)
    }

    /// What follows the version: the status and its reason, in which a server may say anything.
    private func statusLine(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> [Mark] {
        mask.marks(inLine: UnsafeRawBufferPointer(rebasing: bytes[line])) {
            let space = bytes[line].firstIndex(of: 0x20) ?? line.lowerBound
            return marks(bytes, space..<line.upperBound, .field)
        }
    }

    private func target(_ bytes: UnsafeRawBufferPointer, _ target: Range<Int>) -> [Mark] {
        guard let mark = bytes[target].firstIndex(of: UInt8(ascii: "?")) else { return marks(bytes, target, .field) }
        return marks(bytes, target.lowerBound..<mark, .field) + marks(bytes, mark + 1..<target.upperBound, .form)
    }

    private func line(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> [Mark] {
        // A pseudo-field of HTTP/2 begins with a colon.
        let nameStart = bytes[line.lowerBound] == UInt8(ascii: ":") ? line.lowerBound + 1 : line.lowerBound
        guard let colon = bytes[nameStart..<line.upperBound].firstIndex(of: UInt8(ascii: ":")) else {
            return marks(bytes, line, .field)
        }
        var start = colon + 1
        var end = line.upperBound
        while start < end, HeadMask.isSpace(bytes[start]) { start += 1 }
        while end > start, HeadMask.isSpace(bytes[end - 1]) { end -= 1 }
        let value = start..<end
        let label = String(decoding: bytes[nameStart..<colon], as: UTF8.self)
        mask.field = label
        defer { mask.field = "" }
        // A server may put what it was sent into a name, too.
        let inName = colon - nameStart < SecretBook.shortestSought ? [] : marks(bytes, nameStart..<colon, nil)
        return inName + marks(bytes, value, of: label, isPseudo: nameStart > line.lowerBound)
    }

    private func marks(
        _ bytes: UnsafeRawBufferPointer,
        _ value: Range<Int>,
        of label: String,
        isPseudo: Bool
    ) -> [Mark] {
        let facts = mask.facts(ofField: label)
        switch facts.name {
        case "cookie", "cookie2", "x-cookie": return cookies(bytes, value)
        case "sec-websocket-protocol": return protocols(bytes, value, label)
        case "set-cookie", "set-cookie2", "x-set-cookie":
            return setCookies(bytes, value)
        case "path" where isPseudo: return target(bytes, value)
        case "www-authenticate", "proxy-authenticate": return marks(bytes, value, nil)
        default: break
        }
        // A ticket may be one of a list of faults.
        let isOrdinary = facts.isTicket && !ValueShape.isMadeByChance(.init(rebasing: bytes[value]), least: 12)
        guard let kind = facts.kind, !isOrdinary else { return marks(bytes, value, facts) }
        if kind == .credential { return credentials(bytes, value, label) }
        let credentials = CredentialScheme.end(in: bytes, value)..<value.upperBound
        noteFirstWord(of: bytes, credentials, kind, label)
        return secret(bytes, credentials, kind, label)
    }

    /// A space of a head; the end of a folded line is one, too (RFC 9112 §5.2).
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// What is looked for in a value that is no secret as a whole.
    private func marks(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>, _ facts: FieldNameFacts) -> [Mark] {
        let syntax: ScanSyntax? = facts.hasNames ? .field : nil
        return facts.isOrdinary ? unsuspected(bytes, value, syntax) : marks(bytes, value, syntax)
    }

    /// The same as `marks`, where what looks made by chance is ordinary.
    private func unsuspected(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ syntax: ScanSyntax?) -> [Mark] {
        mask.suspectsNothing = true
        defer { mask.suspectsNothing = false }
        return marks(bytes, range, syntax)
    }

    /// A field of values that are made by chance: nothing in it is suspected.
    fileprivate static func isOrdinary(_ name: String) -> Bool {
        ordinary.contains(name) || ordinaryWithNames.contains(name) || name.hasSuffix("-id") || name.contains("trace")
            || name.contains("hash")
    }

    fileprivate static func hasNames(_ name: String) -> Bool { !ordinary.contains(name) }

    private func pieces(
        of bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ separator: UInt8
    ) -> [Slice<UnsafeRawBufferPointer>] {
        bytes[range].split(separator: separator)
    }

    /// The pair of each cookie in `Set-Cookie`, of which there may be more, folded into one field with commas between.
    private func setCookies(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> [Mark] {
        var marks: [Mark] = []
        var start = value.lowerBound
        while start < value.upperBound {
            let pairEnd = bytes[start..<value.upperBound].firstIndex(of: UInt8(ascii: ";")) ?? value.upperBound
            if let second = nextCookie(in: bytes, start..<pairEnd), HeadMask.isSpace(bytes[second - 1]) {
                // What joins fields has a space behind the comma; a comma in a value has none.
                let comma = bytes[start..<second].lastIndex(of: UInt8(ascii: ",")) ?? second
                marks += cookies(bytes, start..<comma)
                start = second
                continue
            }
            let next = nextCookie(in: bytes, pairEnd..<value.upperBound) ?? value.upperBound
            marks += cookies(bytes, start..<pairEnd)
            // A path may have a query.
            marks += unsuspected(bytes, pairEnd..<next, .field)
            start = next
        }
        return marks
    }

    /// Where a cookie begins behind a comma among attributes; a date has no equals sign behind its comma.
    private func nextCookie(in bytes: UnsafeRawBufferPointer, _ attributes: Range<Int>) -> Int? {
        var comma: Int?
        for place in attributes {
            switch bytes[place] {
            case UInt8(ascii: ","): comma = place
            case UInt8(ascii: ";"), UInt8(ascii: "\""): comma = nil
            case UInt8(ascii: "="):
                guard let start = comma else { continue }
                let name = bytes[(start + 1)..<place].drop(while: HeadMask.isSpace)
                if !name.isEmpty, !name.contains(where: HeadMask.isSpace) { return name.startIndex }
                comma = nil
            default: break
            }
        }
        return nil
    }

    private func cookies(_ bytes: UnsafeRawBufferPointer, _ value: Range<Int>) -> [Mark] {
        pieces(of: bytes, value, UInt8(ascii: ";")).flatMap { cookie -> [Mark] in
            let equals = cookie.firstIndex(of: UInt8(ascii: "="))
            let name = equals.map { bytes[cookie.startIndex..<$0] } ?? bytes[cookie.startIndex..<cookie.startIndex]
            var start = equals.map { $0 + 1 } ?? cookie.startIndex
            var end = cookie.endIndex
            while start < end, HeadMask.isSpace(bytes[start]) || bytes[start] == UInt8(ascii: "\"") { start += 1 }
            while end > start, HeadMask.isSpace(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: "\"") { end -= 1 }
            // After `; ` comes a space.
            let cookieName = name.drop(while: HeadMask.isSpace)
            let inName =
                name.count < SecretBook.shortestSought ? [] : marks(bytes, name.startIndex..<name.endIndex, nil)
            start = CredentialScheme.end(in: bytes, start..<end)
            if mask.names.isExempt(cookieName) { return inName + marks(bytes, start..<end, nil) }
            let kind = mask.names.kind(of: name)
            let label = String(decoding: name, as: UTF8.self).filter { !$0.isWhitespace }
            // The settings of a page are no secrets elsewhere.
            let plain = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
            return inName
                + secret(
                    bytes,
                    start..<end,
                    kind ?? .cookie,
                    "cookie \(label)",
                    isSought: kind.map { !ValueShape.isOrdinary(plain, $0) } ?? ValueShape.isRandom(plain),
                    isCookie: true
                )
        }
    }

    func secret(
        _ bytes: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ kind: SecretKind,
        _ name: String,
        isEscaped: Bool = false,
        isSought: Bool = true,
        isCookie: Bool = false
    ) -> [Mark] {
        let value = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard !range.isEmpty, !Placeholder.isOne(value) else { return [] }
        // `X-Auth: none`; of cookies each is masked.
        if kind != .named, !isCookie, ValueShape.isOrdinaryWord(value) || ValueTemplate.isOne(value) { return [] }
        let found = FoundSecret(
            range: range,
            kind: kind,
            name: name,
            secret: PlainValue.of(value, isEscaped: isEscaped),
            isSought: isSought
        )
        mask.note(found)
        return mask.isCollecting ? [] : [Mark(range, mask.book.placeholder(of: found.secret, kind))]
    }

    func marks(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ syntax: ScanSyntax?) -> [Mark] {
        guard !range.isEmpty else { return [] }
        let marks = mask.marks(in: UnsafeRawBufferPointer(rebasing: bytes[range]), syntax)
        guard !marks.isEmpty else { return [] }
        return marks.map {
            let place = $0.range.lowerBound + range.lowerBound..<$0.range.upperBound + range.lowerBound
            return Mark(place, $0.placeholder, isNumber: $0.isNumber)
        }
    }
}

/// What the name of a field says of its value.
struct FieldNameFacts {
    /// In lower case.
    let name: String
    /// The kind of secret that the value is; `nil` where it is none.
    let kind: SecretKind?
    /// Whether nothing in the value is suspected.
    let isOrdinary: Bool
    /// Whether there may be names in the value that say what is a secret in it.
    let hasNames: Bool
    /// Whether the value is a secret only where it looks made by chance.
    let isTicket: Bool

    init(_ label: String, _ names: SecretNames) {
        name = label.lowercased()
        kind = names.kind(ofField: name)
        isTicket = kind == .token && (name == "ticket" || name == "x-ticket")
        let isExempt = names.isExempt(name.utf8)
        isOrdinary = HeadMask.isOrdinary(name) || isExempt
        hasNames = HeadMask.hasNames(name) && !isExempt
    }
}

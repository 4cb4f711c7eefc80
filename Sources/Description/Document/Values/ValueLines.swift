import Content
import HTTPModel
import Text

/// What values mean: under the line that has them, folded, where it is certain; all that they may mean where it is asked.
extension DetailWriter {
    /// Explains the value in the last line. What is certain (tokens, credentials) opens under it.
    mutating func explain(_ value: String, field: String = "") {
        let line = place - 1
        // What decodes to something that decodes again ends where nothing could be indented any more.
        guard line >= 0, !options.isPrinted, !isFull, margin < DetailWriter.deepestIndent else { return }
        let name = field.lowercased()
        if let token = JSONWebToken.found(in: value) { return explain(token, from: line) }
        if name == "authorization" || name == "proxy-authorization", let basic = BasicCredentials(value) {
            margin += 4
            fact("user", basic.user)
            fact("password", basic.password)
            margin -= 4
            return fold(
                from: line,
                "(Basic: user \(VisibleText.of(String(basic.user.prefix(40)))))",
                startsFolded: true
            )
        }
        guard options.decodesValues, let decoded = TextValue(value) else { return }
        margin += 4
        defer { margin -= 4 }
        switch decoded {
        case .percentEncoded(let text): lines("URL-decoded", text)
        case .base64(let text): lines("base64", text)
        case .base64Bytes(let bytes):
            let digits = bytes.prefix(32).map { $0.padded(to: 2, radix: 16) }.joined(separator: " ")
            add([
                Span("base64: ", .label), Span(bytes.count.of("byte") + "  ", .faint),
                Span(digits + (bytes.count > 32 ? " …" : "")),
            ])
        }
    }

    /// A decoded text: JSON, a query or form, or as it is.
    private mutating func lines(_ label: String, _ text: String) {
        let first = text.utf8.first { $0 > 0x20 }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "["), text.utf8.count <= 64 * 1024 {
            add([Span("\(label): ", .label), Span("JSON", .faint)])
            margin += 2
            let problem = json(Array(text.utf8))
            margin -= 2
            if problem == nil { return }
            drop(from: place - 1)
        }
        let pairs = text.split(separator: "&", omittingEmptySubsequences: false)
        if pairs.count > 1, pairs.allSatisfy({ $0.contains("=") }), !text.contains(where: \.isWhitespace) {
            add([Span("\(label):", .label)])
            margin += 2
            FormTable(text).write(into: &self)
            margin -= 2
            return
        }
        add([Span("\(label): ", .label)] + (text.contains(where: \.isNewline) ? [] : [Span(text, .string)]))
        if text.contains(where: \.isNewline) {
            margin += 2
            TextLayout.write(text, into: &self)
            margin -= 2
        }
    }

    private mutating func explain(_ token: JSONWebToken, from line: Int) {
        margin += 4
        add("JSON web token; its signature is not checked.", .faint)
        add("header", .label)
        margin += 2
        dated { $0.json(token.header) }
        margin -= 2
        if let payload = token.payload {
            add("payload", .label)
            margin += 2
            dated { $0.json(payload) }
            margin -= 2
        } else {
            add("The payload is encrypted.", .faint)
        }
        margin -= 4
        var words = ["JWT", token.algorithm ?? ""]
        if let subject = token.subject { words.append("for \(VisibleText.of(String(subject.prefix(40))))") }
        if let end = token.moment("exp") { words.append(expiry(end)) }
        fold(from: line, "(\(words.filter { !$0.isEmpty }.joined(separator: ", ")))", startsFolded: true)
    }

    /// `expires in 3 days`, or `expired 2 hours ago`.
    func expiry(_ moment: Int64) -> String {
        let words = Timestamp.relative(moment, to: now)
        return moment > now ? "expires \(words)" : "expired \(words)"
    }

    /// The moment that a number may be, as it stands behind it.
    func date(_ number: String) -> Span? {
        guard showsDates, let time = EpochTime(number) else { return nil }
        let words = Timestamp.relative(time.microseconds, to: now)
        return Span("  \(sign("≙", "=")) \(Timestamp.readable(time.microseconds)), \(words)", .faint)
    }
}

import Content
import HTTPModel
import Text

/// Shows what values mean: certain meanings folded under the line, possible meanings only on request.
extension DetailWriter {
    /// Explains the value in the last line. Certain meanings (tokens, credentials) are folded under the line.
    mutating func explain(_ value: String, field: String = "") {
        let line = place - 1
        // A value may decode to a value that decodes again: this ends at the deepest indentation.
        guard line >= 0, !options.isPrinted, !isFull, margin < DetailWriter.deepestIndent else { return }
        let name = field.lowercased()
        if let token = JSONWebToken.found(in: value) { return explain(token, from: line) }
        if name == "authorization" || name == "proxy-authorization", let basic = BasicCredentials(value) {
            indented(4) {
                $0.fact("user", basic.user)
                $0.fact("password", basic.password)
            }
            let user = VisibleText.of(String(basic.user.prefix(40)))
            return fold(from: line, "(Basic: user \(user))", startsFolded: true)
        }
        guard options.decodesValues, let decoded = TextValue(value) else { return }
        indented(4) { writer in
            switch decoded {
            case .percentEncoded(let text): writer.lines("URL-decoded", text)
            case .base64(let text): writer.lines("base64", text)
            case .base64Bytes(let bytes):
                let digits = bytes.prefix(32).map { $0.padded(to: 2, radix: 16) }.joined(separator: " ")
                let size = Span(bytes.count.of("byte") + "  ", .faint)
                writer.add([Span("base64: ", .label), size, Span(digits + (bytes.count > 32 ? " …" : ""))])
            }
        }
    }

    /// Adds a decoded text: as JSON, as a query or form, or as plain text.
    private mutating func lines(_ label: String, _ text: String) {
        let first = text.utf8.first { $0 > 0x20 }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "["), text.utf8.count <= 64 * 1024 {
            add([Span("\(label): ", .label), Span("JSON", .faint)])
            var problem: JSONSyntaxError?
            indented(2) { problem = $0.json(Array(text.utf8)) }
            if problem == nil { return }
            drop(from: place - 1)
        }
        let pairs = text.split(separator: "&", omittingEmptySubsequences: false)
        if pairs.count > 1, pairs.allSatisfy({ $0.contains("=") }), !text.contains(where: \.isWhitespace) {
            add("\(label):", .label)
            return indented(2) { FormTable(text).write(into: &$0) }
        }
        let hasLines = text.contains(where: \.isNewline)
        add([Span("\(label): ", .label)] + (hasLines ? [] : [Span(text, .string)]))
        if hasLines { indented(2) { TextLayout.write(text, into: &$0) } }
    }

    private mutating func explain(_ token: JSONWebToken, from line: Int) {
        indented(4) { writer in
            writer.add("JSON web token; its signature is not checked.", .faint)
            writer.dated("header", token.header)
            token.payload.map { writer.dated("payload", $0) } ?? writer.add("The payload is encrypted.", .faint)
        }
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

    /// The time that a number may be, to write after the number; `nil` if not shown or not plausible.
    func date(_ number: String) -> Span? {
        guard showsDates, let time = EpochTime(number) else { return nil }
        let words = Timestamp.relative(time.microseconds, to: now)
        return Span("  \(sign("≙", "=")) \(Timestamp.readable(time.microseconds)), \(words)", .faint)
    }
}

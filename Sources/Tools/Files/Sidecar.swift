import Content
import HTTPModel
import Rules
import Text

/// A file with the status and headers for the file beside it: `users.json.headers` for `users.json`. Each line is
/// `Name: value`. A status may be on any line, as `404`, `404 Gone fishing`, `HTTP/1.1 404 Not Found` or `status: 404`.
/// Empty lines and lines that begin with `#` are ignored. Any other line is ignored, and the trace says so.
struct Sidecar {
    static let suffix = ".headers"
    /// In bytes; no more is read.
    static let limit = 64 << 10

    private(set) var status: Int?
    private(set) var reason: String?
    private(set) var fields: [(name: String, value: String)] = []
    /// Ignored lines with reasons: `line 3 has no colon`.
    private(set) var problems: [String] = []

    init(_ bytes: some Sequence<UInt8>) {
        let text = String(fieldBytes: Array(bytes))
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingASCIIWhitespace
            if line.isEmpty || line.hasPrefix("#") || read(status: line) { continue }
            if let problem = read(field: line) { problems.append("line \(number + 1) \(problem)") }
        }
    }

    private mutating func read(status line: Substring) -> Bool {
        var rest = line
        if rest.lowercased().hasPrefix("status:") {
            rest = rest.dropFirst("status:".count).trimmingASCIIWhitespace
        } else if rest.uppercased().hasPrefix("HTTP/"), let blank = rest.firstIndex(of: " ") {
            rest = rest[blank...].trimmingASCIIWhitespace
        }
        let code = rest.prefix { $0 != " " }
        guard code.utf8.count == 3, code.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Int(code),
            (200...599).contains(number)
        else { return false }
        status = number
        let phrase = rest.dropFirst(code.count).trimmingASCIIWhitespace
        reason = phrase.isEmpty ? nil : String(phrase)
        return true
    }

    /// Returns the problem, if there is one.
    private mutating func read(field line: Substring) -> String? {
        guard let colon = line.firstIndex(of: ":") else { return "is neither a status nor 'Name: value'" }
        let name = String(line[..<colon])
        let value = String(line[line.index(after: colon)...].trimmingASCIIWhitespace)
        if name.lowercased() == "status" { return "has no status from 200 to 599" }
        if let problem = Sidecar.problem(name: name, value: value) { return problem }
        fields.append((name, value))
        return nil
    }

    /// Why a field cannot be in an answer (RFC 9110 §5.1, §5.5); `nil` if it can.
    static func problem(name: String, value: String) -> String? {
        if !name.isToken { return "has '\(name.prefix(40))', which cannot be the name of a header" }
        if framing.contains(FieldName(name)) { return "has \(name), which only Sluice sets" }
        return value.isFieldValue ? nil : "has a control character in the value of \(name)"
    }

    /// Fields that frame messages or manage connections.
    private static let framing: Set<FieldName> = [
        .contentLength, .transferEncoding, .connection, .upgrade, .proxyConnection, .te, .trailer, "keep-alive",
        "content-range",
    ]
}

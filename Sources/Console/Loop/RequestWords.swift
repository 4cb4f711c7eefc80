import Files
import NIOCore
import Runner
import Sharing

/// Requests that a user types or pastes: `[METHOD] URL`, or a cURL command.
enum RequestWords {
    static let remark = "Start line, headers, an empty line, the body. Content-Length follows from the body."

    /// Whether a text is meant to be a request.
    static func isRequest(_ text: String) -> Bool {
        let word = text.prefix { !$0.isWhitespace }.lowercased()
        if word == "curl" || word == "curl.exe" { return true }
        let isURL = word.hasPrefix("http://") || word.hasPrefix("https://")
        return isURL && !text.contains { $0.isWhitespace }
    }

    /// The text without blanks around it.
    static func trimmed(_ text: String) -> String {
        let tail = text.reversed().drop { $0.isWhitespace }.reversed()
        return String(String(tail).drop { $0.isWhitespace })
    }

    /// Reads a request; an empty text is a template.
    static func request(_ text: String) throws -> ComposedRequest {
        if CurlCommandReader.isCommand(text) { return try curl(text) }
        let words = text.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard words.count <= 2 else {
            throw ConsoleError(
                "'\(words[2].prefix(40))' is one word too many: a method and a URL, or a whole cURL command."
            )
        }
        let method = words.count > 1 ? words[0].uppercased() : "GET"
        let url = words.last ?? "http://localhost/"
        // As with curl, a URL without a scheme is one of http.
        let whole = url.contains("://") ? url : "http://\(url)"
        let hasBody = ["POST", "PUT", "PATCH"].contains(method)
        let fields = "Accept: */*\n" + (hasBody ? "Content-Type: application/json\n" : "")
        return try ComposedRequest(draft: "\(method) \(whole) HTTP/1.1\n\(fields)\n", original: nil)
    }

    private static func curl(_ text: String) throws -> ComposedRequest {
        let command = try CurlCommandReader.read(text)
        let body = try command.body { path in
            let expanded = HomeDirectory.expanding(path)
            return try InputFile.contents(of: expanded, atMost: EffectRunner.longestBody)
        }
        return try ComposedRequest(
            method: command.method,
            url: command.url,
            fields: command.fields.map { ($0.name, $0.value) },
            body: ByteBuffer(bytes: body)
        )
    }

    /// What of a cURL command was not taken over, in a sentence; empty for nothing.
    static func omissions(_ text: String) -> String {
        guard let remarks = try? CurlCommandReader.read(text).remarks, !remarks.isEmpty else { return "" }
        return " Not taken over: \(remarks.joined(separator: "; "))."
    }
}

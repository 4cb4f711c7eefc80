import Content
import Description
import HTTPModel
import Recording
import Rules

/// A recorded response as the `answer` of a rule.
enum RecordedAnswer {
    /// The longest body that stands in a rule, in bytes; for a longer one the rule names a file.
    static let longestBody = 16 << 10

    /// Headers about the content, and those without which a browser or a client takes the answer for another one.
    private static let kept: Set<String> = [
        "content-type", "content-disposition", "content-language", "location", "retry-after", "cache-control", "link",
        "vary", "www-authenticate",
    ]

    /// The lines below `answer:`; `nil` without a response, or if its body is long or no text.
    static func yaml(_ exchange: RecordedExchange, _ source: any ExchangeSource) throws -> String? {
        guard let head = exchange.messages.responseHead.flatMap({ StoredHead.response($0) }), head.status >= 200
        else { return nil }
        let body = LoadedBody(exchange, .responseReceived, source: source, limit: longestBody)
        guard !body.isCut, body.failure == nil, body.problem == nil else { return nil }
        let text = body.isEmpty ? "" : body.text?.text.replacing("${", with: "$${")
        guard let text, text.utf8.count <= longestBody else { return nil }
        let json = body.mediaType?.isJSON == true ? LaidOutBody.layOut(json: text) : nil
        let fields = head.fields.filter { field in
            let name = field.name.lowercased()
            return kept.contains(name) || name.hasPrefix("access-control-")
        }
        var lines = ["status: \(head.status)"]
        if !fields.isEmpty {
            lines.append("headers:")
            lines += fields.map { "  \($0.name): \(Node.text($0.value.replacing("${", with: "$${")).flow)" }
        }
        if let json {
            lines += ["json:"] + json.split(separator: "\n").map { "  \($0)" }
        } else if !text.isEmpty {
            lines.append("body: \(Node.text(text).flow)")
        }
        return lines.map { "  \($0)" }.joined(separator: "\n")
    }
}

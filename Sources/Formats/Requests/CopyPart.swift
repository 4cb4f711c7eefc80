package import Content
package import Description
package import HTTPModel
import Text

/// A part of a message by its name, for where there is no cursor.
package enum CopyPart {
    /// The text of a part: `value` and `path` of a JSON path, `value` and `header` of a header's name, `page` of all lines.
    /// Throws an error that says what is missing.
    package static func text(
        _ form: CopyForm,
        _ name: String,
        _ exchange: RecordedExchange,
        source: any ExchangeSource,
        _ options: DetailOptions
    ) throws -> String {
        if form == .page {
            return DetailBuilder(exchange, source: source).document(options).lines.map(\.plain).joined(separator: "\n")
        }
        let side: BodySide = options.page == .request ? .requestReceived : .responseReceived
        if name.hasPrefix(".") { return try values(form, name, exchange, side, source, options) }
        let fields = exchange.messages.fields(of: side).filter { $0.name.lowercased() == name.lowercased() }
        guard !fields.isEmpty, form != .path else {
            let message = side == .requestReceived ? "request" : "response"
            let what =
                form == .path
                ? "A path begins with '.', for example .items[0].id" : "The \(message) has no header line of that name"
            throw CurlError(description: "\(what): '\(VisibleText.of(String(name.prefix(60))))'.")
        }
        return fields.map { form == .header ? "\($0.name): \($0.value)" : $0.value }.joined(separator: "\n")
    }

    private static func values(
        _ form: CopyForm,
        _ name: String,
        _ exchange: RecordedExchange,
        _ side: BodySide,
        _ source: any ExchangeSource,
        _ options: DetailOptions
    ) throws -> String {
        let path: JSONPath
        do {
            path = try JSONPath(name)
        } catch {
            throw CurlError(description: "\(VisibleText.of(name)): \(error), at character \(error.offset + 1).")
        }
        let body = LoadedBody(exchange, side, source: source, limit: 8 << 20)
        guard let text = body.text?.text, let tree = try? JSONTree(Array(text.utf8)) else {
            throw CurlError(description: "The body is no JSON that can be read to its end.")
        }
        let nodes = path.matches(in: tree)
        guard !nodes.isEmpty else { throw CurlError(description: "Nothing fits: \(path.misses(in: tree)).") }
        if form == .path { return tree.paths(to: nodes).joined(separator: "\n") }
        return nodes.map { tree.string(of: $0) ?? tree.text(of: $0) }.joined(separator: "\n")
    }
}

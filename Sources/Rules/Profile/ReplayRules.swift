package import HTTPModel

/// `replay:`, which recorded exchanges answer in a replay, and what of two requests must be the same.
package struct ReplayRules: Sendable {
    /// Parts of the URL that may differ.
    package enum Part: String, Sendable, CaseIterable {
        case scheme, host, port
    }

    /// What a request gets that was asked for more often than it was recorded.
    package enum AfterLast: String, Sendable, CaseIterable {
        /// The last answer again.
        case last
        case miss
    }

    private var locations = LocationChoice()
    /// Query parameters that may differ, in any case.
    package var ignoredQuery: [String] = []
    /// Names of form fields and JSON members that are not compared, in any case, and places in JSON such as `.items[].id`.
    package var ignoredBody: [String] = []
    package var ignored: Set<Part> = []
    /// Headers that are compared.
    package var headers: [String] = []
    package var afterLast = AfterLast.last

    package init() {}

    /// Whether an exchange answers, by the client's URL.
    package func admits(_ url: RequestURL) -> Bool { locations.admits(url) }

    /// What differs from the rules without a profile; `nil` if nothing does.
    package var text: String? {
        var parts: [String] = []
        if let only = locations.onlyText("nothing") { parts.append("answers: \(only)") }
        if let except = locations.exceptText { parts.append("no answers: \(except)") }
        let ignoredParts = ignored.map(\.rawValue).sorted()
        if !ignoredParts.isEmpty { parts.append("ignored: \(ignoredParts.joined(separator: ", "))") }
        if !ignoredQuery.isEmpty { parts.append("ignored in queries: \(ignoredQuery.joined(separator: ", "))") }
        if !ignoredBody.isEmpty { parts.append("ignored in bodies: \(ignoredBody.joined(separator: ", "))") }
        if !headers.isEmpty { parts.append("compared headers: \(headers.joined(separator: ", "))") }
        if afterLast == .miss { parts.append("each answer once") }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}

extension ReplayRules {
    static let keys: [GrammarKey] = [
        GrammarKey("only", .locations, example: "[ \"api.example.com/*\" ]", fallback: "everything")
            .means("The recorded exchanges that answer, by the client's URL."),
        GrammarKey("except", .locations, example: "[ \"*/health\" ]", fallback: "nothing")
            .means("The exchanges that do not answer."),
        GrammarKey(
            "ignore",
            .list(.choice(Part.allCases.map(\.rawValue))),
            example: "[ host, port ]",
            fallback: "none"
        ).means("The parts of the URL that may differ."),
        GrammarKey("ignore-query", .list(.text), example: "[ ts, nonce ]", fallback: "none")
            .means("Query parameters that may differ or be missing."),
        GrammarKey("ignore-body", .list(.text), example: "[ requestId, \".items[].created\" ]", fallback: "none")
            .means(
                "The parts of a body that may differ: names of form fields, parts or JSON members at any depth; JSON paths with everything below them."
            ),
        GrammarKey("headers", .list(.text), example: "[ accept-language, x-tenant ]", fallback: "none")
            .means("More headers that must be the same."),
        GrammarKey(
            "after-last",
            .choice(AfterLast.allCases.map(\.rawValue)),
            example: "miss",
            fallback: "last"
        ).means(
            "Whether a request that comes more often than recorded gets the last answer again, or 599; like --once."
        ),
    ]

    /// Adds what one file says: lists are gathered over the files of a profile.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "replay", keys: ReplayRules.keys) else { return }
        locations.add(fields, &reader)
        for entry in fields["ignore"]?.members ?? [] {
            let choices = Part.allCases.map { ($0.rawValue, $0) }
            if let part = reader.choice(entry, "ignore", choices) { ignored.insert(part) }
        }
        ignoredQuery += texts(fields["ignore-query"], "ignore-query", &reader)
        headers += texts(fields["headers"], "headers", &reader)
        for entry in fields["ignore-body"]?.members ?? [] {
            if let text = text(entry, "ignore-body", &reader) { addIgnored(text, entry, &reader) }
        }
        if let node = fields["after-last"] {
            let choices = AfterLast.allCases.map { ($0.rawValue, $0) }
            afterLast = reader.choice(node, "after-last", choices) ?? afterLast
        }
    }

    private mutating func addIgnored(_ text: String, _ node: Node, _ reader: inout ProfileReader) {
        if text.hasPrefix(".") || text.hasPrefix("$") {
            let path = text.hasPrefix("$") ? String(text.dropFirst()) : text
            do throws(PlaceError) {
                _ = try Place("json" + path.replacing("[]", with: "[*]"), in: .request)
            } catch {
                return reader.error("'\(text.prefix(60))' is not a JSON path: \(error.description)", at: node)
            }
            if path.contains("..") || path.replacing("[*]", with: "").contains("*") {
                let hint = "a path has names, [3] for one element and [] for all; a single name matches at any depth"
                return reader.error("'\(text.prefix(60))' is not a JSON path: \(hint)", at: node)
            }
        }
        ignoredBody.append(text)
    }

    private func texts(_ node: Node?, _ key: String, _ reader: inout ProfileReader) -> [String] {
        (node?.members ?? []).compactMap { text($0, key, &reader) }
    }

    private func text(_ node: Node, _ key: String, _ reader: inout ProfileReader) -> String? {
        guard let text = reader.text(node, key) else { return nil }
        if !text.allSatisfy(\.isWhitespace) { return text }
        reader.error("an entry of \(key) names nothing", at: node)
        return nil
    }
}

package import HTTPModel

/// `replay:`, which recorded exchanges answer in a replay, and what a request and its recording must have in common.
package struct ReplayRules: Sendable {
    /// Parts of the URL that may differ.
    package enum Part: String, Sendable, CaseIterable {
        case scheme, host, port
    }

    /// The answer to a request that comes more often than it was recorded.
    package enum AfterLast: String, Sendable, CaseIterable {
        /// The last answer again.
        case last
        case miss
    }

    private var locations = LocationChoice()
    package var ignoredQuery: [IgnoreRule] = []
    package var ignoredBody: [IgnoreRule] = []
    package var ignored: Set<Part> = []
    package var headers: [String] = []
    package var afterLast = AfterLast.last

    package init() {}

    /// Whether a recorded exchange may answer, by the client's URL.
    package func admits(_ url: RequestURL) -> Bool { locations.admits(url) }

    /// The differences from the default rules; `nil` if there are no differences.
    package var text: String? {
        let parts = [
            ("answers: ", locations.onlyText("nothing")),
            ("no answers: ", locations.exceptText),
            ("ignored: ", ReplayRules.list(ignored.map(\.rawValue).sorted())),
            ("ignored in queries: ", ReplayRules.list(ignoredQuery.map(\.description))),
            ("ignored in bodies: ", ReplayRules.list(ignoredBody.map(\.description))),
            ("compared headers: ", ReplayRules.list(headers)),
            ("each answer once", afterLast == .miss ? "" : nil),
        ].compactMap { title, list in list.map { title + $0 } }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    private static func list(_ items: [String]) -> String? { items.isEmpty ? nil : items.joined(separator: ", ") }
}

extension ReplayRules {
    static let keys: [GrammarKey] = [
        GrammarKey("only", .locations, example: "[ \"api.example.com/*\" ]", fallback: "everything")
            .means("The recorded exchanges that answer, by the client's URL."),
        GrammarKey("except", .locations, example: "[ \"*/health\" ]", fallback: "nothing")
            .means("The exchanges that do not answer."),
        GrammarKey("ignore", .list(.choice(Part.allCases.map(\.rawValue))), example: "[ host, port ]", fallback: "none")
            .means("The parts of the URL that may differ."),
        GrammarKey("ignore-query", .list(.text), example: "[ ts, nonce ]", fallback: "none")
            .means("Query parameters that may differ or be missing."),
        GrammarKey("ignore-body", .list(.text), example: "[ requestId, \"json.items[*].created\" ]", fallback: "none")
            .means(
                "The parts of a body that may differ: names of form fields, parts or JSON members at any depth; places such as json.items[*].created or form.ts, with everything below them."
            ),
        GrammarKey("headers", .list(.text), example: "[ accept-language, x-tenant ]", fallback: "none")
            .means("More headers that must be the same."),
        GrammarKey("after-last", .choice(AfterLast.allCases.map(\.rawValue)), example: "miss", fallback: "last").means(
            "Whether a request that comes more often than recorded gets the last answer again, or 599; like --once."
        ),
    ]

    /// Adds the rules of one file; lists of several files are joined.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "replay", keys: ReplayRules.keys) else { return }
        locations.add(fields, &reader)
        for entry in fields["ignore"]?.members ?? [] {
            if let part = reader.choice(entry, "ignore", of: Part.self) { ignored.insert(part) }
        }
        ignoredQuery += reader.ignoreRules(fields, "ignore-query", [.query])
        ignoredBody += reader.ignoreRules(fields, "ignore-body", [.form, .part, .json, .body])
        headers += reader.ignoreRules(fields, "headers", [.header]).map { rule in
            if case .place(let place) = rule { place.name ?? "" } else { rule.description }
        }
        if let node = fields["after-last"] {
            afterLast = reader.choice(node, "after-last", of: AfterLast.self) ?? afterLast
        }
    }
}

extension ProfileReader {
    fileprivate mutating func ignoreRules(_ fields: ProfileFields, _ key: String, _ parts: [Place.Part]) -> [IgnoreRule]
    {
        (fields[key]?.members ?? []).compactMap { entry in
            guard let text = text(entry, key) else { return nil }
            do throws(PlaceError) {
                return try IgnoreRule(text, in: .request, of: parts)
            } catch {
                self.error("\(key) '\(text.prefix(60))': \(error)", at: entry)
                return nil
            }
        }
    }
}

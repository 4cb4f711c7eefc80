import Text

/// The output of `sluice profile help`: the tables by which profiles are read, as text.
package enum ProfileHelp {
    package struct UnknownKeyError: Error, CustomStringConvertible {
        package let description: String
    }

    /// Explains a key such as `name` or `expect.request`, or a topic; without a key, lists all. Throws
    /// ``UnknownKeyError`` with the key that was probably meant.
    package static func text(for key: String? = nil, of tools: ToolRegistry) throws(UnknownKeyError) -> String {
        let topics = topics(tools)
        guard let key, !key.isEmpty else { return overview(tools) }
        if let topic = topics.first(where: { $0.names.contains(key) }) { return topic.text }
        var keys = ProfileGrammar.allKeys(tools)
        var found: GrammarKey?
        var path: [String] = []
        for word in key.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
            guard let next = keys.first(where: { $0.name == word }) else {
                let known = keys.map(\.name) + (path.isEmpty ? topics.compactMap(\.names.first) : [])
                let place = path.isEmpty ? "a profile" : "'\(path.joined(separator: "."))'"
                let hint = known.isEmpty ? "" : Suggestion.text(for: word, among: known)
                throw UnknownKeyError(description: "\(place) has no key '\(word.prefix(40))'\(hint)")
            }
            path.append(word)
            found = next
            keys = next.value.keys
        }
        return found.map { describe($0, path: key, tools) } ?? overview(tools)
    }

    /// The keys at the top level, or within the key at a path such as `rewrite.rules`; `nil` for an unknown path.
    package static func keys(within path: String? = nil, of tools: ToolRegistry) -> [GrammarKey]? {
        var keys = ProfileGrammar.allKeys(tools)
        for word in (path ?? "").split(separator: ".") {
            guard let key = keys.first(where: { $0.name == word }) else { return nil }
            keys = key.value.keys
        }
        return keys
    }

    /// Completions for ``text(for:of:)``: for a text that begins with `rewrite.` the keys within `rewrite`, for a text
    /// without a dot all keys and topics. Empty if the key before the dot does not exist.
    package static func names(for text: String, of tools: ToolRegistry) -> [(name: String, summary: String)] {
        let words = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init).dropLast()
        let keys = keys(within: words.joined(separator: "."), of: tools) ?? []
        let path = words.map { $0 + "." }.joined()
        let about = words.isEmpty ? topics(tools).map { ($0.names.first ?? "", $0.summary) } : []
        return keys.map { (path + $0.name, $0.summary) } + about
    }

    private static func overview(_ tools: ToolRegistry) -> String {
        let keys = ProfileGrammar.allKeys(tools).map { ($0.name, $0.summary) }
        let about = topics(tools).map { ($0.names.first ?? "", $0.summary) }
        return """
            A profile is a YAML mapping of these keys.
            'sluice profile help KEY' explains one, 'sluice profile help KEY.KEY' one within it.

            \(table(keys))
            Help about values:

            \(table(about))
            """
    }

    private static func describe(_ key: GrammarKey, path: String, _ tools: ToolRegistry) -> String {
        var text = "\(path): \(key.summary)\n\n"
        let inner = key.value.keys
        text += wrapped("takes", inner.isEmpty ? key.value.text : key.value.shortText)
        if let fallback = key.fallback { text += wrapped("default", fallback) }
        if let tool = tools[key: path] {
            let selection = tool.selection == .first ? "the first that matches decides" : "all that match act"
            text += wrapped("several", selection)
        }
        let rows = inner.map { ($0.name, $0.summaryWithDefault) }
        if !rows.isEmpty { text += "\n" + table(rows) }
        let lines = key.example.split(separator: "\n", omittingEmptySubsequences: false)
        return text + "\nFor example:\n\n" + lines.map { $0.isEmpty ? "\n" : "    \($0)\n" }.joined()
    }

    private struct Topic {
        let names: [String]
        let summary: String
        let text: String
    }

    private static let paths = "A relative path starts at the profile's directory, ~/ at your home directory.\n"

    private static func topics(_ tools: ToolRegistry) -> [Topic] {
        [
            Topic(
                names: ["locations", "location"],
                summary: "How rules choose requests.",
                text: """
                    A location is [protocol://]host[:port][/path][?query], or a mapping of protocol, host, port, path, query.

                    A missing part matches anything. Each part is a wildcard pattern for that whole part of the URL:

                        *        any number of characters, '/' included
                        ?        one character; in the string form of a path \\?, since ? begins the query there
                        [a-z]    one of these; [!a-z] any other character
                        \\*       the character itself

                    Protocol and host compare without regard to case, path and query with it; a dot at the end of a host
                    changes nothing. http also means ws; https also wss, and tunnels that are not decrypted, of which just
                    host and port are known. Without a port any port matches: https://h/v1 matches https://h:8443/v1 too,
                    https://h:443/v1 is not. Locations are matched against the URL as the client sent it, whatever an
                    earlier tool changed. Inside a CONNECT the Host header names the host if its port is the
                    tunnel's; else CONNECT names it. Quote a text that begins with * in YAML.

                        "*"                                every request
                        api.example.com                    every request to this host
                        "*.example.com"                    its subdomains, but not example.com itself
                        https://api.example.com/v1/*       everything below /v1/
                        "*/login?*"                        /login on any host, with or without a query
                        { host: localhost, port: "30??" }  by fields

                    'sluice profile why FILE METHOD URL' says which part of a location did not match.

                    """
            ),
            Topic(
                names: ["patterns", "pattern"],
                summary: "Text and regular expressions in 'match', 'from' and 'expect'.",
                text: """
                    A pattern is plain text, or a regular expression (PCRE2) between slashes: /^v(\\d+)$/.

                    A replacement for a regular expression may use $1 to $9 for its groups, $0 for the whole match and $$ for a
                    dollar sign. Write \\/text/ for plain text that begins and ends with slashes. In YAML single quotes
                    leave backslashes alone: '/\\d+/'. An expression that takes too long is stopped; the message then passes
                    unchanged, and the trace says so.

                    """
            ),
            Topic(names: ["paths"], summary: "Paths of files.", text: paths),
            Topic(
                names: ["order"],
                summary: "The order of the tools.",
                text: """
                    Requests and responses pass the tools in this order:

                        \(tools.inOrder.map(\.key).joined(separator: " → "))

                    Within a tool the order is that of the profile. Several files have the order in which they are given, and
                    included files come before the file that includes them.

                    """
            ),
        ]
    }

    private static let width = 100

    private static func wrapped(_ label: String, _ text: String) -> String { row(label, text, column: 10) }

    private static func table(_ rows: [(String, String)]) -> String {
        let column = 2 + (rows.map(\.0.count).max() ?? 0) + 2
        return rows.map { row("  \($0)", $1, column: column) }.joined()
    }

    /// A label with a wrapped text beside it.
    private static func row(_ label: String, _ text: String, column: Int) -> String {
        let lines = TextWidth.wrap(text, to: width - column).joined(separator: "\n" + "".filled(to: column))
        return label.filled(to: column) + lines + "\n"
    }
}

extension GrammarValue {
    package var keys: [GrammarKey] {
        switch self {
        case .mapping(let keys): keys
        case .list(let value), .names(let value): value.keys
        case .either(let one, let other): one.keys.isEmpty ? other.keys : one.keys
        case .flag, .text, .number, .choice, .duration, .location, .locations, .pattern, .path: []
        }
    }

    /// The value without the keys of mappings, for help that lists these keys separately.
    fileprivate var shortText: String {
        switch self {
        case .mapping: "a mapping"
        case .list(let member): "\(member.shortText), or a list of them"
        case .names(let value): "a mapping of names to: \(value.shortText)"
        case .either(let one, let other): "\(one.shortText); or \(other.shortText)"
        default: text
        }
    }
}

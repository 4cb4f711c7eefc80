import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Map local: requests that match one of its rules are answered from files.
///
/// A rule names a file, which answers every matching request, or a directory. In a directory, the part of the path
/// after the literal part of the location is looked up. The lookup uses the URL as the client sent it, like locations
/// do, and ignores the query. Every method is answered, `OPTIONS` too, unless the rule names methods.
struct MapLocal: FirstRuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let path: String
        /// The path as in the profile.
        let name: String
        let onMiss: MissPolicy
        let isCaseSensitive: Bool
        /// The file that answers for a directory.
        let index: String
        let status: Int?
        let fields: [(name: String, value: String)]
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<Rule>) -> any StageHandler {
        var matches = [match]
        if match.rule.onMiss == .next {
            let later = rules.matches(opening).filter { $0.position > match.position }
            let last = later.firstIndex { $0.rule.onMiss != .next } ?? later.endIndex
            matches += later.prefix(last + 1)
        }
        return RequestHeadHandler { head, exchange in
            let lookUps = matches.enumerated().map { index, match in
                FileLookUp(match, isLast: index == matches.count - 1, head: head, url: exchange.url)
            }
            return .work {
                var trace: [TraceEntry] = []
                for lookUp in lookUps {
                    let outcome = lookUp.run()
                    trace += outcome.trace
                    if case .forward = outcome.verdict { continue }
                    return WorkOutcome(outcome.verdict, trace: trace)
                }
                return WorkOutcome(.forward, trace: trace)
            }
        }
    }
}

/// What to do if no file is found.
enum MissPolicy: Sendable {
    /// Send the request to the server.
    case pass
    /// The next matching rule looks for a file; if there is no next rule, the request is sent to the server.
    case next
    case notFound
    /// The client gets a 502 that says which file was looked for.
    case error

    static let choices = [("pass", MissPolicy.pass), ("next", .next), ("404", .notFound), ("error", .error)]
}

extension MapLocal {
    static let descriptor = ToolDescriptor(
        "map-local",
        order: 700,
        title: "Map local",
        letter: "l",
        alone: [.panel],
        directions: [.request],
        noun: "a map-local rule",
        summary: "Answers matching requests from files, which are read for each request.",
        scope: .from,
        conditions: .bodies,
        keys: [
            GrammarKey("to", .path, example: "fixtures/").means(
                "A file, which answers every matching request; or a directory, in which the path after the literal part "
                    + "of 'from' is looked up. A file NAME.headers beside NAME has a status and headers, a line each."
            ),
            GrammarKey("on-miss", .choice(MissPolicy.choices.map(\.0)), example: "404", fallback: "pass").means(
                "What to do without a file: ask the server and skip later rules (pass); let the next rule "
                    + "that matches search (next); answer 404, or 502 with an explanation (error)."
            ),
            GrammarKey("case-sensitive", .flag, example: "false", fallback: "true")
                .means("Whether file names are case-sensitive, on any disk."),
            GrammarKey("index", .text, example: "index.json", fallback: "index.html")
                .means("The file that answers for a directory."),
            GrammarKey("status", .number(200...599, unit: ""), example: "503", fallback: "200")
                .means("The status of the answer; overrides NAME.headers."),
            GrammarKey(
                "headers",
                .names(.list(.text)),
                example: "{ Cache-Control: no-store, Access-Control-Allow-Origin: \"*\" }",
                fallback: "Content-Type by the file's extension, and NAME.headers"
            ).means(
                "Headers of the answer, also without a file; they replace headers of the same name, and an empty value "
                    + "removes one."
            ),
        ],
        example: "map-local: [ { from: \"https://api.example.com/v1/*\", to: fixtures/, on-miss: 404 } ]",
        usualScope: .path,
        change: .response,
        answersFrom: "to"
    )

    static func breadths(for url: RequestURL) -> [ExchangeScope] {
        ExchangeScope.all(for: url).filter { $0 <= .host && $0 != .below }
    }

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        let file =
            breadth == .host ? SuggestedFile.folder(source.record.url) : SuggestedFile.name(for: source.record, breadth)
        return [Node.Member("from", place), Node.Member("to", .text(file))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let node = reader.required(fields, "to", descriptor.noun), let name = reader.text(node, "to"),
            let path = reader.path(node, "to")
        else { return nil }
        var heading = heading
        heading.action = "answer from \(name)"
        lint(path, heading, at: node, &reader)
        let onMiss = fields["on-miss"].flatMap { reader.choice($0, "on-miss", MissPolicy.choices) } ?? .pass
        heading.isConditional = onMiss == .next
        let index = reader.text(fields, "index") ?? "index.html"
        if let node = fields["index"], index.isEmpty || index.utf8.contains(UInt8(ascii: "/")) || index.hasPrefix("..")
        {
            reader.error("index is the name of a file, without a directory", at: node)
        }
        let status = reader.integer(fields, "status")
        if status == 205, let node = fields["status"] { reader.lint(ResponseHead.resetContentLint, at: node) }
        return Rule(
            heading: heading,
            path: path,
            name: name,
            onMiss: onMiss,
            isCaseSensitive: reader.flag(fields, "case-sensitive") ?? true,
            index: index,
            status: status,
            fields: fields["headers"].map { node in
                reader.headers(node) { name, value in Sidecar.problem(name: name, value: value).map { "headers \($0)" }
                }
            } ?? []
        )
    }

    private static func lint(_ path: String, _ heading: RuleHeading, at node: Node, _ reader: inout ProfileReader) {
        guard let status = FileStatus(path: path) else {
            reader.lint("there is no file or directory '\(path)'; until it exists, requests go to the server", at: node)
            return
        }
        if status.kind == .special { reader.lint("'\(path)' is neither a file nor a directory", at: node) }
        guard status.kind == .directory else { return }
        for location in heading.scope.locations ?? [] where location.namesWholePath {
            let way = "to search files in the directory, end it with *"
            reader.lint("'\(location)' names one path, for which the directory's index answers; \(way)", at: node)
        }
    }
}

extension Tool { package static let mapLocal = Tool(MapLocal.self) }

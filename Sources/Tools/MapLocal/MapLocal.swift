import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Map local: requests that match one of its rules are answered from files.
///
/// A rule leads to a file, which answers every request that matches, or to a directory, in which the part of the path
/// behind the literal part of the location is looked up. Like locations, this goes by the URL as the client sent it; the
/// query is no part of it. Every method is answered, `OPTIONS` too, unless the rule names methods.
struct MapLocal: FirstRuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// Where the files are.
        let path: String
        /// The same as the profile says it.
        let name: String
        let onMiss: MissPolicy
        let isCaseSensitive: Bool
        /// What is looked up in a directory.
        let index: String
        let status: Int?
        let fields: [(name: String, value: String)]
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening, by match: RuleMatch<Rule>) -> any StageHandler {
        var candidates = [Candidate(match.rule, match.location, opening.url)]
        if match.rule.onMiss == .next {
            for next in rules.matches(opening) where next.position > match.position {
                candidates.append(Candidate(next.rule, next.location, opening.url))
                if next.rule.onMiss != .next { break }
            }
        }
        return Handler(candidates)
    }

    /// A rule that may have a file for a request.
    struct Candidate: Sendable {
        let rule: Rule
        /// What is looked up in a directory: the part of the path that the location leaves over.
        let remainder: String

        init(_ rule: Rule, _ location: Location?, _ url: RequestURL) {
            self.rule = rule
            remainder = location?.remainder(of: url.path) ?? String(url.path.dropFirst())
        }
    }

    private final class Handler: StageHandler {
        private let candidates: [Candidate]

        init(_ candidates: [Candidate]) {
            self.candidates = candidates
        }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            .perform(FileLookUps(candidates: candidates, head: head, url: exchange.url))
        }
    }
}

/// What becomes of a request for which there is no file.
enum MissPolicy: Sendable {
    /// The server is asked, as without the rule.
    case pass
    /// The next rule that matches looks for one; where there is none, the server is asked.
    case next
    /// The client gets a 404.
    case notFound
    /// The client gets a 502 that says what was looked for.
    case error

    static let choices: [(String, MissPolicy)] = [
        ("pass", .pass), ("next", .next), ("404", .notFound), ("error", .error),
    ]
}

extension MapLocal {
    static let descriptor = ToolDescriptor(
        "map-local",
        order: 700,
        title: "Map local",
        letter: "l",
        alone: [.panel],
        directions: [.request],
        takesTunnels: false,
        noun: "a map-local rule",
        summary: "Answers matching requests from files; they are read anew for each request.",
        scope: .from,
        selection: .first,
        keys: [
            GrammarKey(
                "to",
                .path,
                "A file, which answers every matching request; or a directory, in which the path behind the literal part "
                    + "of 'from' is looked up. A file NAME.headers beside NAME has a status and headers, a line each.",
                example: "to: fixtures/"
            ),
            GrammarKey(
                "on-miss",
                .choice(MissPolicy.choices.map(\.0)),
                "What is done where there is no file: ask the server, whatever rules come after (pass); have the next rule "
                    + "that matches look for one (next); answer 404, or 502 with an explanation (error).",
                example: "on-miss: 404",
                fallback: "pass"
            ),
            GrammarKey(
                "case-sensitive",
                .flag,
                "Whether the case of letters counts in the names of files, whatever the disk says.",
                example: "case-sensitive: false",
                fallback: "true"
            ),
            GrammarKey(
                "index",
                .text,
                "The file that answers for a directory.",
                example: "index: index.json",
                fallback: "index.html"
            ),
            GrammarKey(
                "status",
                .number(200...599, unit: ""),
                "The status of the answer; goes before what NAME.headers says.",
                example: "status: 503",
                fallback: "200"
            ),
            GrammarKey(
                "headers",
                .names(.list(.text)),
                "Headers of the answer, also of one to a miss; they replace those of the same name, and a blank value "
                    + "leaves one out.",
                example: "headers: { Cache-Control: no-store, Access-Control-Allow-Origin: \"*\" }",
                fallback: "Content-Type by the file's extension, and what NAME.headers says"
            ),
        ],
        example: "map-local: [ { from: \"https://api.example.com/v1/*\", to: fixtures/, on-miss: 404 } ]",
        usualBreadth: .path,
        change: .response
    )

    static func breadths(for url: RequestURL) -> [ExchangeBreadth] {
        ExchangeBreadth.all(for: url).filter { $0 <= .host && $0 != .below }
    }

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
        let file = breadth == .host ? SuggestedFile.folder(record.url) : SuggestedFile.name(for: record, breadth)
        return [Node.Member("from", place), Node.Member("to", .text(file))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let node = reader.required(fields, "to", descriptor.noun), let name = reader.text(node, "to"),
            let path = reader.path(node, "to")
        else { return nil }
        var heading = heading
        heading.action = "answer from \(name)"
        lint(path, name, heading, at: node, &reader)
        let onMiss = fields["on-miss"].flatMap { reader.choice($0, "on-miss", MissPolicy.choices) } ?? .pass
        heading.isConditional = onMiss == .next
        let index = fields["index"].flatMap { reader.text($0, "index") } ?? "index.html"
        if let node = fields["index"], index.isEmpty || index.utf8.contains(UInt8(ascii: "/")) || index.hasPrefix("..")
        {
            reader.error("index is the name of a file, without a directory", at: node)
        }
        let status = reader.number(fields, "status")
        if let status, let node = fields["status"], status != status.rounded() {
            reader.error("status must be a whole number", at: node)
        }
        if status == 205, let node = fields["status"] { reader.lint(ResponseHead.resetContentLint, at: node) }
        return Rule(
            heading: heading,
            path: path,
            name: name,
            onMiss: onMiss,
            isCaseSensitive: fields["case-sensitive"].flatMap { reader.flag($0, "case-sensitive") } ?? true,
            index: index,
            status: status.map { Int($0) },
            fields: fields["headers"].map { headers($0, &reader) } ?? []
        )
    }

    private static func headers(_ node: Node, _ reader: inout ProfileReader) -> [(name: String, value: String)] {
        guard let mapping = node.mapping else {
            reader.error("headers must be a mapping, as in { Name: value }, not \(node.kind)", at: node)
            return []
        }
        var headers: [(name: String, value: String)] = []
        for member in mapping {
            guard let name = reader.text(member.key, "the name of a header") else { continue }
            for value in reader.list(member.value) {
                guard let text = reader.text(value, name) else { continue }
                if let problem = Sidecar.problem(name: name, value: text) {
                    reader.error("headers \(problem)", at: text.isEmpty ? member.key : value)
                } else {
                    headers.append((name, text))
                }
            }
        }
        return headers
    }

    /// What can be said before any request comes.
    private static func lint(
        _ path: String,
        _ name: String,
        _ heading: RuleHeading,
        at node: Node,
        _ reader: inout ProfileReader
    ) {
        guard let status = FileStatus(path: path) else {
            reader.lint("there is no file or directory '\(path)'; as long as that is so, nothing is answered", at: node)
            return
        }
        if status.kind == .special { reader.lint("'\(path)' is neither a file nor a directory", at: node) }
        guard status.kind == .directory else { return }
        for location in heading.scope.locations ?? [] where location.namesWholePath {
            reader.lint(
                "'\(location)' names one path, for which the directory's index answers; "
                    + "to have files looked up in the directory, end it with *",
                at: node
            )
        }
    }
}

extension Tool {
    package static let mapLocal = Tool(MapLocal.self)
}

import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Map local: requests that match one of its rules are answered from files, or with answers of the profile.
///
/// A rule names a file, which answers every matching request, or a directory. In a directory, the part of the path
/// after the literal part of the location is looked up. The lookup uses the URL as the client sent it, like locations
/// do, and ignores the query. Every method is answered, `OPTIONS` too, unless the rule names methods.
struct MapLocal: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let onMiss: MissPolicy
        /// `nil` if the rule has answers.
        let files: FileSource?
        var answers: AnswerSequence?
        var chance: RuleChance?

        /// Whether later rules are asked if this one does not answer.
        var leavesToOthers: Bool { onMiss == .next || chance.map { $0.share < 100 } ?? false }
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard let first = rules.first(opening) else { return nil }
        var matches = [first]
        if first.rule.leavesToOthers {
            matches = rules.matches(opening)
            let last = matches.firstIndex { !$0.rule.leavesToOthers } ?? matches.endIndex
            matches = Array(matches.prefix(last + 1))
        }
        return matches.isEmpty ? nil : MapLocalHandler(matches, opening)
    }

    var counts: [RuleCount] {
        rules.all.compactMap { rule in
            rule.answers.map { RuleCount(rule: rule.heading.name, count: $0.counter.total) }
        }
    }

    func resetCounts() {
        for rule in rules.all {
            rule.answers?.counter.reset()
            rule.chance?.reset()
        }
    }

    func prepare(toReplace old: MapLocal) {
        for (new, old) in rules.replacing(old.rules) {
            new.chance?.goOn(from: old.chance)
            if let counter = old.answers?.counter { new.answers?.counter.goOn(from: counter) }
        }
    }

    var dryRun: any Stage {
        let copies = rules.all.map { rule in
            var rule = rule
            (rule.answers, rule.chance) = (rule.answers?.copy, rule.chance?.copy)
            return rule
        }
        return MapLocal(rules: RuleList(copies, takesTunnels: false))
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
        summary: "Answers matching requests from files, which are read for each request, or from the profile.",
        forAgents: agentUse,
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
        ] + AnswerSequence.keys + RuleChance.keys,
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
        var heading = heading
        let onMiss = fields["on-miss"].flatMap { reader.choice($0, "on-miss", MissPolicy.choices) } ?? .pass
        let answers = AnswerSequence(heading, fields, &reader)
        let files = answers == nil ? files(&heading, onMiss, fields, &reader) : nil
        guard answers != nil || files != nil else { return nil }
        if let answers { heading.action = answers.action }
        let drawsTimes = answers?.turns.contains { $0?.delay?.isRandom == true } ?? false
        let chance = RuleChance(&heading, fields, drawsTimes: drawsTimes, &reader)
        if onMiss == .next { heading.isConditional = true }
        return Rule(heading: heading, onMiss: onMiss, files: files, answers: answers, chance: chance)
    }

    private static func files(
        _ heading: inout RuleHeading,
        _ onMiss: MissPolicy,
        _ fields: ProfileFields,
        _ reader: inout ProfileReader
    ) -> FileSource? {
        if fields["answer"] != nil || fields["answers"] != nil { return nil }
        guard let node = fields["to"] else {
            reader.error("\(descriptor.noun) needs 'to' or 'answer'", at: fields.node)
            return nil
        }
        guard let name = reader.text(node, "to"), let path = reader.path(node, "to") else { return nil }
        heading.action = "answer from \(name)"
        lint(path, heading, at: node, &reader)
        let index = reader.text(fields, "index") ?? "index.html"
        if let node = fields["index"], index.isEmpty || index.utf8.contains(UInt8(ascii: "/")) || index.hasPrefix("..")
        {
            reader.error("index is the name of a file, without a directory", at: node)
        }
        let status = reader.integer(fields, "status")
        if status == 205, let node = fields["status"] { reader.lint(ResponseHead.resetContentLint, at: node) }
        let own = fields["headers"].map { node in
            reader.headers(node) { name, value in Sidecar.problem(name: name, value: value).map { "headers \($0)" } }
        }
        return FileSource(
            path: path,
            name: name,
            onMiss: onMiss,
            isCaseSensitive: reader.flag(fields, "case-sensitive") ?? true,
            index: index,
            status: status,
            fields: own ?? []
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

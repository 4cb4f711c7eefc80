import Content
import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Mirror: saves servers' responses as files, while the client receives them.
///
/// Responses to GET with a status from 200 to 299 are saved, except parts (206), so that an error page or a redirect
/// does not replace a file. Answers of map-local are not saved. File names follow the URL as the client sent it, even
/// if a different URL was requested; contents are as earlier tools, such as rewrite, have left them. Each part of the
/// body is written before the client gets it, so the body is never buffered in memory. The content coding is removed in
/// the file only, unless the decoded body becomes too large.
struct Mirror: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// The directory for the files.
        let path: String
        /// The directory as the profile names it.
        let name: String
    }

    private let rules: RuleList<Rule>
    private var isDryRun = false

    init(rules: RuleList<Rule>) { self.rules = rules }

    /// A copy that saves nothing and only traces what it would save.
    var dryRun: any Stage {
        var mirror = self
        mirror.isDryRun = true
        return mirror
    }

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard opening.head.method == "GET" else { return nil }
        let found = rules.matches(opening)
        return found.isEmpty ? nil : Handler(found, isDryRun: isDryRun)
    }

    private final class Handler: StageHandler {
        private let found: [RuleMatch<Rule>]
        private var rule: Rule
        private let isDryRun: Bool
        private var file: MirrorFile?
        /// The file's directory as in the profile, and a remark about the file.
        private var (directory, remark) = ("", "")
        private var hasEnded = false

        init(_ found: [RuleMatch<Rule>], isDryRun: Bool) {
            self.found = found
            rule = found[0].rule
            self.isDryRun = isDryRun
        }

        private var ruleName: String { rule.heading.name }

        var responseDemand: BodyDemand { file == nil ? .none : .observe }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            guard let rule = found.first(where: \.holds)?.rule else { return .forward }
            self.rule = rule
            guard (200..<300).contains(head.status), head.status != 206 else { return .forward }
            if exchange.isAnswered {
                exchange.note("\(ruleName): not saved, because the answer is not from a server")
                return .forward
            }
            if isDryRun {
                exchange.fired(rule: ruleName, "the response would be saved")
                return .forward
            }
            let names = MirrorNames(exchange.url)
            directory = rule.name.path(to: names.directories)
            // Map-local ignores queries, so it never looks for a name with a query.
            let description: MirrorFile.Description
            (description, remark) = Handler.describe(head, exchange.url.query == nil ? names.file : nil)
            let file = MirrorFile(root: rule.path, names: names, description: description)
            self.file = file
            let place = directory.path(to: [names.file])
            return work(orNote: "not saved as \(place)") {
                try file.open()
                return nil
            }
        }

        func responsePart(_ part: ByteBuffer, _ exchange: inout StageExchange) -> Verdict {
            guard let file, !file.isOver else { return .forward }
            return work(orNote: "not saved after all") {
                try file.write(part)
                return nil
            }
        }

        func responseEnd(_ exchange: inout StageExchange) -> Verdict {
            guard let file, !file.isOver else { return .forward }
            hasEnded = true
            return work(orNote: "not saved after all") { [directory, remark] in
                guard let saved = try file.place() else { return nil }
                let words = saved.excess.map { " (with its content coding, as it was received: \($0))" }
                return "saved as \(directory.path(to: [saved.name]))\(words ?? remark)"
            }
        }

        /// Blocking work that returns a text for the trace, if any; an error becomes a note.
        private func work(orNote failure: String, _ body: @escaping @Sendable () throws -> String?) -> Verdict {
            .work { [ruleName] in
                do {
                    return WorkOutcome(.forward, trace: try body().map { [Mirror.fired(ruleName, $0)] } ?? [])
                } catch {
                    return WorkOutcome(.forward, trace: [Mirror.note(ruleName, "\(failure): \(error)")])
                }
            }
        }

        func ended(isComplete: Bool, _ exchange: inout StageExchange) -> (any BlockingWork)? {
            guard let file, !hasEnded, !file.isOver else { return nil }
            exchange.note("\(ruleName): not saved, because the response was incomplete")
            return Work {
                file.discard()
                return WorkOutcome(.forward)
            }
        }

        /// What to do with the body, and a remark about it in parentheses. `name` is the file name from which map-local
        /// will derive the type; `nil` if map-local will not look for the file.
        private static func describe(_ head: ResponseHead, _ name: String?) -> (MirrorFile.Description, String) {
            var lines = ""
            if let name, let type = head.fields.value(of: .contentType), type.utf8.count < 1_000,
                !MediaTypes.tells(name, type)
            {
                lines = "Content-Type: \(type)\n"
            }
            let codings = head.fields.values(of: .contentEncoding).flatMap { ContentCoding.list($0) }
            let names = codings.map(\.description).joined(separator: ", ")
            guard codings.allSatisfy({ if case .other = $0 { false } else { true } }) else {
                lines += MirrorFile.Description.line(of: codings)
                let remark = " (with its content coding, \(names), which Sluice cannot remove)"
                return (MirrorFile.Description(sidecar: lines), remark)
            }
            let remark = codings.isEmpty ? "" : " (without its content coding, \(names))"
            return (MirrorFile.Description(codings: codings, sidecar: lines.isEmpty ? nil : lines), remark)
        }
    }
}

extension Mirror {
    static let descriptor = ToolDescriptor(
        "mirror",
        order: 800,
        title: "Mirror",
        letter: "i",
        directions: [.response],
        noun: "a mirror rule",
        summary:
            "Saves the bodies of servers' successful responses to GET as files, by host and path; not the answers of map-local "
            + "answers.",
        scope: .only,
        conditions: .response,
        keys: [
            GrammarKey("to", .path, example: "mirrored/").means(
                "The directory for the files, as HOST/PATH, or HOST_PORT/PATH for a port that is not the default; "
                    + "it is created if it is missing."
            )
        ],
        example: "mirror: { to: mirrored/, only: [ \"https://*.example.com/*\" ] }"
    )

    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        method == "GET" && rule.heading.scope.matches(method: method, url: url)
    }

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member("to", .text("mirrored/")), Node.Member("only", place)]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        guard let node = reader.required(fields, "to", descriptor.noun), let name = reader.text(node, "to"),
            let path = reader.path(node, "to")
        else { return nil }
        if let problem = FileStatus.obstacle(toDirectory: path) { reader.lint(problem, at: node) }
        var heading = heading
        heading.action = "save responses to \(name)"
        return Rule(heading: heading, path: path, name: name)
    }
}

extension Tool { package static let mirror = Tool(Mirror.self) }

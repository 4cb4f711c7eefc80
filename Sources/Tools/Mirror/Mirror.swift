import Content
import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Mirror: saves what servers answer as files, while the client receives it.
///
/// Saved are the responses to GET with a status from 200 to 299, but not parts (206): an error page or a redirect does
/// not take the place of a file. What map-local answers is not saved. Names go by the URL as the client sent it, also
/// where another one was asked; contents are as earlier tools, rewrite for one, have left them. Each part of the body is written before the client
/// gets it, so nothing is gathered in memory. The content coding is removed in the file only; the client gets what the
/// server sent.
struct Mirror: FirstRuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// Where the files go.
        let path: String
        /// The same as the profile says it.
        let name: String
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        guard opening.head.method == "GET" else { return nil }
        return rules.first(opening).map { handler(for: opening, by: $0) }
    }

    func handler(for opening: ExchangeOpening, by match: RuleMatch<Rule>) -> any StageHandler {
        MirrorHandler(match.rule)
    }
}

/// Saves one response.
final class MirrorHandler: StageHandler {
    private let rule: Mirror.Rule
    private var file: MirrorFile?

    init(_ rule: Mirror.Rule) {
        self.rule = rule
    }

    var responseDemand: BodyDemand { file == nil ? .none : .observe }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        guard (200..<300).contains(head.status), head.status != 206 else { return .forward }
        if exchange.isAnswered {
            exchange.note("\(rule.heading.name): \(MirrorHandler.isNoServers)")
            return .forward
        }
        let names = MirrorNames(exchange.url)
        let place =
            rule.name + (rule.name.hasSuffix("/") ? "" : "/")
            + (names.directories + [names.file]).joined(separator: "/")
        // A name with a query is one that map-local never looks for.
        let (description, remark) = MirrorHandler.describe(head, exchange.url.query == nil ? names.file : nil)
        let file = MirrorFile(root: rule.path, names: names, description: description)
        self.file = file
        return .perform(Opening(file: file, rule: rule.heading.name, place: place, remark: remark))
    }

    /// Why the answer of another tool is left alone.
    static let isNoServers = "not saved, since the answer is no server's"

    func responsePart(_ part: inout ByteBuffer, _ exchange: inout StageExchange) -> Verdict {
        guard let file, !file.isOver else { return .forward }
        return .perform(Writing(file: file, rule: rule.heading.name, bytes: part))
    }

    func ended(isComplete: Bool) -> (any BlockingWork)? {
        file.map { Ending(file: $0, isComplete: isComplete) }
    }

    /// What has to be known about the file, and what the trace says of its content coding.
    ///
    /// - Parameters:
    ///   - head: the response's head.
    ///   - name: the name by which map-local will know the file's type; `nil` where it will not be asked for it.
    /// - Returns: what to do with the body, and a remark in parentheses.
    private static func describe(_ head: ResponseHead, _ name: String?) -> (MirrorFile.Description, remark: String) {
        var description = MirrorFile.Description()
        var remark = ""
        var lines = ""
        if let name, let type = head.fields.value(of: .contentType), type.utf8.count < 1_000,
            !MediaTypes.tells(name, type)
        {
            lines += "Content-Type: \(type)\n"
        }
        let codings = head.fields.values(of: .contentEncoding).flatMap { ContentCoding.list($0) }
        let names = codings.map(\.description).joined(separator: ", ")
        let isKnown = codings.allSatisfy { if case .other = $0 { false } else { true } }
        if isKnown {
            description.codings = codings
            if !codings.isEmpty { remark = " (without its content coding, \(names))" }
        } else {
            lines += "Content-Encoding: \(names)\n"
            remark = " (with its content coding, \(names), which Sluice cannot remove)"
        }
        description.sidecar = lines.isEmpty ? nil : lines
        return (description, remark)
    }

    // MARK: - What is done on another thread

    private struct Opening: BlockingWork {
        let file: MirrorFile
        let rule: String
        let place: String
        let remark: String

        func run() -> WorkOutcome {
            do throws(SystemError) {
                try file.open()
                return WorkOutcome(.forward, trace: [fired(rule, "saved as \(place)\(remark)")])
            } catch {
                return WorkOutcome(.forward, trace: [note(rule, "not saved as \(place): \(error)")])
            }
        }
    }

    private struct Writing: BlockingWork {
        let file: MirrorFile
        let rule: String
        let bytes: ByteBuffer

        func run() -> WorkOutcome {
            do throws(MirrorFile.Interruption) {
                try file.write(bytes)
                return WorkOutcome(.forward)
            } catch {
                return WorkOutcome(.forward, trace: [note(rule, "not saved after all: \(error)")])
            }
        }
    }

    private struct Ending: BlockingWork {
        let file: MirrorFile
        let isComplete: Bool

        func run() -> WorkOutcome {
            do throws(MirrorFile.Interruption) {
                if isComplete { try file.place() } else { file.discard() }
                return WorkOutcome(.forward)
            } catch {
                return WorkOutcome(.fail(ExchangeFailure(.aborted, "The mirror could not save a file: \(error).")))
            }
        }
    }

    private static func fired(_ rule: String, _ text: String) -> TraceEntry {
        TraceEntry(stage: Mirror.descriptor.key, rule: rule, outcome: .fired, text: text)
    }

    /// A note is no rule's doing, so it has the rule's name in its text.
    private static func note(_ rule: String, _ text: String) -> TraceEntry {
        TraceEntry(stage: Mirror.descriptor.key, outcome: .note, text: "\(rule): \(text)")
    }
}

extension Mirror {
    static let descriptor = ToolDescriptor(
        "mirror",
        order: 800,
        title: "Mirror",
        letter: "i",
        alone: [],
        directions: [.response],
        takesTunnels: false,
        noun: "a mirror rule",
        summary:
            "Saves the bodies of servers' successful responses to GET as files, by host and path; not what map-local "
            + "answers.",
        scope: .only,
        selection: .first,
        keys: [
            GrammarKey(
                "to",
                .path,
                "The directory in which the files go, as HOST/PATH, or HOST_PORT/PATH for a port that is not the usual one; "
                    + "it is made where it is missing.",
                example: "to: mirrored/"
            )
        ],
        example: "mirror: { to: mirrored/, only: [ \"https://*.example.com/*\" ] }"
    )

    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        method == "GET" && rule.heading.scope.matches(method: method, url: url)
    }

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
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

extension Mirror {
    /// Says what it would do.
    var rehearsed: any Stage { Rehearsal(rules: rules) }

    private struct Rehearsal: Stage {
        let rules: RuleList<Rule>
        let id = Mirror.descriptor.id

        func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
            rules.first(opening).map { Handler(rule: $0.rule.heading.name) }
        }

        private final class Handler: StageHandler {
            private let rule: String

            init(rule: String) {
                self.rule = rule
            }

            func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
                if exchange.isAnswered {
                    exchange.note("\(rule): \(MirrorHandler.isNoServers)")
                } else {
                    exchange.fired(rule: rule, "the response would be saved")
                }
                return .forward
            }
        }
    }
}

extension Tool {
    package static let mirror = Tool(Mirror.self)
}

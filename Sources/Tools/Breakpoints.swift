import ExchangeCore
import HTTPModel
import NIOCore
package import Rules
import Text

/// Breakpoints: matching messages are held until the user decides about them, or until a limit.
///
/// The whole message is held, so that its body can be edited. If the body is a stream or too large, or if the protocol
/// changes, only the head is held, and the trace says so. For each direction the first matching rule with that
/// direction holds the message.
struct Breakpoints: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let directions: Set<FlowDirection>
        let limit: HoldLimit?
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let found = rules.matches(opening)
        return found.isEmpty ? nil : Handler(found)
    }

    static func directions(of rule: Rule) -> Set<FlowDirection> { rule.directions }

    private final class Handler: StageHandler {
        private let found: [RuleMatch<Rule>]
        private(set) var requestDemand = BodyDemand.none
        private(set) var responseDemand = BodyDemand.none

        init(_ found: [RuleMatch<Rule>]) { self.found = found }

        /// The rule that holds messages of a direction.
        private func rule(_ direction: FlowDirection) -> Rule? {
            found.first { $0.rule.directions.contains(direction) && $0.holds }?.rule
        }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            // RFC 9110 §7.8.
            let upgrade = head.fields.contains(.upgrade) ? "it asks for a different protocol" : nil
            return begin(.request, upgrade ?? stream(head.fields, .request), &requestDemand, &exchange)
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            let upgrade = head.status == 101 ? "a different protocol follows" : nil
            return begin(.response, upgrade ?? stream(head.fields, .response), &responseDemand, &exchange)
        }

        func whole(
            _ direction: FlowDirection,
            _ fields: inout FieldSection,
            _ body: inout ByteBuffer,
            _ exchange: inout StageExchange
        ) -> Verdict { hold(direction, &exchange) }

        func overflowed(
            _ direction: FlowDirection,
            _ fields: inout FieldSection,
            _ exchange: inout StageExchange
        ) -> Verdict {
            if direction == .request { requestDemand = .none } else { responseDemand = .none }
            let tooLarge = "its body is over \(BodyLimits.held >> 20) MiB"
            let reason = exchange.lacksRoom ? "the memory for held bodies is full" : tooLarge
            return hold(direction, headSince: reason, &exchange)
        }

        private func stream(_ fields: FieldSection, _ direction: FlowDirection) -> String? {
            LiveStream.kind(fields, direction).map { "its body is a stream (\($0))" }
        }

        /// Requests the body, or holds the head if there is a reason not to wait for the body.
        private func begin(
            _ direction: FlowDirection,
            _ reason: String?,
            _ demand: inout BodyDemand,
            _ exchange: inout StageExchange
        ) -> Verdict {
            guard rule(direction) != nil else { return .forward }
            if let reason { return hold(direction, headSince: reason, &exchange) }
            demand = .whole(limit: BodyLimits.held, decoded: false)
            return .forward
        }

        private func hold(
            _ direction: FlowDirection,
            headSince reason: String? = nil,
            _ exchange: inout StageExchange
        ) -> Verdict {
            guard let rule = rule(direction) else { return .forward }
            let what = reason.map { "the head of the \(direction), since \($0)" } ?? "the \(direction)"
            exchange.fired(rule: rule.heading.name, "held \(what)")
            return .pause(.decision(rule.limit))
        }
    }
}

extension Breakpoints {
    static let descriptor = ToolDescriptor(
        "breakpoints",
        order: 900,
        title: "Breakpoints",
        letter: "k",
        alone: [.panel],
        noun: "a breakpoint",
        summary: "Holds matching messages until you execute, edit or abort them.",
        forAgents: .any,
        scope: .at,
        selection: .all,
        conditions: [.bodies, .response],
        keys: [
            GrammarKey("on", .directions, example: "[request, response]")
                .means("The messages to hold; with both, an exchange is held twice."),
            GrammarKey("after", .duration, example: "30s", fallback: "no limit")
                .means("How long a message waits for a decision; needs 'then'."),
            GrammarKey("then", .choice(["execute", "cancel", "abort"]), example: "cancel")
                .means("What happens after that time: the message is sent, or the connection is closed."),
        ],
        example:
            "breakpoints: { at: \"https://api.example.com/login\", method: POST, on: request, after: 30s, then: cancel }",
        usualScope: .path,
        onEverything: RuleText("name: everything\nat: \"*\"\non: [request, response]")
    )

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member("at", place)]
            + (source.record.method.isToken ? [Node.Member("method", .text(source.record.method))] : [])
            + [Node.Member("on", .list([.word("request"), .word("response")]))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let limit = limit(fields, &reader)
        guard let node = reader.required(fields, "on", descriptor.noun) else { return nil }
        let directions = Set(reader.directions(node, "on").map(\.direction))
        if node.sequence?.isEmpty == true {
            reader.error("'on' is empty, so nothing would be held: request, response or both", at: node)
        }
        var heading = heading
        let what = [FlowDirection.request, .response].filter(directions.contains).map { "\($0)" }
        heading.action = "hold the \(what.joined(separator: " and the "))" + (limit?.words ?? "")
        return Rule(heading: heading, directions: directions, limit: limit?.0)
    }

    private static func limit(_ fields: ProfileFields, _ reader: inout ProfileReader) -> (HoldLimit, words: String)? {
        guard let after = fields["after"], let then = fields["then"] else {
            if let after = fields["after"] { reader.error("'after' needs 'then': execute, cancel or abort", at: after) }
            if let then = fields["then"] { reader.error("'then' needs 'after', a time such as 30s", at: then) }
            return nil
        }
        let time = reader.duration(after, "after")
        let resolutions = [("execute", HoldResolution.execute(nil)), ("cancel", .cancel), ("abort", .abort)]
        guard let resolution = reader.choice(then, "then", resolutions), let time else { return nil }
        if time <= .zero { reader.error("'after' must be longer than 0", at: after) }
        let words = [after, then].compactMap(\.scalar?.string)
        return (HoldLimit(after: time, resolution: resolution), "; after " + words.joined(separator: " "))
    }
}

extension Tool { package static let breakpoints = Tool(Breakpoints.self) }

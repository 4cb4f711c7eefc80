import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// Breakpoints: matching messages are held until somebody decides about them, or until a limit.
///
/// A message is held whole, so that its body can be edited; of a stream, of what asks for another protocol and of a body
/// that is too large only the head is held, and the trace says so. The first rule that matches and is for a direction
/// holds the message of that direction.
struct Breakpoints: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let directions: Set<FlowDirection>
        let limit: HoldLimit?
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let found = rules.matches(opening).map(\.rule)
        guard !found.isEmpty else { return nil }
        return Handler(
            request: found.first { $0.directions.contains(.request) },
            response: found.first { $0.directions.contains(.response) }
        )
    }

    private final class Handler: StageHandler {
        private let request: Rule?
        private let response: Rule?
        private(set) var requestDemand = BodyDemand.none
        private(set) var responseDemand = BodyDemand.none

        /// Larger bodies are not held.
        private static let bodyLimit = 8 << 20
        private static let whole = BodyDemand.whole(limit: bodyLimit, decoded: false)

        init(request: Rule?, response: Rule?) {
            self.request = request
            self.response = response
        }

        func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            guard let request else { return .forward }
            if LiveStream.asksForUpgrade(head) {
                return hold(request, "the head of the request, since it asks for another protocol", &exchange)
            }
            if let kind = LiveStream.kind(head.fields, .request) {
                return hold(request, "the head of the request, since its body is a stream (\(kind))", &exchange)
            }
            requestDemand = Handler.whole
            return .forward
        }

        func requestWhole(
            _ head: inout RequestHead,
            _ body: inout ByteBuffer,
            _ exchange: inout StageExchange
        ) -> Verdict {
            request.map { hold($0, "the request", &exchange) } ?? .forward
        }

        func requestOverflowed(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
            requestDemand = .none
            return request.map { hold($0, "the head of the request, since \(reason(exchange))", &exchange) } ?? .forward
        }

        func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            guard let response else { return .forward }
            if head.status == 101 {
                return hold(response, "the head of the response, since another protocol follows", &exchange)
            }
            if let kind = LiveStream.kind(head.fields, .response) {
                return hold(response, "the head of the response, since its body is a stream (\(kind))", &exchange)
            }
            responseDemand = Handler.whole
            return .forward
        }

        func responseWhole(
            _ head: inout ResponseHead,
            _ body: inout ByteBuffer,
            _ exchange: inout StageExchange
        ) -> Verdict {
            response.map { hold($0, "the response", &exchange) } ?? .forward
        }

        func responseOverflowed(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
            responseDemand = .none
            return response.map { hold($0, "the head of the response, since \(reason(exchange))", &exchange) }
                ?? .forward
        }

        /// Why a body is not held.
        private func reason(_ exchange: StageExchange) -> String {
            exchange.lacksRoom
                ? "other bodies take all the room that there is for held ones"
                : "its body is larger than \(Handler.bodyLimit >> 20) MiB"
        }

        private func hold(_ rule: Rule, _ what: String, _ exchange: inout StageExchange) -> Verdict {
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
        directions: [.request, .response],
        takesTunnels: false,
        noun: "a breakpoint",
        summary: "Holds matching messages until somebody edits them, lets them go on, or aborts them.",
        scope: .at,
        selection: .all,
        keys: [
            GrammarKey(
                "on",
                .list(.choice(["request", "response"])),
                "The messages that are held; with both, an exchange is held twice.",
                example: "on: [request, response]"
            ),
            GrammarKey(
                "after",
                .duration,
                "How long a message waits for a decision; goes with 'then'.",
                example: "after: 30s",
                fallback: "as long as it takes"
            ),
            GrammarKey(
                "then",
                .choice(["execute", "cancel", "abort"]),
                "What happens to a message that nobody decided about in time: it goes on, or the client is cut off.",
                example: "then: cancel"
            ),
        ],
        example:
            "breakpoints: { at: \"https://api.example.com/login\", method: POST, on: request, after: 30s, then: cancel }",
        usualBreadth: .path
    )

    static func draft(from record: ExchangeRecord, _ breadth: ExchangeBreadth, at place: Node) -> [Node.Member] {
        let isMethod = !record.method.isEmpty && record.method.utf8.allSatisfy(ProfileReader.isTokenByte)
        return [Node.Member("at", place)] + (isMethod ? [Node.Member("method", .text(record.method))] : [])
            + [Node.Member("on", .list([.word("request"), .word("response")]))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let limit = limit(fields, &reader)
        guard let node = reader.required(fields, "on", descriptor.noun) else { return nil }
        let choices: [(String, FlowDirection)] = [("request", .request), ("response", .response)]
        let directions = reader.list(node).compactMap { reader.choice($0, "on", choices) }
        if node.sequence?.isEmpty == true {
            reader.error("'on' is empty, so nothing would be held: request, response or both", at: node)
        }
        var heading = heading
        let what = [FlowDirection.request, .response].filter(directions.contains).map { "\($0)" }
        heading.action = "hold the \(what.joined(separator: " and the "))" + (limit?.words ?? "")
        return Rule(heading: heading, directions: Set(directions), limit: limit?.limit)
    }

    private static func limit(
        _ fields: ProfileFields,
        _ reader: inout ProfileReader
    ) -> (limit: HoldLimit, words: String)? {
        let resolutions: [(String, HoldResolution)] = [
            ("execute", .execute(nil)), ("cancel", .cancel), ("abort", .abort),
        ]
        switch (fields["after"], fields["then"]) {
        case (nil, nil): return nil
        case (let after?, nil):
            reader.error("'after' needs 'then': execute, cancel or abort", at: after)
            return nil
        case (nil, let then?):
            reader.error("'then' needs 'after', a time such as 30s", at: then)
            return nil
        case (let after?, let then?):
            let time = reader.duration(after, "after")
            let resolution = reader.choice(then, "then", resolutions)
            guard let time, let resolution else { return nil }
            if time <= .zero { reader.error("'after' must be longer than nothing", at: after) }
            let words = [after, then].compactMap(\.scalar?.string)
            return (HoldLimit(after: time, resolution: resolution), "; after " + words.joined(separator: " "))
        }
    }
}

extension Tool {
    package static let breakpoints = Tool(Breakpoints.self)
}

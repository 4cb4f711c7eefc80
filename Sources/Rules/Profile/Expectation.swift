import ExchangeCore
import HTTPModel
import NIOCore

/// A profile's own test: given a request, and what a server would answer to it, what the tools do.
package struct Expectation: Sendable {
    /// What it is called: the name it was given, else its request.
    package let name: String
    package let place: ProfilePlace
    package let request: RehearsedRequest
    package let response: RehearsedResponse

    let checks: [Check]

    /// One thing that is expected.
    enum Check: Sendable {
        /// Exactly these tools or rules fire, in this order.
        case fires([FiredName])
        case sendsNothing
        case sends(MessageTest)
        case answers(MessageTest)
        /// Whether a list refuses the request.
        case isBlocked(Bool)
        /// Whether the exchange ends as though the network had failed.
        case fails(Bool)
        /// These messages are held at a breakpoint.
        case isHeld(Set<FlowDirection>)
    }

    /// What is expected of a message; `nil` and empty for what does not matter.
    struct MessageTest: Sendable {
        var method: String?
        var url: ValueTest?
        var address: ValueTest?
        var status: StatusTest?
        var fields: [(name: String, value: ValueTest)] = []
        var body: ValueTest?
    }
}

/// A tool, or one of its rules.
struct FiredName: Sendable, Hashable, CustomStringConvertible {
    let tool: StageID
    /// `nil` for any rule of the tool.
    let rule: String?

    var description: String { tool.name + (rule.map { "/\($0)" } ?? "") }
}

/// What is expected of a text.
package enum ValueTest: Sendable, CustomStringConvertible {
    /// It is not there.
    case absent
    case text(String)
    /// It has this in it: a regular expression, and how it was written.
    case expression(TextPattern, source: String)

    package func passes(_ values: [String]) -> Bool {
        switch self {
        case .absent: values.isEmpty
        case .text(let text): values.contains(text)
        case .expression(let pattern, _): values.contains { (try? pattern.matches($0)) ?? false }
        }
    }

    package var description: String {
        switch self {
        case .absent: "absent"
        case .text(let text): text
        case .expression(_, let source): source
        }
    }
}

/// What is expected of a status code: one code, or a class such as `2xx`.
package struct StatusTest: Sendable, Hashable, CustomStringConvertible {
    private let codes: ClosedRange<Int>

    /// Reads `200` or `2xx`; `nil` for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 3, let digit = text.first?.wholeNumberValue, (1...9).contains(digit) else {
            return nil
        }
        if text.dropFirst() == "xx" {
            codes = (digit * 100)...(digit * 100 + 99)
        } else if let code = Int(text) {
            codes = code...code
        } else {
            return nil
        }
    }

    package func passes(_ status: Int) -> Bool { codes.contains(status) }

    package var description: String {
        codes.count == 1 ? String(codes.lowerBound) : "\(codes.lowerBound / 100)xx"
    }
}

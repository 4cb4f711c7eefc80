import ExchangeCore
import HTTPModel

/// A profile's own test: what the tools do, given a request and the server's answer to it.
package struct Expectation: Sendable {
    /// The name in the profile; by default the request.
    package let name: String
    package let place: ProfilePlace
    package let request: DryRunRequest
    package let response: DryRunResponse

    let checks: [Check]

    enum Check: Sendable {
        /// Exactly these tools or rules fire, in this order.
        case fires([FiredName])
        case sendsNothing
        case sends(MessageTest)
        case answers(MessageTest)
        /// Whether a list refuses the request.
        case isBlocked(Bool)
        /// Whether the exchange fails like a network failure.
        case fails(Bool)
        /// These messages are held at a breakpoint.
        case isHeld(Set<FlowDirection>)
    }

    /// What is expected of a message; `nil` or empty if any value passes.
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

enum ValueTest: Sendable, CustomStringConvertible {
    case absent
    case text(String)
    /// A regular expression that must match a part of the value.
    case expression(TextPattern)

    func passes(_ values: [String]) -> Bool {
        switch self {
        case .absent: values.isEmpty
        case .text(let text): values.contains(text)
        case .expression(let pattern): values.contains { (try? pattern.matches($0)) ?? false }
        }
    }

    var description: String {
        switch self {
        case .absent: "absent"
        case .text(let text): text
        case .expression(let pattern): pattern.text
        }
    }
}

/// What is expected of a status code: one code, or a class such as `2xx`.
package struct StatusTest: Sendable, Hashable, CustomStringConvertible {
    private let codes: ClosedRange<Int>

    /// `nil` for anything else.
    package init?(_ text: String) {
        let (first, last) = (text.replacing("xx", with: "00"), text.replacing("xx", with: "99"))
        guard text.utf8.count == 3, let first = Int(first), let last = Int(last), first >= 100 else { return nil }
        codes = first...last
    }

    package func passes(_ status: Int) -> Bool { codes.contains(status) }

    package var description: String { codes.count == 1 ? String(codes.lowerBound) : "\(codes.lowerBound / 100)xx" }
}

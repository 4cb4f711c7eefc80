import ExchangeCore
import HTTPModel
import Rules

/// Edits the fields of every head of an exchange.
final class FieldsHandler: StageHandler {
    enum Head: Equatable {
        case request, response
        case interim(status: Int)
    }

    private let rule: String
    /// Returns what it changed, for the trace.
    private let edit: (Head, inout FieldSection) -> String?

    init(_ rule: String, _ edit: @escaping (Head, inout FieldSection) -> String?) {
        self.rule = rule
        self.edit = edit
    }

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        apply(.request, &head.fields, &exchange)
    }

    func interimHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) {
        _ = apply(.interim(status: head.status), &head.fields, &exchange)
    }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        apply(.response, &head.fields, &exchange)
    }

    private func apply(_ head: Head, _ fields: inout FieldSection, _ exchange: inout StageExchange) -> Verdict {
        if let change = edit(head, &fields) { exchange.fired(rule: rule, change) }
        return .forward
    }
}

/// Work that may block its thread, as a closure.
struct Work: BlockingWork {
    let body: @Sendable () -> WorkOutcome

    func run() -> WorkOutcome { body() }
}

extension Verdict {
    static func work(_ body: @escaping @Sendable () -> WorkOutcome) -> Verdict { .perform(Work(body: body)) }
}

extension RuleTool {
    static func fired(_ rule: String, _ text: String) -> TraceEntry {
        TraceEntry(stage: descriptor.key, rule: rule, outcome: .fired, text: text)
    }

    /// A note has no field for the rule, so its text begins with the rule's name.
    static func note(_ rule: String, _ text: String) -> TraceEntry {
        TraceEntry(stage: descriptor.key, outcome: .note, text: "\(rule): \(text)")
    }
}

extension String {
    /// The path of a file below a directory.
    func path(to names: [String]) -> String {
        let rest = names.joined(separator: "/")
        return self + (hasSuffix("/") || rest.isEmpty ? "" : "/") + rest
    }
}

package import ExchangeCore
import Synchronization

/// An edit of a rule that changed nothing, and why.
package struct MissedEdit: Sendable {
    /// The name in traces: the rule and the edit's number, `small pages #2`.
    package let rule: String
    package let direction: FlowDirection
    package var reason: String
}

/// Collects why edits changed nothing in a dry run; there is no collection for clients' exchanges.
package final class MissedEdits: Sendable {
    /// The collection of the current dry run.
    @TaskLocal package static var current: MissedEdits?

    private let edits = Mutex<[MissedEdit]>([])

    package func add(_ rule: String, _ direction: FlowDirection, _ reason: String) {
        edits.withLock { $0.append(MissedEdit(rule: rule, direction: direction, reason: reason)) }
    }

    /// Collects edits without an effect while `body` runs.
    package static func gather<Result>(_ body: () throws -> Result) rethrows -> (Result, [MissedEdit]) {
        let gathered = MissedEdits()
        let result = try $current.withValue(gathered, operation: body)
        return (result, gathered.edits.withLock { $0 })
    }
}

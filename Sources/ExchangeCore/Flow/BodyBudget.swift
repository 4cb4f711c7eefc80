import Synchronization

/// How many bytes of bodies may be gathered or held at a time, over all exchanges that share it.
///
/// Each body has a limit of its own; this one is for many of them.
package final class BodyBudget: Sendable {
    package let limit: Int
    private let used = Atomic(0)

    /// The budget of all exchanges of this process: 256 MiB.
    package static let shared = BodyBudget(limit: 256 << 20)

    package init(limit: Int) { self.limit = limit }

    /// How many bytes are taken at present.
    package var bytesInUse: Int { used.load(ordering: .relaxed) }

    fileprivate func take(_ count: Int) -> Bool {
        guard used.wrappingAdd(count, ordering: .relaxed).newValue > limit else { return true }
        give(count)
        return false
    }

    fileprivate func give(_ count: Int) { used.wrappingSubtract(count, ordering: .relaxed) }
}

/// What one body takes of a budget; given back when nobody has it any more.
package final class BodyShare {
    private let budget: BodyBudget
    private var count = 0

    package init(of budget: BodyBudget) { self.budget = budget }

    deinit { budget.give(count) }

    /// Takes more; `false` where the budget does not have that much left.
    package func grow(by more: Int) -> Bool {
        guard budget.take(more) else { return false }
        count += more
        return true
    }
}

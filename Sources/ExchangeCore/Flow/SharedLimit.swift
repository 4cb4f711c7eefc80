import Synchronization

/// A client for limits that clients share: a process of this machine if it is known, otherwise an address.
package enum ClientKey: Sendable, Hashable {
    case process(Int32)
    /// The bytes of an address, or of its prefix if one client may have all addresses with that prefix.
    case address([UInt8])
    case unknown
}

/// A limit that clients share; one client gets at most seven eighths of it, so that there is room for others.
package struct SharedLimit: Sendable {
    package let total: Int
    package let perClient: Int
    package private(set) var used = 0
    private var usedByClient: [ClientKey: Int] = [:]

    package init(total: Int) {
        self.total = total
        perClient = total - total / 8
    }

    /// Whether a client may use `count` more.
    package func hasRoom(for client: ClientKey, count: Int = 1) -> Bool {
        count <= total - used && count <= perClient - usedByClient[client, default: 0]
    }

    /// Uses `count` more; `false` if the client may not.
    package mutating func take(_ count: Int = 1, for client: ClientKey) -> Bool {
        guard hasRoom(for: client, count: count) else { return false }
        add(count, for: client)
        return true
    }

    /// Counts beyond the limit if necessary.
    package mutating func add(_ count: Int = 1, for client: ClientKey) {
        used += count
        usedByClient[client, default: 0] += count
    }

    package mutating func give(_ count: Int = 1, from client: ClientKey) {
        used -= count
        let left = usedByClient[client, default: 0] - count
        usedByClient[client] = left > 0 ? left : nil
    }
}

/// A limit of bytes in memory, over all exchanges of all clients.
package final class ByteBudget: Sendable {
    fileprivate let limit: Mutex<SharedLimit>
    package let total: Int
    package let perClient: Int

    /// For bodies that are gathered or held: 256 MiB.
    package static let bodies = ByteBudget(limit: 256 << 20)
    /// For heads and trailers of running exchanges: 256 MiB.
    package static let heads = ByteBudget(limit: 256 << 20)

    package init(limit: Int) {
        let shared = SharedLimit(total: limit)
        (total, perClient) = (shared.total, shared.perClient)
        self.limit = Mutex(shared)
    }

    /// For tests.
    package var bytesInUse: Int { limit.withLock { $0.used } }
}

/// The part of a budget that one holder, such as a body, uses; `deinit` returns it.
package final class ByteShare {
    private let budget: ByteBudget
    private let client: ClientKey
    package private(set) var count = 0

    package init(of budget: ByteBudget, for client: ClientKey) {
        self.budget = budget
        self.client = client
    }

    deinit { if count > 0 { budget.limit.withLock { $0.give(count, from: client) } } }

    /// Uses more; `false` if too little of the budget, or of the client's part of it, is left.
    package func grow(by more: Int) -> Bool {
        guard budget.limit.withLock({ $0.take(more, for: client) }) else { return false }
        count += more
        return true
    }
}

import ExchangeCore

/// The running and waiting look-ups of names, and their waiters. A look-up cannot be interrupted, so awaited look-ups
/// have one limit, and all running ones another. Each client has a share of each limit, so a name is looked up once for
/// each client; clients take turns.
struct NameLookUps<Name: Hashable & Sendable, Waiter> {
    struct Key: Hashable {
        let name: Name
        let client: ClientKey
    }

    private struct LookUp {
        var waiters: [Int: Waiter] = [:]
        /// Its place in the queue; `nil` once it runs.
        var ticket: FairQueue<Key>.Ticket?
    }

    private var lookUps: [Key: LookUp] = [:]
    private var queue = FairQueue<Key>()
    private var waiting: SharedLimit
    /// All running look-ups, and those that a waiter still awaits.
    private var running: SharedLimit
    private var awaited: SharedLimit
    private var lastWaiter = 0

    /// `limit` is for awaited look-ups, `threadLimit` for all running ones, `queueLimit` for waiting ones.
    init(limit: Int, threadLimit: Int, queueLimit: Int) {
        awaited = SharedLimit(total: limit)
        running = SharedLimit(total: threadLimit)
        waiting = SharedLimit(total: queueLimit)
    }

    /// Returns the number to remove the waiter by; `nil` if too many names wait.
    mutating func add(_ waiter: Waiter, for key: Key) -> Int? {
        if lookUps[key] == nil {
            guard waiting.take(for: key.client) else { return nil }
            lookUps[key] = LookUp(ticket: queue.append(key, for: key.client))
        }
        lastWaiter += 1
        // A running look-up that is awaited again counts even beyond the limit.
        if let known = lookUps[key], known.ticket == nil, known.waiters.isEmpty { awaited.add(for: key.client) }
        lookUps[key]?.waiters[lastWaiter] = waiter
        return lastWaiter
    }

    /// Removes a waiter; `nil` if its name was looked up already.
    mutating func remove(_ number: Int, for key: Key) -> Waiter? {
        guard let waiter = lookUps[key]?.waiters.removeValue(forKey: number) else { return nil }
        guard let known = lookUps[key], known.waiters.isEmpty else { return waiter }
        if let ticket = known.ticket {
            lookUps[key] = nil
            queue.remove(ticket)
            waiting.give(from: key.client)
        } else {
            awaited.give(from: key.client)
        }
        return waiter
    }

    mutating func next() -> Key? {
        let (running, awaited) = (running, awaited)
        guard let key = queue.popFirst(where: { running.hasRoom(for: $0) && awaited.hasRoom(for: $0) }) else {
            return nil
        }
        lookUps[key]?.ticket = nil
        waiting.give(from: key.client)
        self.running.add(for: key.client)
        self.awaited.add(for: key.client)
        return key
    }

    mutating func finished(_ key: Key) -> [Waiter] {
        guard let known = lookUps.removeValue(forKey: key) else { return [] }
        running.give(from: key.client)
        if !known.waiters.isEmpty { awaited.give(from: key.client) }
        return Array(known.waiters.values)
    }
}

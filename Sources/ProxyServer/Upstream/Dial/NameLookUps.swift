import ExchangeCore

/// The names that are being looked up, or wait for their turn, and who waits for them.
///
/// The system's resolver cannot be interrupted: a look-up that nobody waits for any more goes on for as long as the name
/// server does not answer. So there is a limit for those that somebody waits for, and another one for all. Of each limit one
/// client has a part, so a name that two clients want is looked up for both; those that wait take turns by client.
struct NameLookUps<Name: Hashable & Sendable, Waiter> {
    /// One name of one client.
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
    /// The names that wait for their turn.
    private var waiting: SharedLimit
    /// The names that are looked up, and those of them that somebody waits for.
    private var running: SharedLimit
    private var awaited: SharedLimit
    private var lastWaiter = 0

    /// At most `limit` names that somebody waits for are looked up at a time, `threadLimit` in all, and `queueLimit` may wait
    /// for their turn.
    init(limit: Int, threadLimit: Int, queueLimit: Int) {
        awaited = SharedLimit(total: limit)
        running = SharedLimit(total: threadLimit)
        waiting = SharedLimit(total: queueLimit)
    }

    /// Adds a waiter for a name; returns the number to remove it by, `nil` if too many names wait already.
    mutating func add(_ waiter: Waiter, for key: Key) -> Int? {
        if lookUps[key] == nil {
            guard waiting.take(for: key.client) else { return nil }
            lookUps[key] = LookUp(ticket: queue.append(key, for: key.client))
        }
        lastWaiter += 1
        // It runs already, so this is beyond the limit if need be.
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

    /// The next name to be looked up, if there may be another.
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

    /// A name was looked up; returns its waiters.
    mutating func finished(_ key: Key) -> [Waiter] {
        guard let known = lookUps.removeValue(forKey: key) else { return [] }
        running.give(from: key.client)
        if !known.waiters.isEmpty { awaited.give(from: key.client) }
        return Array(known.waiters.values)
    }
}

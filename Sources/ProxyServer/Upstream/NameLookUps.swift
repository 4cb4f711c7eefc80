import DequeModule

/// The names that are being looked up, or wait for their turn, and who waits for them.
///
/// The system's resolver cannot be interrupted: a look-up that nobody waits for any more goes on for as long as the name
/// server does not answer. So there is a limit for those that somebody waits for, and another one for all.
struct NameLookUps<Name: Hashable, Waiter> {
    /// How many names that somebody waits for are looked up at a time.
    let limit: Int
    /// How many names are looked up at a time in all.
    let threadLimit: Int
    /// How many names may wait for their turn.
    let queueLimit: Int

    private struct LookUp {
        var waiters: [Int: Waiter] = [:]
        var isRunning = false
    }

    private var lookUps: [Name: LookUp] = [:]
    private var queue: Deque<Name> = []
    private var running = 0
    private var awaited = 0
    private var lastWaiter = 0

    init(limit: Int, threadLimit: Int, queueLimit: Int) {
        self.limit = limit
        self.threadLimit = threadLimit
        self.queueLimit = queueLimit
    }

    /// Adds a waiter for a name; returns the number to remove it by, `nil` where too many names wait already.
    mutating func add(_ waiter: Waiter, for host: Name) -> Int? {
        if lookUps[host] == nil {
            guard queue.count < queueLimit else { return nil }
            queue.append(host)
        }
        lastWaiter += 1
        if let known = lookUps[host], known.isRunning, known.waiters.isEmpty { awaited += 1 }
        lookUps[host, default: LookUp()].waiters[lastWaiter] = waiter
        return lastWaiter
    }

    /// Removes a waiter; `nil` where its name was looked up already.
    mutating func remove(_ number: Int, for host: Name) -> Waiter? {
        guard let waiter = lookUps[host]?.waiters.removeValue(forKey: number) else { return nil }
        guard let known = lookUps[host], known.waiters.isEmpty else { return waiter }
        if known.isRunning {
            awaited -= 1
        } else {
            lookUps[host] = nil
            queue.removeAll { $0 == host }
        }
        return waiter
    }

    /// The next name to be looked up, if there may be another.
    mutating func next() -> Name? {
        guard awaited < limit, running < threadLimit, let host = queue.popFirst() else { return nil }
        lookUps[host]?.isRunning = true
        running += 1
        awaited += 1
        return host
    }

    /// A name was looked up; returns its waiters.
    mutating func finished(_ host: Name) -> [Waiter] {
        guard let known = lookUps.removeValue(forKey: host) else { return [] }
        running -= 1
        if !known.waiters.isEmpty { awaited -= 1 }
        return Array(known.waiters.values)
    }
}

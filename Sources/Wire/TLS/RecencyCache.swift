/// A dictionary of bounded size that forgets the least recently used value.
struct RecencyCache<Key: Hashable, Value> {
    private struct Entry {
        var key: Key
        var value: Value
        var older: Int
        var newer: Int
    }

    private static var none: Int { -1 }

    private let capacity: Int
    private var positions: [Key: Int] = [:]
    private var entries: [Entry] = []
    private var oldest = none
    private var newest = none

    init(capacity: Int) { self.capacity = max(1, capacity) }

    var count: Int { positions.count }

    mutating func value(for key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        unlink(position)
        linkAsNewest(position)
        return entries[position].value
    }

    mutating func store(_ value: Value, for key: Key) {
        if let position = positions[key] {
            entries[position].value = value
            unlink(position)
            return linkAsNewest(position)
        }
        if positions.count == capacity { remove(at: oldest) }
        entries.append(Entry(key: key, value: value, older: Self.none, newer: Self.none))
        positions[key] = entries.count - 1
        linkAsNewest(entries.count - 1)
    }

    @discardableResult
    mutating func removeValue(for key: Key) -> Value? {
        guard let position = positions[key] else { return nil }
        defer { remove(at: position) }
        return entries[position].value
    }

    private mutating func remove(at position: Int) {
        unlink(position)
        positions[entries[position].key] = nil
        // The last entry closes the gap.
        let last = entries.count - 1
        if position != last {
            let moved = entries[last]
            entries[position] = moved
            positions[moved.key] = position
            if moved.older >= 0 { entries[moved.older].newer = position } else { oldest = position }
            if moved.newer >= 0 { entries[moved.newer].older = position } else { newest = position }
        }
        entries.removeLast()
    }

    private mutating func unlink(_ position: Int) {
        let (older, newer) = (entries[position].older, entries[position].newer)
        if older >= 0 { entries[older].newer = newer } else { oldest = newer }
        if newer >= 0 { entries[newer].older = older } else { newest = older }
    }

    private mutating func linkAsNewest(_ position: Int) {
        entries[position].older = newest
        entries[position].newer = Self.none
        if newest >= 0 { entries[newest].newer = position } else { oldest = position }
        newest = position
    }
}

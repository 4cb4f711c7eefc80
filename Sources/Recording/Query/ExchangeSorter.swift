import GRDB
package import HTTPModel

/// Gathers what exchanges are to be ordered by, in compact form, and orders them.
///
/// A million numbers take 16 MiB while they are ordered; texts are kept once each.
package struct ExchangeSorter: Sendable {
    /// What exchanges are ordered by.
    package enum Key: Sendable, Hashable {
        /// The sum of numbers; exchanges without any come before all others.
        case numbers([FilterColumn])
        /// A text, by its bytes.
        case text(FilterColumn)
    }

    private struct Entry {
        var key: Int64
        var id: Int64
    }

    private let key: Key
    private var entries: [Entry] = []
    private var texts = TextPool()

    let columns: Set<FilterColumn>

    /// Prepares to order by a key.
    package init(by key: Key) {
        self.key = key
        columns =
            switch key {
            case .numbers(let columns): Set(columns)
            case .text(let column): [column]
            }
    }

    /// How many exchanges there are.
    package var count: Int { entries.count }

    /// Puts the exchanges in order, those with equal keys by number, and forgets them.
    ///
    /// - Parameter isDescending: whether to turn the whole order round.
    /// - Returns: their numbers.
    package mutating func sorted(isDescending: Bool) -> [Int64] {
        if case .text = key {
            let ranks = texts.ranks()
            for index in entries.indices { entries[index].key = Int64(ranks[Int(entries[index].key)]) }
        }
        entries.sort { $0.key != $1.key ? $0.key < $1.key : $0.id < $1.id }
        let ids = isDescending ? entries.reversed().map(\.id) : entries.map(\.id)
        entries = []
        return ids
    }

    fileprivate mutating func add(_ row: LeanRow) {
        let value: Int64
        switch key {
        case .text(let column): value = Int64(texts.number(of: row.bytes(column)))
        case .numbers(let columns):
            var sum: Int64?
            for column in columns {
                if let number = row.number(column) { sum = (sum ?? 0) &+ number }
            }
            value = sum ?? .min
        }
        entries.append(Entry(key: value, id: row.id))
    }
}

extension SessionReader {
    /// Gathers the keys of a range of exchanges, upward, as far as the caller lets it.
    ///
    /// - Returns: the number to go on with; `nil` where nothing is left.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func gather(
        in ids: ClosedRange<Int64>,
        into sorter: inout ExchangeSorter,
        until shouldPause: () -> Bool = { false }
    ) throws -> Int64? {
        let columns = LeanColumns(sorter.columns)
        var next: Int64?
        try read { database in
            var rows = 0
            try visit(columns, in: ids, order: .oldestFirst, database) { row in
                sorter.add(row)
                rows += 1
                guard rows & 0xFF == 0, row.id < ids.upperBound, shouldPause() else { return true }
                next = row.id + 1
                return false
            }
        }
        return next
    }

    /// Gathers the keys of some exchanges, as far as the caller lets it.
    ///
    /// - Returns: how many of the numbers are done.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func gather(
        of ids: ArraySlice<Int64>,
        into sorter: inout ExchangeSorter,
        until shouldPause: () -> Bool = { false }
    ) throws -> Int {
        let columns = LeanColumns(sorter.columns)
        var done = 0
        try read { database in
            try visit(columns, of: ids, database) { _, row in
                if let row { sorter.add(row) }
                done += 1
                return done & 0xFF != 0 || !shouldPause()
            }
        }
        return done
    }
}

import Dispatch
import GRDB
import HTTPModel

/// Removes exchanges that are marked as deleted, and the oldest ones of a session that is too large.
enum DeletedRows {
    private static let slice: Int64 = 2_048
    /// Larger sessions are not rewritten to free pages; in bytes.
    private static let largestRest: Int64 = 512 << 20
    /// In a larger session, how many pages a transaction moves, and for how many nanoseconds pages are moved.
    private static let (movedPages, movingTime): (Int, UInt64) = (1_024, 20_000_000_000)

    /// Removes marked exchanges, overwrites them with zeros, and frees the pages. Keeps the highest number, so that no
    /// number is used again. A rest of up to `largest` bytes is rewritten.
    static func remove(in database: Database, rewriting largest: Int64 = largestRest) throws {
        guard let marked = try range(in: database) else { return }
        try database.execute(sql: "PRAGMA secure_delete = ON")
        let highest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM exchange") ?? 0
        let chosen = "SELECT exchange FROM annotation WHERE exchange BETWEEN ? AND ? AND deleted_at IS NOT NULL"
        var start = marked.lowerBound
        while start <= marked.upperBound {
            let part = start...min(marked.upperBound, start + slice - 1)
            try database.inTransaction {
                try drop(chosen, [part.lowerBound, part.upperBound], in: database)
                if part.contains(highest) {
                    let isMissing = "NOT EXISTS (SELECT 1 FROM exchange WHERE id = ?1)"
                    let sql = "INSERT OR IGNORE INTO annotation(exchange) SELECT ?1 WHERE \(isMissing)"
                    try database.execute(sql: sql, arguments: [highest])
                }
                return .commit
            }
            start = try next(after: part.upperBound, in: database) ?? marked.upperBound + 1
        }
        try removeConnections(in: database)
        try giveBack(database, rewriting: largest)
    }

    /// `numbers` is a statement. Does not remove connections.
    static func drop(_ numbers: String, _ arguments: StatementArguments, in database: Database) throws {
        for rows in [
            "payload WHERE id IN (SELECT payload FROM exchange WHERE id IN (\(numbers)))",
            "chunk WHERE exchange IN (\(numbers))", "arrival WHERE exchange IN (\(numbers))",
            "exchange WHERE id IN (\(numbers))", "annotation WHERE exchange IN (\(numbers))",
        ] {
            try database.cachedStatement(sql: "DELETE FROM \(rows)").execute(arguments: arguments)
        }
    }

    private static func range(in database: Database) throws -> ClosedRange<Int64>? {
        let sql = "SELECT min(exchange), max(exchange) FROM annotation WHERE deleted_at IS NOT NULL"
        guard let row = try Row.fetchOne(database, sql: sql), let first = row[0] as Int64?, let last = row[1] as Int64?,
            first > 0, first <= last, RecordedRange.numbers.contains(last)
        else { return nil }
        return first...last
    }

    private static func next(after number: Int64, in database: Database) throws -> Int64? {
        let sql =
            "SELECT exchange FROM annotation WHERE exchange > ? AND deleted_at IS NOT NULL ORDER BY exchange LIMIT 1"
        return try Int64.fetchOne(database, sql: sql, arguments: [number])
    }

    static let usedConnections = """
        SELECT client_connection FROM exchange
        UNION SELECT upstream_connection FROM exchange WHERE upstream_connection IS NOT NULL
        """

    /// Removes unused connections, because they name hosts and addresses.
    static func removeConnections(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM connection WHERE id NOT IN (\(usedConnections));
                DELETE FROM route WHERE connection NOT IN (SELECT id FROM connection);
                """
        )
    }

    /// Rewriting leaves no gaps between rows; in a larger session, pages from the end move into the empty pages.
    private static func giveBack(_ database: Database, rewriting largest: Int64) throws {
        func pragma(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        var empty = try pragma("freelist_count")
        // If a reader has the file open, or the disk is full, the empty pages stay.
        guard try (pragma("page_count") - empty) * pragma("page_size") > largest else {
            try? database.execute(sql: "VACUUM")
            return
        }
        let deadline = DispatchTime.now().uptimeNanoseconds + movingTime
        while empty > 0, DispatchTime.now().uptimeNanoseconds < deadline {
            try? database.execute(sql: "PRAGMA incremental_vacuum(\(movedPages))")
            let rest = try pragma("freelist_count")
            guard rest < empty else { return }
            empty = rest
        }
    }
}

import Dispatch
import GRDB
import HTTPModel

/// Removes what was marked as deleted, when nothing waits for the session any more.
enum DeletedRows {
    /// How many numbers a transaction is for.
    private static let slice: Int64 = 2_048
    /// The largest rest of a session that is written anew to give pages back, in bytes; more would take too long.
    private static let largestRest: Int64 = 512 << 20
    /// How many pages of a larger one move in a transaction, and how long that goes on, in nanoseconds.
    private static let (movedPages, movingTime): (Int, UInt64) = (1_024, 20_000_000_000)

    /// Removes the rows of marked exchanges and overwrites them with zeros, then gives the pages back. The highest number
    /// stays known, so that no number is used again.
    ///
    /// - Parameter largest: up to how many bytes of the rest the session is written anew.
    static func remove(in database: Database, rewriting largest: Int64 = largestRest) throws {
        guard try range(in: database) != nil else { return }
        try database.execute(sql: "PRAGMA secure_delete = ON")
        try removeRows(in: database) { _, step in
            try database.inTransaction {
                try step()
                return .commit
            }
        }
        try removeConnections(in: database)
        try giveBack(database, rewriting: largest)
    }

    /// Removes the rows of marked exchanges in steps, each of which `transaction` is to carry out; it gets the first number
    /// of the step. Connections stay.
    static func removeRows(
        in database: Database,
        _ transaction: (_ number: Int64, _ step: () throws -> Void) throws -> Void
    ) throws {
        guard let marked = try range(in: database) else { return }
        let highest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM exchange") ?? 0
        var start = marked.lowerBound
        while start <= marked.upperBound {
            let part = start...min(marked.upperBound, start + slice - 1)
            try transaction(start) {
                try remove(part, in: database)
                if part.contains(highest), try !hasExchange(highest, in: database) {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO annotation(exchange) VALUES(?)",
                        arguments: [highest]
                    )
                }
            }
            start = try next(after: part.upperBound, in: database) ?? marked.upperBound + 1
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

    private static func hasExchange(_ number: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS(SELECT 1 FROM exchange WHERE id = ?)", arguments: [number])
            ?? false
    }

    private static func remove(_ part: ClosedRange<Int64>, in database: Database) throws {
        let marked = "SELECT exchange FROM annotation WHERE exchange BETWEEN ? AND ? AND deleted_at IS NOT NULL"
        let payloads = "SELECT payload FROM exchange WHERE id IN (\(marked))"
        for condition in [
            "payload WHERE id IN (\(payloads))", "chunk WHERE exchange IN (\(marked))",
            "arrival WHERE exchange IN (\(marked))", "exchange WHERE id IN (\(marked))",
            "annotation WHERE exchange BETWEEN ? AND ? AND deleted_at IS NOT NULL",
        ] {
            try database.cachedStatement(sql: "DELETE FROM \(condition)")
                .execute(arguments: [part.lowerBound, part.upperBound])
        }
    }

    /// Removes the connections that no exchange is left of: they name hosts and addresses.
    static func removeConnections(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM connection WHERE id NOT IN (
                SELECT client_connection FROM exchange
                UNION SELECT upstream_connection FROM exchange WHERE upstream_connection IS NOT NULL);
                DELETE FROM route WHERE connection NOT IN (SELECT id FROM connection);
                """
        )
    }

    /// Writes a session anew that is not too large, which gives back the pages and leaves nothing between rows. Of a
    /// larger one the pages of its end are moved into the empty ones; a file without the map that this needs, made by an
    /// older Sluice, keeps its empty pages, all zeros, for what is recorded next.
    static func giveBack(_ database: Database, rewriting largest: Int64 = largestRest) throws {
        func pragma(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        var empty = try pragma("freelist_count")
        // A reader that has the file open may prevent either, or a disk that is full: then the empty pages stay.
        guard (try pragma("page_count") - empty) * Int64(Schema.pageSize) > largest else {
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

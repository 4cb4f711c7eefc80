import GRDB
import HTTPModel

extension SessionCopy {
    /// Writes a session into an empty file, which never contains the removed exchanges or those after `last`. `onPart`
    /// gets the progress from 0 to 1; an error that it throws ends the copying. Returns the number of copied exchanges.
    static func copy(
        _ path: String,
        without removed: ExchangeNumbers,
        upTo last: Int64,
        to part: String,
        onPart: (Double) throws -> Void
    ) throws -> Int64 {
        let copy = try DatabaseQueue(path: SessionPath.plain(part), configuration: .session("sluice.copy", seconds: 5))
        let kept = try write(path, without: removed, upTo: last, into: copy, onPart: onPart)
        try copy.close()
        return kept
    }

    /// The size of such a copy in bytes; the copy is made in memory.
    static func size(_ path: String, without removed: ExchangeNumbers, upTo last: Int64) throws -> Int64 {
        let copy = try DatabaseQueue(configuration: .session("sluice.copy", seconds: 5))
        _ = try write(path, without: removed, upTo: last, into: copy) { _ in }
        let pages = try copy.read { try Int64.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try copy.close()
        return pages * Int64(Schema.pageSize)
    }

    private static func write(
        _ path: String,
        without removed: ExchangeNumbers,
        upTo last: Int64,
        into copy: DatabaseQueue,
        onPart: (Double) throws -> Void
    ) throws -> Int64 {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let source = try DatabaseQueue(path: SessionPath.plain(path), configuration: configuration)
        // One transaction, so that the content is consistent.
        let kept = try source.read { old in
            try copy.writeWithoutTransaction { new in
                var kept: Int64 = 0
                try Schema.create(in: new, isDurable: true) {
                    kept = try RestOfSession(old: old, new: new).write(without: removed, upTo: last, onPart)
                }
                return kept
            }
        }
        try source.close()
        return kept
    }
}

private struct RestOfSession {
    /// How many rows are copied between two reports of progress.
    private static let silentRows = 256

    let old: Database
    let new: Database

    func write(without removed: ExchangeNumbers, upTo last: Int64, _ onPart: (Double) throws -> Void) throws -> Int64 {
        for table in [Schema.session, Schema.run, Schema.summary, Schema.rules] {
            try copy(table, "FROM \(table.name)")
        }
        let sql = "SELECT id FROM exchange WHERE id <= ? AND \(Schema.isKept("exchange.id")) ORDER BY id"
        let numbers = try Int64.fetchAll(old, sql: sql, arguments: [last]).filter { !removed.contains($0) }
        let ranges = ExchangeNumbers(numbers).ranges
        var done = 0
        for range in ranges {
            let ends: StatementArguments = [range.lowerBound, range.upperBound]
            let bounds = (numbers.first ?? 1)...max(numbers.first ?? 1, numbers.last ?? 1)
            func tell(_ number: Int64) throws {
                done += 1
                if done.isMultiple(of: Self.silentRows) { try onPart(bounds.part(upTo: number)) }
            }
            try copy(Schema.exchange, "FROM exchange WHERE id BETWEEN ? AND ?", ends)
            try copy(Schema.annotation, "FROM annotation WHERE exchange BETWEEN ? AND ? AND deleted_at IS NULL", ends)
            try copy(Schema.arrival, "FROM arrival WHERE exchange BETWEEN ? AND ?", ends)
            try copy(Schema.chunk, "FROM chunk WHERE exchange BETWEEN ? AND ? ORDER BY exchange, side, offset", ends) {
                try tell($0[0])
            }
            try copy(
                Schema.payload,
                "FROM exchange JOIN payload ON payload.id = exchange.payload WHERE exchange.id BETWEEN ? AND ?",
                ends,
                of: "payload."
            ) { _ in try tell(range.upperBound) }
        }
        try onPart(1)
        for id in try Int64.fetchAll(new, sql: DeletedRows.usedConnections) {
            try copy(Schema.connection, "FROM connection WHERE id = ?", [id])
            try copy(Schema.route, "FROM route WHERE connection = ?", [id])
        }
        let numbered = "SELECT max(id) AS id FROM exchange UNION ALL SELECT max(exchange) FROM annotation"
        if let highest = try Int64.fetchOne(old, sql: "SELECT max(id) FROM (\(numbered))"), highest > numbers.last ?? 0
        {
            try new.execute(sql: "INSERT OR IGNORE INTO annotation(exchange) VALUES(?)", arguments: [highest])
        }
        var totals = SessionSummary()
        try totals.add(1, "exchange AS e", in: new)
        try totals.write(in: new)
        return Int64(numbers.count)
    }

    /// `rows` is the part of the statement after the columns.
    private func copy(
        _ table: Schema.Table,
        _ rows: String,
        _ arguments: StatementArguments = [],
        of prefix: String = "",
        _ body: (Row) throws -> Void = { _ in }
    ) throws {
        let columns = table.columns.split(separator: ", ").map { prefix + $0 }.joined(separator: ", ")
        let statement = try old.cachedStatement(sql: "SELECT \(columns) \(rows)")
        let cursor = try Row.fetchCursor(statement, arguments: arguments)
        let insertion = try new.cachedStatement(sql: table.replacement)
        while let row = try cursor.next() {
            try body(row)
            try insertion.execute(arguments: StatementArguments(row.databaseValues))
        }
    }
}

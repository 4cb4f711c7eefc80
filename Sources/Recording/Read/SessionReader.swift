import Content
import Files
import GRDB
import GRDBSQLite
package import HTTPModel
package import NIOCore

/// Reads a session, during the recording or after; never writes or blocks the recorder. Calls from any thread wait for
/// each other. Each call reads one state of the file.
package final class SessionReader: ExchangeSource, Sendable {
    package enum Order: Sendable, Hashable {
        case oldestFirst
        case newestFirst
    }

    package static var schemaVersion: Int64 { Schema.version }

    package let path: String
    private let database: DatabaseQueue
    private let fileIdentity: FileFacts.Identity

    /// Throws ``SessionError``.
    package init(path: String) throws {
        self.path = path
        SessionCreation.wait(for: path)
        guard let facts = FileFacts(path: path) else { throw SessionError.missing(path) }
        guard !facts.isDirectory else { throw SessionError.directory(path) }
        guard facts.isRegular, facts.size > 0 else { throw SessionError.notASession(path).forReader }
        // SQLite would wait for a pipe.
        for file in SessionPath.companions(of: path) where FileFacts(path: file)?.isRegular == false {
            throw SessionError.damaged(path, "\(file) is not a file")
        }
        fileIdentity = facts.identity
        do {
            database = try Self.open(path)
        } catch let error as DatabaseError {
            throw SessionError.opening(path, error).forReader
        } catch let error as SessionError {
            throw error.forReader
        }
    }

    /// A second, independent reader; `nil` if the path no longer leads to this session.
    package func another() -> SessionReader? {
        guard let other = try? SessionReader(path: path), other.fileIdentity == fileIdentity else { return nil }
        return other
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        do {
            return try open(path, as: SessionPath.plain(path))
        } catch let error as DatabaseError where [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) {
            // On a read-only medium SQLite cannot create the index of a log. If the log is empty, the file is the whole
            // session.
            guard FileFacts(path: path + "-wal")?.size ?? 0 == 0 else { throw error }
            return try open(path, as: SessionPath.immutable(path))
        }
    }

    private static func open(_ path: String, as name: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.label = "sluice.reader"
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA query_only = ON;
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA cache_size = -2048;
                    """
            )
            if let connection = database.sqliteConnection {
                FilterFunctions.register(on: connection)
                sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, CInt(longestValue))
            }
        }
        let queue = try DatabaseQueue(path: name, configuration: configuration)
        try queue.unsafeRead { try Schema.check(SessionDatabase(connection: $0, path: path)) }
        return queue
    }

    /// In bytes.
    private static let longestValue = 64 << 20

    /// Includes exchanges in flight.
    package func count() throws -> Int64 { try summary().exchanges }

    package func summary() throws -> SessionSummary { try read(SessionSummary.read) }

    package func identity() throws -> SessionIdentity { try read(SessionIdentity.read) }

    /// The key of a session that was recorded with a store; see ``RecorderConfiguration/labelKey``.
    package func labelKey() throws -> ByteBuffer? {
        let known = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'store'"
        guard try rows(known, of: "store", { try $0.number() }).first == 1 else { return nil }
        return try rows("SELECT label_key FROM store LIMIT 1", of: "store") { try $0.optionalBytes() }.first ?? nil
    }

    /// The comments and colours of all exchanges.
    package func annotations() throws -> [Int64: ExchangeAnnotation] {
        let sql = "SELECT exchange, comment, colour FROM annotation WHERE deleted_at IS NULL"
        let found = try rows(sql, of: "annotation") { row in
            let number = try row.number(in: RecordedRange.numbers)
            var annotation = ExchangeAnnotation()
            annotation.comment = try row.optionalText()
            annotation.colour = try row.optionalText()
            return (number, annotation)
        }
        return Dictionary(found.filter { $0.1 != ExchangeAnnotation() }) { $1 }
    }

    package func runs() throws -> [SessionRun] {
        try rows("SELECT \(Schema.run.columns) FROM run ORDER BY id", of: "run") { try $0.run() }
    }

    package func rules() throws -> [StoredRules] {
        var sources: [ProfileSource] = []
        return try rows("SELECT \(Schema.rules.columns) FROM rules ORDER BY id", of: "rules") { row in
            let rules = try row.rules(sourcesBefore: sources)
            sources = rules.sources
            return rules
        }
    }

    /// `moment` is in microseconds since 1970.
    package func rules(at moment: Int64) throws -> StoredRules? {
        let sql = """
            SELECT id, at, (
            SELECT earlier.sources FROM rules AS earlier
            WHERE earlier.id <= rules.id AND earlier.sources IS NOT NULL ORDER BY earlier.id DESC LIMIT 1
            ) AS sources, off FROM rules WHERE at <= ? ORDER BY id DESC LIMIT 1
            """
        return try rows(sql, [moment], of: "rules") { try $0.rules() }.first
    }

    /// At most `limit` records; fewer only at the end. `start` need not exist.
    package func records(
        from start: ExchangeID? = nil,
        limit: Int,
        order: Order = .oldestFirst
    ) throws -> [ExchangeRecord] {
        let sql =
            switch order {
            case .oldestFirst: "\(Schema.records) id >= ? ORDER BY id LIMIT ?"
            case .newestFirst: "\(Schema.records) id <= ? ORDER BY id DESC LIMIT ?"
            }
        let first = start?.number ?? (order == .oldestFirst ? 1 : Int64.max)
        return try rows(sql, [first, Int64(max(0, limit))], of: "exchange") { try $0.record().record }
    }

    package func record(_ id: ExchangeID) throws -> ExchangeRecord? { try records([id.number])[0] }

    /// In the order of `ids`; `nil` for missing exchanges.
    package func records(_ ids: some Collection<Int64>) throws -> [ExchangeRecord?] {
        try read { session in try ids.map { try StoredExchanges(session).record($0)?.record } }
    }

    /// Includes deleted exchanges.
    package func bounds() throws -> ClosedRange<Int64>? {
        // SQLite reads each number from one end of the table, but scans the table for both in one query.
        let sql = "SELECT (SELECT min(id) FROM exchange) AS id, (SELECT max(id) FROM exchange) AS id"
        return try rows(sql, of: "exchange") { row -> ClosedRange<Int64>? in
            let lowest = try row.optionalNumber(in: RecordedRange.numbers)
            let highest = try row.optionalNumber(in: RecordedRange.numbers)
            guard let lowest, let highest, lowest <= highest else { return nil }
            return lowest...highest
        }.first ?? nil
    }

    /// Whether the path leads to this session; also true if that cannot be determined.
    package var isInPlace: Bool { FileFacts.mayLead(path, to: fileIdentity) }

    /// Until `body` returns `false`; the session stays unlocked. Throws ``SessionError``, or an error of `body`.
    package func forEachRecord(
        from start: ExchangeID? = nil,
        order: Order = .oldestFirst,
        pageSize: Int = 500,
        _ body: (ExchangeRecord) throws -> Bool
    ) throws {
        var next = start
        while true {
            let page = try records(from: next, limit: max(1, pageSize), order: order)
            for record in page where try !body(record) { return }
            guard let last = page.last?.id.number, page.count >= max(1, pageSize) else { return }
            guard order == .oldestFirst ? last < Int64.max : last > 1 else { return }
            next = ExchangeID(order == .oldestFirst ? last + 1 : last - 1)
        }
    }

    package func exchange(_ id: ExchangeID) throws -> RecordedExchange? {
        try read(inOneTransaction: true) { session in
            var rows = StoredExchanges(session)
            return try rows.exchange(id.number)?.exchange
        }
    }

    package func connection(_ id: ConnectionID) throws -> ConnectionRecord? {
        try read { session in
            var rows = StoredExchanges(session)
            return try rows.connection(id)
        }
    }

    package func connections(from start: ConnectionID = ConnectionID(1), limit: Int) throws -> [ConnectionRecord] {
        let sql = "\(Schema.connections) id >= ? ORDER BY id LIMIT ?"
        var certificates = KnownCertificates()
        return try rows(sql, [start.number, Int64(max(0, limit))], of: "connection") {
            try $0.connection(&certificates)
        }
    }

    /// Returns fewer than `limit` bytes only at the body's end. A `…Sent` side of an unchanged body reads the received
    /// body. Bytes of an exchange in flight appear within a second, of a stream within 100 ms.
    package func body(of id: ExchangeID, side: BodySide, offset: Int64 = 0, limit: Int) throws -> ByteBuffer {
        guard limit > 0, offset >= 0 else { return ByteBuffer() }
        return try read(inOneTransaction: true) { session in
            let own = try StoredBody(of: id, side: side, in: session)
            let body = try own ?? side.received.flatMap { try StoredBody(of: id, side: $0, in: session) }
            return try body?.read(offset: offset, limit: limit) ?? ByteBuffer()
        }
    }

    /// `nil` without a body, and for the `…Sent` side of an unchanged body.
    package func bodySize(of id: ExchangeID, side: BodySide) throws -> Int64? {
        try read(inOneTransaction: true) { try StoredBody(of: id, side: side, in: $0)?.size }
    }

    /// When bytes arrived, by offset, beginning with the arrival that contains the byte at `offset`. A `…Sent` side of
    /// an unchanged body reads the received body. In flight, an arrival may be stored before its bytes.
    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        guard limit > 0 else { return [] }
        let sql = """
            SELECT exchange, offset, at FROM arrival WHERE exchange = ?1 AND side = ?2 AND offset >= coalesce(
            (SELECT max(offset) FROM arrival WHERE exchange = ?1 AND side = ?2 AND offset <= ?3), 0)
            ORDER BY offset LIMIT ?4
            """
        return try read(inOneTransaction: true) { session in
            var side = side
            if let received = side.received, try StoredBody(of: id, side: side, in: session) == nil { side = received }
            let arguments = [id.number, Int64(side.rawValue), offset, Int64(limit)]
            return try session.rows(sql, arguments, of: "arrival of exchange") { row in
                row.skip()
                return Arrival(offset: try row.number(), at: try row.number(in: RecordedRange.moments))
            }
        }
    }

    /// All reads of `body` see one state of the file, and lock it once. `body` must be short, because the recorder
    /// cannot shorten its log meanwhile.
    package func inOneState<Value>(_ body: () throws -> Value) throws -> Value {
        try read(inOneTransaction: true) { _ in try body() }
    }

    func read<Value>(inOneTransaction: Bool = false, _ body: (SessionDatabase) throws -> Value) throws -> Value {
        func look(_ connection: Database) throws -> Value {
            try body(SessionDatabase(connection: connection, path: path))
        }
        do {
            return try database.unsafeReentrantRead { connection in
                guard inOneTransaction, !connection.isInsideTransaction else { return try look(connection) }
                try connection.beginTransaction(.deferred)
                defer { try? connection.rollback() }
                return try look(connection)
            }
        } catch let error as DatabaseError {
            throw SessionError.reading(path, error)
        }
    }

    func rows<Value>(
        _ sql: String,
        _ arguments: [Int64] = [],
        of subject: String,
        _ row: (inout RowReader) throws -> Value
    ) throws -> [Value] { try read { try $0.rows(sql, arguments, of: subject, row) } }
}

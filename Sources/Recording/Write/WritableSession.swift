import Files
import Foundation
import GRDB
import HTTPModel

/// A session that is checked and locked, and has a new run.
struct WritableSession: Sendable {
    let path: String
    let database: DatabaseQueue
    let start: RunStart
    private let lock: SessionLock

    /// Creates a missing or empty session; its exchanges begin after `following`.
    init(path: String, configuration: RecorderConfiguration, following: Int64 = 0) throws {
        let lock = try SessionLock(path: path)
        self.lock = lock
        self.path = path
        let isNew = lock.isEmpty
        if !isNew { try lock.checkHeader() }
        do {
            database = try Self.open(path)
            start = try database.writeWithoutTransaction { database in
                let session = SessionDatabase(connection: database, path: path)
                if isNew {
                    try Self.createTables(in: database, labels: configuration.labels)
                } else {
                    try Schema.check(session)
                }
                try Self.setUp(database, configuration)
                return try RunStart(session, isNew: isNew, configuration, following: following)
            }
        } catch let error as DatabaseError {
            throw SessionError.opening(path, error)
        }
    }

    private static func open(_ path: String) throws -> DatabaseQueue {
        try DatabaseQueue(path: SessionPath.plain(path), configuration: .session("sluice.session", seconds: 2))
    }

    struct RunStart {
        let run: Int64
        let nextExchangeID: Int64
        let nextConnectionID: Int64
        let lastPayload: Int64
        let totals: SessionSummary
        let recovered: RecoveryReport?
        /// `nil` if it is damaged.
        let identifier: String?

        /// Throws ``SessionError`` if a number is so high that readers would refuse the next numbers.
        fileprivate init(
            _ session: SessionDatabase,
            isNew: Bool,
            _ configuration: RecorderConfiguration,
            following: Int64
        ) throws {
            func highest(_ table: String, _ column: String = "id") throws -> Int64 {
                let bounds = -RecordedRange.numbers.upperBound...RecordedRange.numbers.upperBound / 2
                let found = try session.rows("SELECT max(\(column)) AS id FROM \(table)", of: table) { row in
                    try row.optionalNumber(in: bounds)
                }
                return max(0, (found.first ?? nil) ?? 0)
            }
            // The annotation with the highest number stays after its exchange is removed.
            let annotated = try highest("annotation", "exchange")
            nextExchangeID = max(try highest("exchange"), annotated, following) + 1
            nextConnectionID = try highest("connection") + 1
            let payload = try highest("payload")
            _ = (try highest("run"), try highest("rules"))
            let (count, first) = try isNew ? (0, []) : interruptOpenExchanges(in: session)
            recovered = count > 0 ? RecoveryReport(count: count, first: first) : nil
            // The recovery gave the exchanges in flight the next payload numbers.
            lastPayload = payload + Int64(count)
            totals = try SessionSummary.read(session)
            identifier = (try? SessionIdentity.read(session))?.identifier.uuidString.lowercased()
            try session.connection.execute(
                sql: """
                    INSERT INTO run(version, recorder, started_at, first_exchange, not_recorded, dropped_bytes)
                    VALUES(?, ?, ?, ?, 0, 0)
                    """,
                arguments: [configuration.sluiceVersion, configuration.mode.rawValue, WallClock.now(), nextExchangeID]
            )
            run = session.connection.lastInsertedRowID
        }
    }

    /// Makes a session from an empty file, without a run.
    static func make(_ path: String, labels: [String: String]) throws {
        do {
            let database = try open(path)
            try database.writeWithoutTransaction { try createTables(in: $0, labels: labels) }
            try database.close()
        } catch let error as DatabaseError {
            throw SessionError.opening(path, error)
        }
    }

    /// Does not use the log, so that a file that is not empty is a complete session.
    static func createTables(in database: Database, labels: [String: String]) throws {
        try Schema.create(in: database, isDurable: false) {
            try database.execute(sql: "INSERT INTO summary VALUES(1, 0, 0, 0, 0)")
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let text = String(decoding: try encoder.encode(labels), as: UTF8.self)
            let identity: StatementArguments = [UUID().uuidString.lowercased(), text]
            try database.execute(sql: "INSERT INTO session VALUES(1, ?, ?)", arguments: identity)
        }
    }

    private static func setUp(_ database: Database, _ configuration: RecorderConfiguration) throws {
        let logPages = RecorderLimits.checkpointPages(ofSession: configuration.largestSession)
        let logBytes = RecorderLimits.logBytes(ofSession: configuration.largestSession)
        try database.execute(
            sql: """
                PRAGMA trusted_schema = OFF;
                PRAGMA secure_delete = FAST;
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                PRAGMA cache_size = -4096;
                PRAGMA wal_autocheckpoint = \(logPages);
                PRAGMA journal_size_limit = \(logBytes);
                PRAGMA busy_timeout = \(RecorderLimits.patienceMilliseconds);
                """
        )
        if let key = configuration.labelKey {
            try database.execute(sql: "CREATE TABLE IF NOT EXISTS store(label_key BLOB NOT NULL)")
            let sql = "INSERT INTO store SELECT ? WHERE NOT EXISTS (SELECT 1 FROM store)"
            try database.execute(sql: sql, arguments: [Data(key)])
        }
        if let pageLimit = configuration.pageLimit { try database.execute(sql: "PRAGMA max_page_count = \(pageLimit)") }
    }

    /// Payload rows of exchanges in flight have negative numbers.
    static func interruptOpenExchanges(in session: SessionDatabase) throws -> (count: Int, first: [ExchangeID]) {
        let database = session.connection
        let sql = "SELECT -id AS id FROM payload WHERE id < 0 ORDER BY payload.id DESC"
        let open = try session.rows(sql, of: "payload") { try $0.number(in: RecordedRange.numbers) }
        guard !open.isEmpty else { return (0, []) }
        let numbering = "UPDATE payload SET id = (SELECT max(0, max(id)) + 1 FROM payload) WHERE id = ?"
        let marking = "UPDATE exchange SET state = ?, payload = (SELECT max(id) FROM payload) WHERE id = ?"
        try database.inSavepoint {
            for id in open {
                try database.execute(sql: numbering, arguments: [-id])
                try database.execute(sql: marking, arguments: [ExchangeRecord.State.interrupted.rawValue, id])
            }
            return .commit
        }
        return (open.count, open.prefix(5).map(ExchangeID.init))
    }

    /// Called after a write failed. The checkpoint frees the log's space, which a full disk needs.
    func interruptOpenExchanges() {
        try? database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
            _ = try WritableSession.interruptOpenExchanges(in: SessionDatabase(connection: database, path: path))
        }
    }

    /// Whether the path leads to this session; also true if that cannot be determined.
    var isInPlace: Bool { FileFacts.mayLead(path, to: lock.identity) }
    /// Whether the file was deleted, with all its content.
    var isRemoved: Bool { lock.isRemoved }

    /// Moves the log into the file; if this fails, the session stays readable. `waits` says whether to try again while
    /// a reader uses the log.
    func close(_ waits: () -> Bool = { false }) throws {
        defer { lock.release() }
        do {
            try database.writeWithoutTransaction { database in
                // The log can only be removed when no reader uses it; readers get a moment to end.
                try database.execute(sql: "PRAGMA busy_timeout = 500")
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                while (try? String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")) != "delete", waits() {}
            }
            try database.close()
        } catch let error as DatabaseError {
            try? database.close()
            throw SessionError.writing(path, error)
        }
    }
}

import Dispatch
import GRDB
import GRDBSQLite
import HTTPModel
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A session file opened for recording: created or checked, locked against a second recorder, and with its run begun.
struct WritableSession: Sendable {
    let path: String
    let database: DatabaseQueue
    let run: Int64
    let nextExchangeID: Int64
    let nextConnectionID: Int64
    let lastPayload: Int64
    let totals: SessionSummary
    let recovered: RecoveryReport?
    private let lock: SessionLock

    /// Opens the session, or creates it where there is none or an empty file.
    init(path: String, configuration: RecorderConfiguration) throws {
        let lock = try SessionLock(path: path)
        self.lock = lock
        self.path = path
        let isNew = lock.isEmpty
        if !isNew { try lock.checkHeader() }
        do {
            database = try DatabaseQueue(path: SessionPath.plain(path), configuration: Self.connection())
            let opened = try database.writeWithoutTransaction { database in
                let version = try isNew ? Self.createTables(in: database) : Self.checkTables(of: path, in: database)
                try Self.setUp(database, pageLimit: configuration.pageLimit)
                if version < Schema.version { try Self.upgrade(path, from: version, in: database) }
                let numbers = try HighestNumbers(database, path: path)
                let recovered = try isNew ? nil : Self.recover(database, path: path)
                return try Opened(database, numbers, recovered, path: path, configuration: configuration)
            }
            run = opened.run
            nextExchangeID = opened.nextExchangeID
            nextConnectionID = opened.nextConnectionID
            lastPayload = opened.lastPayload
            totals = opened.totals
            recovered = opened.recovered
        } catch let error as DatabaseError {
            throw SessionError.opening(path, error)
        }
    }

    /// What is known once the tables are there.
    private struct Opened {
        var run: Int64
        var nextExchangeID: Int64
        var nextConnectionID: Int64
        var lastPayload: Int64
        var totals: SessionSummary
        var recovered: RecoveryReport?

        init(
            _ database: Database,
            _ numbers: HighestNumbers,
            _ recovered: RecoveryReport?,
            path: String,
            configuration: RecorderConfiguration
        ) throws {
            self.recovered = recovered
            nextExchangeID = numbers.exchange + 1
            nextConnectionID = numbers.connection + 1
            // The recovery has numbered what it found in flight.
            lastPayload = try HighestNumbers(database, path: path).payload
            totals = try SessionSummary.read(database, path: path)
            try database.execute(
                sql: """
                    INSERT INTO run(version, recorder, started_at, first_exchange, not_recorded, dropped_bytes)
                    VALUES(?, ?, ?, ?, 0, 0)
                    """,
                arguments: [
                    configuration.sluiceVersion, configuration.mode.rawValue, wallClock(), nextExchangeID,
                ]
            )
            run = database.lastInsertedRowID
        }
    }

    /// The highest numbers that the tables have; those of what is recorded from now on follow.
    private struct HighestNumbers {
        let exchange: Int64
        let connection: Int64
        let payload: Int64

        /// - Throws: ``SessionError`` where one is so high that a reader would not take those that follow.
        init(_ database: Database, path: String) throws {
            func highest(_ table: String) throws -> Int64 {
                let sql = "SELECT max(id) AS id FROM \(table)"
                let bounds = -RecordedRange.numbers.upperBound...RecordedRange.numbers.upperBound / 2
                let highest = try RowReader.rows(sql, in: database, path: path, subject: table) { row in
                    try row.optionalNumber(in: bounds)
                }
                return max(0, (highest.first ?? nil) ?? 0)
            }
            exchange = try highest("exchange")
            connection = try highest("connection")
            payload = try highest("payload")
            _ = (try highest("run"), try highest("rules"))
        }
    }

    private static func connection() -> Configuration {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        configuration.label = "sluice.session"
        // Another process may still be closing the session.
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { database in
            // Before anything reads the file: the page size of a new one is settled by the first read.
            try database.execute(sql: "PRAGMA page_size = \(Schema.pageSize)")
        }
        return configuration
    }

    /// Makes the tables without the log, so that a file with any content is a session whatever happens next.
    private static func createTables(in database: Database) throws -> Int64 {
        try database.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        try database.inTransaction {
            for table in Schema.tables() { try database.execute(sql: table.sql) }
            try database.execute(sql: "INSERT INTO summary VALUES(1, 0, 0, 0, 0)")
            try database.execute(
                sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(Schema.version)"
            )
            return .commit
        }
        return Schema.version
    }

    /// Gives a session of an earlier version today's tables, whole or not at all.
    private static func upgrade(_ path: String, from version: Int64, in database: Database) throws {
        try database.inTransaction(.immediate) {
            try database.execute(sql: Schema.upgrade(from: version))
            _ = try checkTables(of: path, in: database)
            return .commit
        }
    }

    /// Refuses a file whose tables are not those that its version makes; returns that version.
    static func checkTables(of path: String, in database: Database) throws -> Int64 {
        let application = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard application == Schema.applicationID else { throw SessionError.notASession(path) }
        guard version <= Schema.version else { throw SessionError.newerSchema(path, version) }
        guard version >= 1 else { throw SessionError.damaged(path, "its schema version is \(version)") }
        for table in Schema.tables(version: version) {
            let sql = try String.fetchOne(
                database,
                sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?",
                arguments: [table.name]
            )
            guard sql == table.sql else {
                throw SessionError.damaged(path, "its table \"\(table.name)\" is not as Sluice makes it")
            }
        }
        let triggers = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger'")
        guard triggers == 0 else { throw SessionError.damaged(path, "it has triggers") }
        return version
    }

    private static func setUp(_ database: Database, pageLimit: Int?) throws {
        try database.execute(
            sql: """
                PRAGMA trusted_schema = OFF;
                PRAGMA secure_delete = OFF;
                PRAGMA journal_mode = WAL;
                PRAGMA synchronous = NORMAL;
                PRAGMA cache_size = -4096;
                PRAGMA wal_autocheckpoint = \(RecorderLimits.checkpointPages);
                PRAGMA journal_size_limit = \(RecorderLimits.logBytes);
                PRAGMA busy_timeout = \(RecorderLimits.patienceMilliseconds);
                """
        )
        if let pageLimit { try database.execute(sql: "PRAGMA max_page_count = \(pageLimit)") }
    }

    private static func recover(_ database: Database, path: String) throws -> RecoveryReport? {
        let (count, first) = try interruptOpenExchanges(in: database, path: path)
        guard count > 0 else { return nil }
        let sql = "SELECT id, started_at FROM run WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1"
        let startedAt = try RowReader.rows(sql, in: database, path: path, subject: "run") { row in
            _ = try row.number()
            return try row.number(in: RecordedRange.moments)
        }
        return RecoveryReport(count: count, first: first, runStartedAt: startedAt.first)
    }

    /// Marks exchanges in flight as interrupted; they are those whose payload row has a negative number.
    static func interruptOpenExchanges(
        in database: Database,
        path: String
    ) throws -> (count: Int, first: [ExchangeID]) {
        let sql = "SELECT -id AS id FROM payload WHERE id < 0 ORDER BY payload.id DESC"
        let open = try RowReader.rows(sql, in: database, path: path, subject: "payload") { row in
            try row.number(in: RecordedRange.numbers)
        }
        guard !open.isEmpty else { return (0, []) }
        try database.inSavepoint {
            for id in open {
                try database.execute(
                    sql: "UPDATE payload SET id = (SELECT max(0, max(id)) + 1 FROM payload) WHERE id = ?",
                    arguments: [-id]
                )
                try database.execute(
                    sql: """
                        UPDATE exchange SET state = ?, payload = (SELECT max(id) FROM payload) WHERE id = ?
                        """,
                    arguments: [ExchangeRecord.State.interrupted.rawValue, id]
                )
            }
            return .commit
        }
        return (open.count, open.prefix(5).map(ExchangeID.init))
    }

    /// Whether the file still is where it was opened.
    var isInPlace: Bool { FileFacts(path: path)?.identity == lock.identity }

    /// Whether the file has no name any more, so that all that is in it goes with us.
    var isRemoved: Bool { lock.isRemoved }

    /// Brings everything from the log into the file and removes the log.
    ///
    /// The session stays readable if that fails.
    func close() throws {
        defer { lock.release() }
        do {
            try database.writeWithoutTransaction { database in
                // Readers are given a moment to end: the log can only go when nobody reads it.
                try database.execute(sql: "PRAGMA busy_timeout = 500")
                try database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                try? database.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try database.close()
        } catch let error as DatabaseError {
            try? database.close()
            throw SessionError.writing(path, error)
        }
    }
}

/// Numbers that the recorder keeps to.
enum RecorderLimits {
    /// The log is brought into the file whenever it has so many pages (16 MiB).
    static let checkpointPages = 1_024
    /// The log is cut to this size; it grows beyond only while readers keep it busy.
    static let logBytes: Int64 = 64 << 20
    /// How long somebody else who writes into the session, against all advice, may keep the recorder waiting.
    static let patienceMilliseconds = 1_000
    /// How often, and how far apart, the lock of a session is asked for before somebody else is taken to record into it.
    static let lockAttempts = 10
    static let lockMicroseconds: UInt32 = 20_000
    /// A transaction takes no more events after this time.
    static let transactionNanoseconds: UInt64 = 50_000_000
    /// After so many bytes of events, memory is given back to the system at the next quiet moment.
    static let trimBytes = 4 << 20
    /// How long nothing must come for a moment to be quiet.
    static let trimDelay = DispatchTimeInterval.milliseconds(200)
    /// Body bytes of open exchanges that may wait in memory for a full chunk.
    static let tailBytes = 8 << 20
    /// How long what came of a stream may wait in memory; with nap and commit it stays below 100 ms.
    static let streamTailNanoseconds: UInt64 = 50_000_000
    /// How many arrivals of an exchange may wait in memory.
    static let waitingArrivals = 256
}

/// Keeps a second recorder away from a session; held while recording, gone with the process.
///
/// It is a `flock`, which does not meddle with SQLite's own `fcntl` locks. Closing any descriptor of a file drops the
/// process's `fcntl` locks on it, though; so the descriptor stays open until SQLite is done, and a session that this
/// very process records is refused before it is opened again.
final class SessionLock: Sendable {
    private static let heldHere = Mutex<Set<FileFacts.Identity>>([])

    let identity: FileFacts.Identity
    let isEmpty: Bool
    private let path: String
    private let descriptor: Mutex<CInt?>

    init(path: String) throws {
        self.path = path
        if let facts = FileFacts(path: path) {
            guard !facts.isDirectory else {
                throw SessionError(.cannotOpen, "\(path) is a directory.", hint: "Give the name of a session file.")
            }
            guard facts.isRegular else { throw SessionError.notASession(path) }
            guard !Self.heldHere.withLock({ $0.contains(facts.identity) }) else { throw SessionError.locked(path) }
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SessionError.cannotOpen(path, errno) }
        do {
            try Self.lock(descriptor, path)
            guard let facts = FileFacts(descriptor: descriptor) else { throw SessionError.cannotOpen(path, errno) }
            guard facts.isRegular else { throw SessionError.notASession(path) }
            isEmpty = facts.size == 0
            identity = facts.identity
            // Later files get the mode of the session from SQLite; those of a run that was killed are there already.
            for file in SessionPath.companions(of: path) { try Self.makePrivate(file) }
            try Self.makePrivate(path, facts, fchmod(descriptor, 0o600))
        } catch {
            _ = Self.close(descriptor)
            throw error
        }
        self.descriptor = Mutex(descriptor)
        Self.heldHere.withLock { held in _ = held.insert(identity) }
    }

    /// Takes the lock, with a little patience: a process that was just being started while the recorder before us
    /// closed its file holds a copy of that descriptor until it runs its own program.
    private static func lock(_ descriptor: CInt, _ path: String) throws {
        for attempt in 1... {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SessionError.cannotOpen(path, errno) }
            guard attempt < RecorderLimits.lockAttempts else { throw SessionError.locked(path) }
            usleep(RecorderLimits.lockMicroseconds)
        }
    }

    deinit {
        release()
    }

    var isRemoved: Bool {
        descriptor.withLock { $0.flatMap { FileFacts(descriptor: $0) }?.hasName == false }
    }

    /// Takes from others what a session and its files let them do: they hold passwords and keys.
    private static func makePrivate(_ path: String) throws {
        guard let facts = FileFacts(link: path) else { return }
        guard facts.isRegular else { throw SessionError.foreign(path) }
        try makePrivate(path, facts, chmod(path, 0o600))
    }

    /// The same where the file was looked at already, with what changes its mode.
    private static func makePrivate(_ path: String, _ facts: FileFacts, _ change: @autoclosure () -> CInt) throws {
        guard facts.owner == geteuid() else { throw SessionError.foreign(path) }
        if facts.isOpenToOthers, change() != 0 { throw SessionError.cannotOpen(path, errno) }
    }

    /// Refuses what is no session before SQLite looks at it.
    func checkHeader() throws {
        var header = [UInt8](repeating: 0, count: 100)
        let count = descriptor.withLock { descriptor in
            descriptor.map { pread($0, &header, header.count, 0) } ?? 0
        }
        guard count == header.count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw SessionError.notASession(path)
        }
    }

    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            descriptor = nil
            Self.heldHere.withLock { held in _ = held.remove(identity) }
            _ = Self.close(open)
        }
    }

    private static func close(_ descriptor: CInt) -> CInt {
        #if canImport(Darwin)
        Darwin.close(descriptor)
        #elseif canImport(Musl)
        Musl.close(descriptor)
        #else
        Glibc.close(descriptor)
        #endif
    }
}

/// A path as SQLite takes it.
enum SessionPath {
    /// A path that SQLite cannot take for a URI or for a database in memory.
    static func plain(_ path: String) -> String {
        path.hasPrefix("/") ? path : "./" + path
    }

    /// The files that SQLite puts beside a session while it is open: beside the file itself where the path is a link.
    static func companions(of path: String) -> [String] {
        var file = path
        if let bytes = realpath(path, nil) {
            file = String(cString: bytes)
            free(bytes)
        }
        return ["-wal", "-shm", "-journal"].map { file + $0 }
    }

    /// A URI that opens a file which nobody can change meanwhile.
    static func immutable(_ path: String) -> String {
        let escaped = plain(path).utf8.map { byte in
            let isPlain = byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "/._-".utf8.contains(byte)
            let digits = String(byte, radix: 16)
            return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count < 2 ? "0" : "") + digits
        }
        return "file:\(escaped.joined())?immutable=1"
    }
}

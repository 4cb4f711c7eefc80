import Dispatch
import Files
import GRDB
import HTTPModel
import Synchronization

/// Edits a session that nobody records. Holds the session's lock, so that nobody else removes exchanges whose deletion
/// can still be undone.
package final class SessionEditor: Sendable {
    private let path: String
    private let lock: SessionLock
    private let database: DatabaseQueue
    private let history = Mutex(DeletionHistory())

    /// Throws ``SessionError`` if the session cannot be written, or is being recorded.
    package init(path: String) throws {
        self.path = path
        guard FileFacts(path: path) != nil else { throw SessionError.missing(path) }
        lock = try SessionLock(path: path)
        do {
            guard !lock.isEmpty else { throw SessionError.notASession(path) }
            try lock.checkHeader()
            // Readers of this process hold the file for some 50 ms.
            let configuration = Configuration.session("sluice.editor", seconds: 5)
            database = try DatabaseQueue(path: SessionPath.plain(path), configuration: configuration)
            try database.writeWithoutTransaction { database in
                let session = SessionDatabase(connection: database, path: path)
                try Schema.check(session)
                try database.execute(sql: "PRAGMA trusted_schema = OFF")
                _ = try WritableSession.interruptOpenExchanges(in: session)
            }
        } catch {
            lock.release()
            throw (error as? DatabaseError).map { SessionError.opening(path, $0) } ?? error
        }
    }

    package var hasDeletions: Bool { history.withLock { !$0.deletions.isEmpty } }

    package func edit(_ edit: SessionEdit) throws -> SessionEditResult {
        do {
            return try database.writeWithoutTransaction { database in
                let session = SessionDatabase(connection: database, path: path)
                let highest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM exchange") ?? 0
                var editing = try history.withLock {
                    try SessionEditing(edit, highest: highest, &$0, path: path)
                }
                var totals = try SessionSummary.read(session)
                while !editing.isDone {
                    try database.inTransaction(.immediate) {
                        let deadline = DispatchTime.now().uptimeNanoseconds + RecorderLimits.editNanoseconds
                        try editing.step(in: database, &totals, until: deadline)
                        try totals.write(in: database)
                        return .commit
                    }
                }
                return editing.result
            }
        } catch let error as DatabaseError {
            throw SessionError.editing(path, error)
        }
    }

    /// Removes deleted exchanges and the log. Throws ``SessionError`` if the exchanges cannot be removed.
    package func close() throws {
        defer { unlock() }
        try settle()
    }

    /// Like ``close()``, but keeps the lock.
    func settle() throws {
        do {
            try database.writeWithoutTransaction { database in
                try DeletedRows.remove(in: database)
                try? database.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)")
                try? database.execute(sql: "PRAGMA journal_mode = DELETE")
            }
            try database.close()
        } catch let error as DatabaseError {
            try? database.close()
            throw SessionError.removing(path, error)
        }
    }

    func unlock() { lock.release() }
}

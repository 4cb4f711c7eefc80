import Files
import Foundation
import GRDB
import HTTPModel

/// Copies of sessions under another name.
package enum SessionCopy {
    /// Writes a whole copy of a session, of this moment where it is still recorded, without what is marked as deleted. It
    /// is a file that only its owner may read.
    ///
    /// What is in flight counts as interrupted in the copy. Throws ``SessionError``; its code is `exists` where there is
    /// a file of that name and it is not to be replaced.
    package static func write(session path: String, to target: String, overwrites: Bool = false) throws {
        try write(session: path, to: target, overwrites: overwrites) {
            try copy(path, to: $0)
        } change: { _ in
        }
    }

    /// The files in which a copy of that name is written before it gets it, by this process.
    package static func temporaryFiles(of target: String) -> [String] {
        let part = "\(target).part-\(getpid())"
        return [part] + SessionPath.companions(of: part)
    }

    /// Removes what processes left that were killed while they wrote a copy of that name.
    private static func removeLeftovers(of target: String) {
        let url = URL(fileURLWithPath: target)
        let folder = url.deletingLastPathComponent().path
        let prefix = url.lastPathComponent + ".part-"
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where name.hasPrefix(prefix) {
            guard let process = pid_t(name.dropFirst(prefix.count)), process > 0, kill(process, 0) != 0, errno == ESRCH
            else { continue }
            let part = "\(folder)/\(name)"
            guard FileFacts(path: part)?.isRegular == true else { continue }
            for file in [part] + SessionPath.companions(of: part) { unlink(file) }
        }
    }

    /// Writes a copy by `make`, that `change` may change before it gets its name.
    static func write(
        session path: String,
        to target: String,
        overwrites: Bool,
        make: (_ copy: String) throws -> Void,
        change: (_ copy: String) throws -> Void
    ) throws {
        if let there = FileFacts(path: target) {
            guard there.isRegular else { throw SessionError.directory(target) }
            guard !SessionFiles.isSame(target, as: path) else {
                throw SessionError(.cannotOpen, "\(target) is the session itself.", hint: "Give another name.")
            }
            guard overwrites else { throw SessionError.exists(target) }
        }
        removeLeftovers(of: target)
        let files = temporaryFiles(of: target)
        let part = files[0]
        let descriptor = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SessionError.cannotOpen(target, errno) }
        close(descriptor)
        defer { for file in files { unlink(file) } }
        do {
            try make(part)
            try finish(part)
            try change(part)
        } catch let error as DatabaseError {
            throw SessionError.copying(path, target, error)
        } catch let error as SessionError {
            throw error.naming(target, for: part)
        }
        // A link fails where somebody has made the file meanwhile; a rename would replace it.
        guard (overwrites ? rename(part, target) : link(part, target)) == 0 else {
            throw errno == EEXIST ? SessionError.exists(target) : SessionError.cannotOpen(target, errno)
        }
    }

    private static func copy(_ path: String, to part: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let source = try DatabaseQueue(path: SessionPath.plain(path), configuration: configuration)
        try source.unsafeRead { database in
            // The reader's own guard against writing would refuse the copy as well.
            try database.execute(sql: "PRAGMA query_only = OFF")
            try database.execute(sql: "VACUUM INTO ?", arguments: [SessionPath.plain(part)])
        }
        try source.close()
    }

    /// Ends the copied runs, and removes what was marked as deleted.
    private static func finish(_ part: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.allowsUnsafeTransactions = true
        let copy = try DatabaseQueue(path: SessionPath.plain(part), configuration: configuration)
        try copy.writeWithoutTransaction { database in
            try Schema.complete(database)
            _ = try WritableSession.interruptOpenExchanges(in: SessionDatabase(connection: database, path: part))
            try database.execute(
                sql: "UPDATE run SET ended_at = ? WHERE ended_at IS NULL",
                arguments: [WallClock.now()]
            )
            try DeletedRows.remove(in: database)
        }
        try copy.close()
    }
}

import Files
import Foundation
import GRDB
import HTTPModel

package enum SessionCopy {
    /// Copies a session without deleted exchanges, in its present state, into a file that only its owner may read;
    /// exchanges in flight become interrupted. Throws ``SessionError``, with the code `exists` for a file that may not
    /// be overwritten.
    package static func write(session path: String, to target: String, overwrites: Bool = false) throws {
        guard !SessionFiles.isSame(target, as: path) else {
            throw SessionError(.cannotOpen, "\(target) is the session itself.", hint: "Give another name.")
        }
        try write(session: path, to: target, overwrites: overwrites) { part in
            _ = try copy(path, without: ExchangeNumbers(ranges: []), upTo: .max, to: part) { _ in }
            try finish(part)
        }
    }

    package static func temporaryFiles(of target: String) -> [String] {
        let part = "\(target).part-\(getpid())"
        return [part] + SessionPath.companions(of: part)
    }

    /// Removes files of processes that were killed while copying.
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

    /// Makes a copy, which gets its name when it is complete.
    static func write(
        session path: String,
        to target: String,
        overwrites: Bool,
        make: (_ copy: String) throws -> Void
    ) throws {
        if let there = FileFacts(path: target) {
            guard there.isRegular else { throw SessionError.directory(target) }
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
        } catch let error as DatabaseError {
            throw SessionError.copying(path, target, error)
        } catch let error as SessionError {
            throw error.naming(target, for: part)
        }
        // If another process made the file meanwhile, `link` fails; `rename` would replace the file.
        guard (overwrites ? rename(part, target) : link(part, target)) == 0 else {
            throw errno == EEXIST ? SessionError.exists(target) : SessionError.cannotOpen(target, errno)
        }
    }

    /// Ends runs, and interrupts exchanges in flight.
    static func finish(_ part: String) throws {
        let copy = try DatabaseQueue(path: SessionPath.plain(part), configuration: .session("sluice.copy", seconds: 5))
        try copy.writeWithoutTransaction { database in
            _ = try WritableSession.interruptOpenExchanges(in: SessionDatabase(connection: database, path: part))
            let sql = "UPDATE run SET ended_at = ? WHERE ended_at IS NULL"
            try database.execute(sql: sql, arguments: [WallClock.now()])
        }
        try copy.close()
    }
}

import Foundation
import GRDB
import GRDBSQLite

extension SessionError {
    static func missing(_ path: String) -> SessionError {
        SessionError(.missing, "There is no session \(path).", hint: "Check the name.")
    }

    static func directory(_ path: String) -> SessionError {
        SessionError(.cannotOpen, "\(path) is a directory.", hint: "Give the name of a session file.")
    }

    static func notASession(_ path: String) -> SessionError {
        let hint = "Give another name; Sluice only writes files that it made."
        return SessionError(.notASession, "\(path) is not a Sluice session.", hint: hint)
    }

    var forReader: SessionError {
        switch code {
        case .notASession: SessionError(code, message, hint: "Give a session that Sluice recorded, or a HAR.")
        case .cannotOpen: SessionError(code, message, hint: "Check that you may read it.")
        default: self
        }
    }

    static func foreign(_ path: String) -> SessionError {
        let hint = "Give another --session, in a directory that only you can write to."
        return SessionError(.cannotOpen, "\(path) belongs to another user, who could read the recording.", hint: hint)
    }

    static func otherSchema(_ path: String, _ version: Int64) -> SessionError {
        SessionError(
            .otherSchema,
            "\(path) was written by another version of Sluice (schema \(version); this version reads \(Schema.version)).",
            hint: "Export it with that version (sluice export SESSION --format har -o FILE), then sluice open FILE."
        )
    }

    static func locked(_ path: String) -> SessionError {
        let hint = "Stop it, or give another --session."
        return SessionError(.locked, "\(path) is being recorded by another running Sluice.", hint: hint)
    }

    static func exists(_ path: String) -> SessionError {
        SessionError(.exists, "\(path) is there already.", hint: "Give another name.")
    }

    static let nothingRecorded = SessionError(.missing, "There is no recording here to change.")

    static func nothingDeleted(_ path: String) -> SessionError {
        SessionError(.missing, "There is no deletion to undo in \(path).")
    }

    static func editing(_ path: String, _ error: DatabaseError) -> SessionError {
        let hint = "The change may be incomplete; check the disk and try again."
        return SessionError(.writeFailed, "The session \(path) cannot be written: \(error.reason).", hint: hint)
    }

    static func removing(_ path: String, _ error: DatabaseError) -> SessionError {
        let hint = "They are removed when the session is next written and closed."
        let message = "Deleted exchanges are hidden, but still in \(path): \(error.reason)."
        return SessionError(.writeFailed, message, hint: hint)
    }

    static func copying(_ path: String, _ target: String, _ error: DatabaseError) -> SessionError {
        let hint = error.resultCode == .SQLITE_FULL ? "Free some space." : "Give another name."
        return SessionError(.writeFailed, "\(path) cannot be copied to \(target): \(error.reason).", hint: hint)
    }

    static func inUse(_ path: String) -> SessionError {
        SessionError(.writeFailed, "\(path) is open in another program.", hint: "Close it there, or use -o.")
    }

    static func noSpace(_ path: String, needed: Int64, free: Int64) -> SessionError {
        let message = "There is too little space for \(path): \(free) bytes are free, about \(needed) are needed."
        return SessionError(.writeFailed, message, hint: "Free some space, or give -o on another disk.")
    }

    static func cannotBeSmaller(_ path: String, than size: Int64) -> SessionError {
        let hint = "Give a larger --max-size. Nothing was changed."
        return SessionError(.writeFailed, "\(path) takes \(size) bytes without any exchange.", hint: hint)
    }

    static func damaged(_ path: String, _ what: String) -> SessionError {
        SessionError(.damaged, "The session \(path) is damaged: \(what).")
    }

    private static func cannotOpen(_ path: String, because reason: String, hint: String) -> SessionError {
        SessionError(.cannotOpen, "The session \(path) cannot be opened: \(reason).", hint: hint)
    }

    static func cannotOpen(_ path: String, _ code: CInt) -> SessionError {
        let hint =
            switch code {
            case ENOENT: "Create the directory first, or give another --session."
            case EACCES, EPERM, EROFS: "Give a --session in a directory that you may write to."
            case ENOSPC, EDQUOT: "Free some space, or give a --session on another disk."
            default: "Give another --session."
            }
        return cannotOpen(path, because: String(cString: strerror(code)), hint: hint)
    }

    static func opening(_ path: String, _ error: DatabaseError) -> SessionError {
        switch error.resultCode {
        case .SQLITE_NOTADB: notASession(path)
        case .SQLITE_CORRUPT: damaged(path, error.corruption)
        case .SQLITE_BUSY, .SQLITE_LOCKED: locked(path)
        case .SQLITE_FULL: cannotOpen(path, because: "the disk is full", hint: "Free some space.")
        default:
            cannotOpen(path, because: error.reason, hint: "Give a --session in a directory that you may write to.")
        }
    }

    static func writing(_ path: String, _ error: DatabaseError) -> SessionError {
        let (reason, hint) =
            switch error.resultCode {
            case .SQLITE_FULL: ("the disk is full", "Free some space and start again.")
            case .SQLITE_BUSY, .SQLITE_LOCKED:
                ("another program is writing to it", "Stop that program and start again.")
            case .SQLITE_CORRUPT: ("the file is damaged", "Record into a new session.")
            case .SQLITE_READONLY,
                .SQLITE_IOERR where isReadOnly(path):
                ("its file system is read-only now", "Mount it for writing, or give a --session on another disk.")
            default: (error.reason, "Check the disk and start again.")
            }
        return SessionError(.writeFailed, "The session \(path) can no longer be written: \(reason).", hint: hint)
    }

    private static func isReadOnly(_ path: String) -> Bool {
        var facts = statvfs()
        return statvfs(path, &facts) == 0 && facts.f_flag & UInt(ST_RDONLY) != 0
    }

    static func reading(_ path: String, _ error: DatabaseError) -> SessionError {
        if [.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_TOOBIG].contains(error.resultCode) {
            return damaged(path, error.corruption)
        }
        let hint = "Try again, or check the disk."
        return SessionError(.readFailed, "The session \(path) cannot be read: \(error.reason).", hint: hint)
    }
}

extension DatabaseError {
    fileprivate var reason: String { message ?? "SQLite error \(resultCode.rawValue)" }
    fileprivate var corruption: String { message ?? "its pages contradict each other" }
}

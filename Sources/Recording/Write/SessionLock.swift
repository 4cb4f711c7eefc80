import Files
import Foundation
import Synchronization

/// Prevents a second recorder on a session; ends with the process. It is a `flock`, independent of SQLite's `fcntl`
/// locks. Closing any descriptor of a file would release SQLite's locks. So the descriptor stays open until SQLite is
/// done, and a session that this process records is not opened again.
final class SessionLock: Sendable {
    private static let heldHere = Mutex<Set<FileFacts.Identity>>([])

    let identity: FileFacts.Identity
    let isEmpty: Bool
    private let path: String
    private let descriptor: Mutex<CInt?>

    init(path: String) throws {
        self.path = path
        if let facts = FileFacts(path: path) {
            guard !facts.isDirectory else { throw SessionError.directory(path) }
            guard facts.isRegular else { throw SessionError.notASession(path) }
            guard !Self.heldHere.withLock({ $0.contains(facts.identity) }) else { throw SessionError.locked(path) }
        }
        let descriptor = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SessionError.cannotOpen(path, errno) }
        do {
            try Self.lock(descriptor, path)
            guard let facts = FileFacts(descriptor: descriptor) else { throw SessionError.cannotOpen(path, errno) }
            guard facts.isRegular else { throw SessionError.notASession(path) }
            // A trim may have replaced the file meanwhile.
            guard FileFacts(path: path)?.identity == facts.identity else { throw SessionError.locked(path) }
            isEmpty = facts.size == 0
            identity = facts.identity
            // SQLite gives later files the mode of the session; files of a killed run exist already.
            for file in SessionPath.companions(of: path) { try Self.makePrivate(file) }
            try Self.makePrivate(path, facts, fchmod(descriptor, 0o600))
        } catch {
            _ = Self.close(descriptor)
            throw error
        }
        self.descriptor = Mutex(descriptor)
        Self.heldHere.withLock { held in _ = held.insert(identity) }
    }

    /// Retries, because a process that is being started has a copy of the last recorder's descriptor until `exec`.
    private static func lock(_ descriptor: CInt, _ path: String) throws {
        for attempt in 1... {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SessionError.cannotOpen(path, errno) }
            guard attempt < RecorderLimits.lockAttempts else { throw SessionError.locked(path) }
            usleep(RecorderLimits.lockMicroseconds)
        }
    }

    deinit { release() }

    static func isHeldHere(_ identity: FileFacts.Identity) -> Bool { heldHere.withLock { $0.contains(identity) } }

    var isRemoved: Bool { descriptor.withLock { $0.flatMap { FileFacts(descriptor: $0) }?.hasName == false } }

    private static func makePrivate(_ path: String) throws {
        guard let facts = FileFacts(link: path) else { return }
        guard facts.isRegular else { throw SessionError.foreign(path) }
        try makePrivate(path, facts, chmod(path, 0o600))
    }

    private static func makePrivate(_ path: String, _ facts: FileFacts, _ change: @autoclosure () -> CInt) throws {
        guard facts.owner == geteuid() else { throw SessionError.foreign(path) }
        if facts.isOpenToOthers, change() != 0 { throw SessionError.cannotOpen(path, errno) }
    }

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

    private static func close(_ descriptor: CInt) -> CInt { Foundation.close(descriptor) }
}

enum SessionPath {
    /// The path in a form that SQLite reads neither as a URI nor as the name of a database in memory.
    static func plain(_ path: String) -> String { path.hasPrefix("/") ? path : "./" + path }

    static func resolved(_ path: String) -> String {
        guard let bytes = realpath(path, nil) else { return path }
        defer { free(bytes) }
        return String(cString: bytes)
    }

    /// Files that SQLite keeps while the session is open.
    static func companions(of path: String) -> [String] {
        let file = resolved(path)
        return ["-wal", "-shm", "-journal"].map { file + $0 }
    }

    /// The URI by which SQLite opens a file that nobody writes.
    static func immutable(_ path: String) -> String { URL(filePath: plain(path)).absoluteString + "?immutable=1" }
}

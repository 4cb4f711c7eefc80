import Files
import Foundation

/// The time between the creation of a session's file and of its tables.
package enum SessionCreation {
    /// The maximum number of checks, 20 ms apart.
    private static let looks = 50

    /// Waits until the session has tables, at most a second.
    package static func wait(for path: String, pause: () -> Void = { usleep(20_000) }) {
        for _ in 0..<looks {
            guard let facts = FileFacts(path: path), facts.isRegular, facts.size == 0, isHeld(path, facts.identity)
            else { return }
            pause()
        }
    }

    private static func isHeld(_ path: String, _ identity: FileFacts.Identity) -> Bool {
        if SessionLock.isHeldHere(identity) { return true }
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}

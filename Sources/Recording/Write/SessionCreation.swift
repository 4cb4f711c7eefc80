import Files
import Foundation

/// A session between the creation of its file and that of its tables.
package enum SessionCreation {
    /// How often is looked at most, 20 ms apart.
    private static let looks = 50

    /// Waits, a second at most, where a recorder has created a session's file and not yet written anything into it.
    ///
    /// `pause` passes the time between two looks.
    package static func wait(for path: String, pause: () -> Void = { usleep(20_000) }) {
        for _ in 0..<looks {
            guard let facts = FileFacts(path: path), facts.isRegular, facts.size == 0, isHeld(path, facts.identity)
            else { return }
            pause()
        }
    }

    /// Whether a recorder has the file, here or in another process.
    private static func isHeld(_ path: String, _ identity: FileFacts.Identity) -> Bool {
        if SessionLock.isHeldHere(identity) { return true }
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}

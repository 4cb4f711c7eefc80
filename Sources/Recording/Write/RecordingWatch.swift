import Foundation

/// Determines whether a session is being recorded, with a shared lock that it releases at once. Its descriptor stays
/// open, because closing it would release SQLite's locks on the file in this process.
package final class RecordingWatch: Sendable {
    private let descriptor: CInt

    package init?(path: String) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Whether a recorder or an editor holds the session's lock.
    package var isRecorded: Bool {
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(descriptor, LOCK_UN)
        return false
    }
}

import Foundation

/// Tells whether somebody records a session, without blocking it.
///
/// It takes a shared lock and releases it at once. Its descriptor stays open as long as it lives, because closing it
/// would release the locks of SQLite on the same file in this process.
package final class RecordingWatch: Sendable {
    private let descriptor: CInt

    /// `nil` if the file cannot be opened.
    package init?(path: String) {
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Whether a recorder or an editor has the session.
    package var isRecorded: Bool {
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return errno == EWOULDBLOCK }
        flock(descriptor, LOCK_UN)
        return false
    }
}

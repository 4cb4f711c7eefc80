import Foundation

/// Tells whether somebody records a session, without keeping anybody from it.
///
/// It asks for a recorder's lock and gives it back at once. Its descriptor stays open as long as it lives: closing it would
/// take away the locks that SQLite holds on the same file in this process.
package final class RecordingWatch: Sendable {
    private let descriptor: CInt

    /// `nil` where the file cannot be opened.
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

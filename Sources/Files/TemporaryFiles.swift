import Foundation
import Synchronization

/// Files and directories that this process is about to remove or to give their names, so that an end by a signal leaves
/// none of them behind.
package enum TemporaryFiles {
    private static let paths = Mutex<Set<String>>([])

    package static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    /// Forgets paths without removing them.
    package static func forget(_ forgotten: [String]) { paths.withLock { $0.subtract(forgotten) } }

    /// Gives a temporary file its name by `rename`, and forgets it where that succeeds: an end of the process comes
    /// before both or after both.
    static func settle(_ path: String, _ rename: () -> Bool) -> Bool {
        paths.withLock { paths in
            guard rename() else { return false }
            paths.remove(path)
            return true
        }
    }

    /// Removes all of them and ends the process; from then on none can be added or settled.
    package static func end(_ status: Int32) -> Never {
        paths.withLock { paths in
            for path in paths where unlink(path) != 0 { try? FileManager.default.removeItem(atPath: path) }
            _exit(status)
        }
    }
}

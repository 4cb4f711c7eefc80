import Foundation
import Synchronization

/// Files and directories that are removed if a signal ends the process.
package enum TemporaryFiles {
    private static let paths = Mutex<Set<String>>([])

    package static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    package static func forget(_ forgotten: [String]) { paths.withLock { $0.subtract(forgotten) } }

    /// Renames a file and forgets it; a signal cannot end the process in between.
    static func settle(_ path: String, _ rename: () -> Bool) -> Bool {
        paths.withLock { paths in
            guard rename() else { return false }
            paths.remove(path)
            return true
        }
    }

    /// Removes all, and ends the process.
    package static func end(_ status: Int32) -> Never {
        paths.withLock { paths in
            for path in paths where unlink(path) != 0 { try? FileManager.default.removeItem(atPath: path) }
            _exit(status)
        }
    }
}

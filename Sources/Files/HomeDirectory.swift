import Foundation

/// `$HOME`, or the account's home directory if `HOME` is empty or not set.
package enum HomeDirectory {
    package static var path: String {
        ProcessInfo.processInfo.environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }

    /// Expands `~` at the beginning; `~name` stays.
    package static func expanding(_ path: String) -> String {
        path == "~" || path.hasPrefix("~/") ? self.path + path.dropFirst() : path
    }
}

import Foundation

/// The home directory of whoever runs the program: `$HOME`, as in a shell, else the account's.
package enum HomeDirectory {
    package static var path: String {
        ProcessInfo.processInfo.environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()
    }

    /// Writes `~` at the beginning of a path out. Homes of others (`~name`) stay as they are.
    package static func expanding(_ path: String) -> String {
        path == "~" || path.hasPrefix("~/") ? self.path + path.dropFirst() : path
    }
}

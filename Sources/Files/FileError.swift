import Foundation

package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Cause: Sendable, Hashable {
        /// There is no such file.
        case missing
        /// There is something else than a file: a directory, a device, a pipe, a socket.
        case noFile
        /// The pipe has no reader.
        case unread
        /// Another error of the system.
        case system
    }

    /// As the caller named it.
    package let path: String
    /// What is wrong, as it follows the path: `cannot be read: No such file or directory`.
    package let reason: String
    /// The kind of error.
    package let cause: Cause

    init(_ path: String, _ reason: String, _ cause: Cause = .system) {
        (self.path, self.reason, self.cause) = (path, reason, cause)
    }

    /// Explains the last error of a system call.
    init(_ path: String, _ what: String, errno code: CInt) {
        let cause: Cause =
            switch code {
            case ENOENT: .missing
            case EPIPE: .unread
            default: .system
            }
        self.init(path, "\(what): \(String(cString: strerror(code)))", cause)
    }

    package var description: String { "\(path) \(reason)." }
}

/// The kind of file at a path, with an article.
enum FileKind: String {
    case file = "a file"
    case directory = "a directory"
    case device = "a device"
    case pipe = "a pipe"
    case socket = "a socket"
    case link = "a link"

    init(_ facts: stat) {
        switch facts.st_mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .directory
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFLNK: self = .link
        default: self = .device
        }
    }
}

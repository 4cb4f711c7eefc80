import Foundation

package struct FileError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Cause: Sendable, Hashable {
        case missing
        /// A directory, device, pipe or socket.
        case noFile
        case unread
        case system
    }

    package let path: String
    /// For example `cannot be read: No such file or directory`.
    package let reason: String
    package let cause: Cause

    init(_ path: String, _ reason: String, _ cause: Cause = .system) {
        self.path = path
        self.reason = reason
        self.cause = cause
    }

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

import Foundation

/// A file descriptor that is closed when the value is destroyed.
struct OpenFile: ~Copyable {
    let descriptor: CInt

    init(owning descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Returns the descriptor; the caller must close it.
    consuming func release() -> CInt {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    /// Opens a directory by its path; links are followed, because the user chose the path.
    init(directory path: String) throws(SystemError) {
        self.init(owning: try SystemError.check { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
    }

    /// Opens a file by its path without blocking, because it may be a pipe; links are followed.
    init(path: String) throws(SystemError) {
        self.init(owning: try SystemError.check { open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) })
    }

    /// Opens an entry of a directory if it is not a link.
    init(_ name: String, in directory: borrowing OpenFile, isDirectory: Bool) throws(SystemError) {
        let parent = directory.descriptor
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC | (isDirectory ? O_DIRECTORY : 0)
        self.init(owning: try SystemError.check { openat(parent, name, flags) })
    }

    func status() throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try SystemError.check { fstat(descriptor, &status) }
        return FileStatus(status)
    }

    /// The status of an entry of this directory; a link is not followed.
    func status(of name: String) throws(SystemError) -> FileStatus {
        var status = stat()
        _ = try SystemError.check { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
        return FileStatus(status)
    }

    func link(_ name: String) throws(SystemError) -> String {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = try SystemError.check { CInt(readlinkat(descriptor, name, &target, target.count)) }
        return String(decoding: target.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Reads a range; returns fewer bytes at the file's end.
    func read(_ range: Range<Int64>) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes { target in
                let rest = UnsafeMutableRawBufferPointer(rebasing: target[filled...])
                return pread(descriptor, rest.baseAddress, rest.count, off_t(range.lowerBound) + off_t(filled))
            }
            if count < 0 {
                if errno == EINTR { continue }
                throw SystemError(errno)
            }
            if count == 0 { break }
            filled += count
        }
        bytes.removeLast(bytes.count - filled)
        return bytes
    }

    /// Calls `body` with the name of each entry of this directory, at most 100,000, until it returns `false`.
    func forEachName(_ body: (String) -> Bool) throws(SystemError) {
        let copy = try SystemError.check { openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        guard let listing = fdopendir(copy) else {
            let error = SystemError(errno)
            close(copy)
            throw error
        }
        defer { closedir(listing) }
        for _ in 0..<100_000 {
            guard let entry = readdir(listing) else { return }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != "..", !body(name) { return }
        }
    }
}

struct FileStatus {
    enum Kind {
        case file
        case directory
        case link
        /// A device, a pipe, a socket.
        case special
    }

    let kind: Kind
    /// In bytes.
    let size: Int64
    private let device: UInt64
    private let number: UInt64

    init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .directory
            case S_IFLNK: .link
            default: .special
            }
        size = Int64(status.st_size)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
    }

    /// The status of a path, links followed; `nil` if `stat(2)` fails.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    func isSame(as other: FileStatus) -> Bool { device == other.device && number == other.number }
}

struct SystemError: Error, CustomStringConvertible {
    let code: CInt

    init(_ code: CInt) { self.code = code }

    var description: String { String(cString: strerror(code)) }

    /// Whether the file does not exist.
    var isAbsence: Bool { code == ENOENT || code == ENOTDIR || code == ENAMETOOLONG }

    /// Repeats a call that a signal interrupted.
    static func check(_ call: () -> CInt) throws(SystemError) -> CInt {
        while true {
            let result = call()
            if result >= 0 { return result }
            if errno != EINTR { throw SystemError(errno) }
        }
    }
}

extension FileStatus {
    /// Why no files can be created in a directory, or in its nearest ancestor if it is missing; `nil` if they can.
    static func obstacle(toDirectory path: String) -> String? {
        var parts = path.split(separator: "/")
        var ancestor = path
        while true {
            if let status = FileStatus(path: ancestor) {
                guard status.kind == .directory else { return "'\(ancestor)' is a file, not a directory" }
                let isWritable = access(ancestor, W_OK | X_OK) == 0
                return isWritable ? nil : "nothing can be written to the directory '\(ancestor)'"
            }
            guard parts.popLast() != nil else { return nil }
            let root = path.hasPrefix("/") ? "/" : parts.isEmpty ? "." : ""
            ancestor = root + parts.joined(separator: "/")
        }
    }
}

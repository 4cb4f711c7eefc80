import Foundation
package import NIOCore

/// Where output goes: a file that appears whole or not at all, a device or a pipe, or standard output. A file is
/// written under a random name beside the one that it gets, and takes its place when it is whole. A link stays, and
/// what it leads to is written. A device, a pipe and `/dev/stdout` are written into.
package final class OutputFile {
    package private(set) var count = 0

    /// For errors.
    package static let standardOutput = "Standard output"

    /// For errors.
    private let name: String
    private let descriptor: CInt
    private let ownsDescriptor: Bool
    /// How long the one who reads may take nothing, in milliseconds; -1 is for good.
    private let patience: CInt
    /// The file's names before and after it is whole; `nil` if it is written into.
    private var names: (temporary: String, target: String)?

    /// Opens the output; `nil` and `-` are standard output. Only the user may read a file that `isSecret`; another
    /// keeps the mode of the one that it replaces. Where it `waits`, a pipe that nobody reads is waited for; else that
    /// is an error, and one whose reader takes nothing for five seconds, too.
    package init(_ path: String?, isSecret: Bool = false, waits: Bool = true) throws(FileError) {
        patience = waits ? -1 : InputFile.patience
        guard let path, path != "-" else {
            name = OutputFile.standardOutput
            (descriptor, ownsDescriptor) = (STDOUT_FILENO, false)
            return
        }
        guard !path.isEmpty else { throw FileError("The name of the file to write", "is empty", .missing) }
        name = path
        ownsDescriptor = true
        switch try Target(path) {
        case .descriptor(let number): descriptor = fcntl(number, F_DUPFD_CLOEXEC, 0)
        case .special(let special):
            descriptor = try OutputFile.special(special, name: path, waits: waits)
        case .file(let target, let mode):
            let temporary = OutputFile.temporaryName(beside: target)
            descriptor = OutputFile.create(temporary, mode: isSecret ? 0o600 : 0o644)
            if descriptor >= 0 {
                TemporaryFiles.add(temporary)
                names = (temporary, target)
                if !isSecret, let mode { fchmod(descriptor, mode) }
            }
        }
        guard descriptor >= 0 else { throw FileError(path, "cannot be written", errno: errno) }
    }

    deinit {
        if let names {
            unlink(names.temporary)
            TemporaryFiles.forget([names.temporary])
        }
        if ownsDescriptor { close(descriptor) }
    }

    /// Whether there is a file of that name with something in it, which would be lost.
    package static func isThere(_ path: String) -> Bool {
        var facts = stat()
        guard openDescriptor(path) == nil, stat(path, &facts) == 0 else { return false }
        return FileKind(facts) == .file && facts.st_size > 0
    }

    // MARK: - Writing

    package func write(_ bytes: ByteBuffer) throws(FileError) {
        count += bytes.readableBytes
        var rest = bytes
        while rest.readableBytes > 0 {
            let written = rest.withUnsafeReadableBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if written >= 0 {
                rest.moveReaderIndex(forwardBy: written)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                if poll(&entry, 1, patience) == 0 {
                    throw FileError(name, "cannot be written: nobody reads it")
                }
            } else if errno != EINTR {
                throw failure()
            }
        }
    }

    package func write(_ text: String) throws(FileError) {
        if !text.isEmpty { try write(ByteBuffer(string: text)) }
    }

    /// Renames the file.
    package func finish() throws(FileError) {
        guard let names else { return }
        guard fsync(descriptor) == 0,
            TemporaryFiles.settle(names.temporary, { rename(names.temporary, names.target) == 0 })
        else { throw failure() }
        self.names = nil
    }

    /// Puts the file in its place, unless there is one already; returns whether it did.
    package func finishUnlessThere() throws(FileError) -> Bool {
        guard let names else { return true }
        guard fsync(descriptor) == 0 else { throw failure() }
        if link(names.temporary, names.target) == 0 { return true }
        if errno == EEXIST { return false }
        throw failure()
    }

    private func failure() -> FileError { FileError(name, "cannot be written", errno: errno) }

    // MARK: - Opening

    /// Makes a new file, and writes into nothing that exists; -1 where there is something of that name, if only a link.
    static func create(_ path: String, mode: mode_t) -> CInt {
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }

    /// Opens a device or a pipe.
    private static func special(_ path: String, name: String, waits: Bool) throws(FileError) -> CInt {
        var descriptor: CInt
        repeat {
            descriptor = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | (waits ? 0 : O_NONBLOCK))
        } while descriptor < 0 && errno == EINTR
        var facts = stat()
        guard descriptor >= 0 else {
            guard errno == ENXIO, stat(path, &facts) == 0 else {
                throw FileError(name, "cannot be written", errno: errno)
            }
            let reason = FileKind(facts) == .pipe ? "nobody reads the pipe" : "it is \(FileKind(facts).rawValue)"
            throw FileError(name, "cannot be written: \(reason)", .noFile)
        }
        guard fstat(descriptor, &facts) == 0, FileKind(facts) != .file else {
            close(descriptor)
            throw FileError(name, "cannot be written: the file was replaced meanwhile")
        }
        return descriptor
    }

    /// The kind of output at a path.
    private enum Target {
        /// An open descriptor of this process.
        case descriptor(CInt)
        /// A device or a pipe.
        case special(String)
        /// A regular file with its mode, or a new one.
        case file(String, mode: mode_t?)

        /// Resolves links.
        init(_ name: String) throws(FileError) {
            var path = name
            for _ in 0..<40 {
                if let number = openDescriptor(path) {
                    self = .descriptor(number)
                    return
                }
                var facts = stat()
                guard lstat(path, &facts) == 0 else {
                    guard errno == ENOENT, !path.isEmpty else {
                        throw FileError(name, "cannot be written", errno: errno)
                    }
                    self = .file(path, mode: nil)
                    return
                }
                switch FileKind(facts) {
                case .file:
                    self = .file(path, mode: facts.st_mode & 0o777)
                    return
                case .directory: throw FileError(name, "cannot be written: it is a directory", .noFile)
                case .device, .pipe, .socket:
                    self = .special(path)
                    return
                case .link: path = try Target.destination(of: path, facts, name)
                }
            }
            throw FileError(name, "cannot be written", errno: ELOOP)
        }

        /// Where a link leads; refuses one that somebody put into a directory that is another's, to have us write over
        /// a file of ours.
        private static func destination(of link: String, _ facts: stat, _ name: String) throws(FileError) -> String {
            let parent = directory(of: link)
            var owner = stat()
            let isTrusted =
                [geteuid(), 0].contains(facts.st_uid)
                || stat(parent.isEmpty ? "." : parent, &owner) == 0 && owner.st_uid == facts.st_uid
            guard isTrusted else {
                throw FileError(name, "cannot be written: it is a link that another user made", .noFile)
            }
            var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlink(link, &bytes, bytes.count)
            guard count > 0 else { throw FileError(name, "cannot be written", errno: errno) }
            let destination = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return destination.hasPrefix("/") ? destination : parent + destination
        }
    }

    /// The descriptor of ours that a path stands for; opening the path would begin at the start of its file once more.
    private static func openDescriptor(_ path: String) -> CInt? {
        switch path {
        case "/dev/stdout": return STDOUT_FILENO
        case "/dev/stderr": return STDERR_FILENO
        default:
            let folder = ["/dev/fd/", "/proc/self/fd/"].first { path.hasPrefix($0) }
            return folder.flatMap { CInt(path.dropFirst($0.count)) }
        }
    }

    /// With its last slash.
    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// A name that nobody can guess; the file's own is in it as far as there is room.
    private static func temporaryName(beside target: String) -> String {
        let parent = directory(of: target)
        let stem = String(target.dropFirst(parent.count).unicodeScalars.prefix(50))
        return "\(parent)\(stem).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    }
}

/// `write(2)`, which the method hides.
func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

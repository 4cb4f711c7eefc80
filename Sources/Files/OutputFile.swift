import Foundation
package import NIOCore

/// A file that appears complete or not at all, a device or pipe, or standard output. A file is written under a random
/// name and renamed; the target of a link is replaced, not the link.
package final class OutputFile {
    /// Changes the bytes of a file on their way, such as by compressing them; the last call is for its end. `nil` is a
    /// failure.
    package typealias Coder = (_ bytes: ByteBuffer, _ isLast: Bool) -> ByteBuffer?

    /// How many bytes are written, after the coder.
    package private(set) var count = 0
    package var coder: Coder?

    package static let standardOutput = "Standard output"

    private let name: String
    private let descriptor: CInt
    private let ownsDescriptor: Bool
    /// How long a reader may be silent, in milliseconds; -1 for ever.
    private let patience: CInt
    /// `nil` if the output is written directly.
    private var names: (temporary: String, target: String)?

    /// `nil` and `-` are standard output. Only the user can read a secret file; others keep the replaced file's mode.
    /// Without `waits`, a pipe without a reader is an error, and so is a reader that is silent for five seconds.
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

    /// Whether a non-empty file would be lost.
    package static func isThere(_ path: String) -> Bool {
        var facts = stat()
        guard openDescriptor(path) == nil, stat(path, &facts) == 0 else { return false }
        return FileKind(facts) == .file && facts.st_size > 0
    }

    package func write(_ bytes: ByteBuffer) throws(FileError) { try write(bytes, isLast: false) }

    private func write(_ bytes: ByteBuffer, isLast: Bool) throws(FileError) {
        guard let bytes = coder.map({ $0(bytes, isLast) }) ?? bytes else {
            throw FileError(name, "cannot be written: the library that compresses it failed")
        }
        count += bytes.readableBytes
        try writeAll(bytes, to: descriptor, name, patience: patience)
    }

    package func write(_ text: String) throws(FileError) {
        if !text.isEmpty { try write(ByteBuffer(string: text)) }
    }

    package func finish() throws(FileError) {
        if coder != nil { try write(ByteBuffer(), isLast: true) }
        coder = nil
        guard let names else { return }
        guard fsync(descriptor) == 0,
            TemporaryFiles.settle(names.temporary, { rename(names.temporary, names.target) == 0 })
        else { throw failure() }
        self.names = nil
    }

    /// Never replaces a file: returns `false` if there is one already.
    package func finishUnlessThere() throws(FileError) -> Bool {
        guard let names else { return true }
        guard fsync(descriptor) == 0 else { throw failure() }
        if link(names.temporary, names.target) == 0 { return true }
        if errno == EEXIST { return false }
        throw failure()
    }

    private func failure() -> FileError { FileError(name, "cannot be written", errno: errno) }

    static func create(_ path: String, mode: mode_t) -> CInt {
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
    }

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

    private enum Target {
        case descriptor(CInt)
        /// A device or a pipe.
        case special(String)
        /// A regular file with its mode, or a new one.
        case file(String, mode: mode_t?)

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

        /// Refuses a link that another user made in another user's directory: it could make us overwrite our own files.
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

    /// The descriptor that a path such as `/dev/fd/3` names. Opening the path would write from the file's beginning.
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

    /// A name that nobody can guess.
    static func temporaryName(beside target: String) -> String {
        let parent = directory(of: target)
        let stem = String(target.dropFirst(parent.count).unicodeScalars.prefix(50))
        return "\(parent)\(stem).\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    }
}

/// Writes all bytes; a reader may be silent for `patience` milliseconds, -1 for ever.
func writeAll(_ bytes: ByteBuffer, to descriptor: CInt, _ name: String, patience: CInt = -1) throws(FileError) {
    var rest = bytes
    while rest.readableBytes > 0 {
        let written = rest.withUnsafeReadableBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written >= 0 {
            rest.moveReaderIndex(forwardBy: written)
        } else if errno == EAGAIN {
            var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            if poll(&entry, 1, patience) == 0 { throw FileError(name, "cannot be written: nobody reads it") }
        } else if errno != EINTR {
            throw FileError(name, "cannot be written", errno: errno)
        }
    }
}

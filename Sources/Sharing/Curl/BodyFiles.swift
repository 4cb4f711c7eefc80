public import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Where the bodies go that no command line can carry.
public protocol BodyFiles {
    /// Writes a file.
    ///
    /// - Parameters:
    ///   - name: the name proposed for it, of letters, digits, `-` and `.` only.
    ///   - contents: calls its argument with each piece of the contents in order.
    /// - Returns: the path by which the command is to read it.
    /// - Throws: what kept the file from being written.
    func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String
}

/// Why a body file could not be written.
public struct BodyFileError: Error, CustomStringConvertible {
    /// What happened, with the path and the system's reason.
    public var description: String
}

/// Body files in one directory, which is made when the first is written.
///
/// Only the user can read them.
public struct BodyDirectory: BodyFiles {
    private let path: String
    private let name: String

    /// Prepares a directory.
    ///
    /// - Parameters:
    ///   - path: the directory.
    ///   - name: how commands name it, for example relative to the script beside it; `path` where `nil`.
    public init(path: String, referredToAs name: String? = nil) {
        self.path = path
        self.name = name ?? path
    }

    /// Writes a file, over an older one of that name.
    public func write(_ name: String, contents: ((ByteBuffer) throws -> Void) throws -> Void) throws -> String {
        if mkdir(path, 0o700) != 0, errno != EEXIST { throw BodyDirectory.failure("cannot make the directory", path) }
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BodyDirectory.failure("cannot create", file) }
        defer { close(descriptor) }
        try contents { piece in
            try piece.withUnsafeReadableBytes { bytes in
                var offset = 0
                while offset < bytes.count {
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    let count = BodyDirectory.writeOnce(descriptor, rest)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw BodyDirectory.failure("cannot write", file) }
                    offset += count
                }
            }
        }
        return "\(self.name)/\(name)"
    }

    private static func writeOnce(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
        #if canImport(Glibc)
        Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        #else
        Darwin.write(descriptor, bytes.baseAddress, bytes.count)
        #endif
    }

    private static func failure(_ what: String, _ path: String) -> BodyFileError {
        BodyFileError(description: "\(what) \(path): \(String(cString: strerror(errno)))")
    }
}

import Foundation
public import NIOCore

/// Where a command's output goes: a file that appears whole or not at all, or standard output.
public final class OutputFile {
    private let path: String?
    private let temporary: String?
    private let handle: FileHandle
    private var isFinished = false

    /// Opens the output; `nil` is standard output.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - isSecret: whether only the user may read the file.
    /// - Throws: `StartFailure` where the file cannot be made.
    public init(path: String?, isSecret: Bool = false) throws {
        guard let path, path != "-" else {
            self.path = nil
            temporary = nil
            handle = .standardOutput
            return
        }
        let temporary = "\(path).\(ProcessInfo.processInfo.processIdentifier).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, isSecret ? 0o600 : 0o644)
        guard descriptor >= 0 else {
            throw StartFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        self.path = path
        self.temporary = temporary
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Appends bytes.
    public func write(_ bytes: ByteBuffer) throws {
        do {
            try handle.write(contentsOf: bytes.withUnsafeReadableBytes { Data($0) })
        } catch {
            throw StartFailure("\(path ?? "Standard output") cannot be written: \(error.localizedDescription)")
        }
    }

    /// Appends text.
    public func write(_ text: String) throws {
        if !text.isEmpty { try write(ByteBuffer(string: text)) }
    }

    /// Puts the file in its place.
    public func finish() throws {
        guard let path, let temporary else { return }
        guard rename(temporary, path) == 0 else {
            throw StartFailure("\(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        isFinished = true
    }

    deinit {
        if !isFinished, let temporary { unlink(temporary) }
    }
}

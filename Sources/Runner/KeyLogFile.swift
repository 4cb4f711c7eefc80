import Foundation
import Jobs
import Synchronization

/// The file that `SSLKEYLOGFILE` names: TLS secrets in the NSS key log format, for Wireshark.
final class KeyLogFile: Sendable {
    private let handle: Mutex<FileHandle>

    /// Opens the file for appending, without waiting for a pipe or device; a new one is readable only by its user.
    init(path: String) throws {
        // A slow reader of a pipe loses lines, so that no connection has to wait for the reader.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0o600)
        var facts = stat()
        var problem: String?
        if descriptor < 0 || fstat(descriptor, &facts) != 0 {
            problem = errno == ENXIO ? "nobody reads the pipe" : String(cString: strerror(errno))
        } else if facts.st_mode & S_IFMT == S_IFREG, facts.st_uid != geteuid() {
            problem = "it belongs to another user"
            close(descriptor)
        }
        if let problem {
            throw StartError("The key log \(path) cannot be written: \(problem).", hint: "Set or unset SSLKEYLOGFILE.")
        }
        handle = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    func append(_ line: String) { handle.withLock { try? $0.write(contentsOf: Data((line + "\n").utf8)) } }
}

import Foundation
import Synchronization

/// The file that `SSLKEYLOGFILE` names: TLS secrets in the NSS key log form, for Wireshark.
final class KeyLogFile: Sendable {
    private let handle: Mutex<FileHandle>

    /// Opens the file for appending; only its user can read it.
    init(path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StartFailure(
                "The key log \(path) cannot be written: \(String(cString: strerror(errno))).",
                hint: "Set SSLKEYLOGFILE to a file that can be written, or unset it."
            )
        }
        handle = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    /// Appends a line.
    func append(_ line: String) {
        handle.withLock { try? $0.write(contentsOf: Data((line + "\n").utf8)) }
    }
}

import Foundation
import Jobs
import Synchronization
import Text

/// The file that `--log` names: a line for each exchange, beside the output of a command.
final class LogFile: Sendable {
    private let path: String
    private let report: @Sendable (String) -> Void
    /// `nil` once a line could not be written.
    private let handle: Mutex<FileHandle?>

    /// Opens the file, without what it had before; only its user can read a new one. Throws ``StartError``.
    init(path: String, report: @escaping @Sendable (String) -> Void) throws(StartError) {
        (self.path, self.report) = (path, report)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StartError("The log \(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        handle = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    var isWhole: Bool { handle.withLock { $0 != nil } }

    /// Appends lines; after a failure, which is reported, nothing more is written.
    @Sendable func append(_ text: String) {
        let problem = handle.withLock { handle -> String? in
            do {
                try handle?.write(contentsOf: Data(VisibleText.lines(text).utf8))
                return nil
            } catch {
                handle = nil
                return error.localizedDescription
            }
        }
        if let problem { report("sluice: the log \(path) is not whole: \(problem)\n") }
    }
}

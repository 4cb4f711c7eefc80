import Foundation
import Jobs
import Synchronization
import Text

/// The file of `--log`: a line for each exchange.
final class LogFile: Sendable {
    private let path: String
    private let report: @Sendable (String) -> Void
    /// `nil` after a failed write.
    private let handle: Mutex<FileHandle?>

    /// Opens and empties the file; a new one is readable only by its user. Throws ``StartError``.
    init(path: String, report: @escaping @Sendable (String) -> Void) throws(StartError) {
        (self.path, self.report) = (path, report)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOCTTY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StartError("The log \(path) cannot be written: \(String(cString: strerror(errno))).")
        }
        handle = Mutex(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    var isWhole: Bool { handle.withLock { $0 != nil } }

    /// After a failure, which is reported once, nothing more is written.
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

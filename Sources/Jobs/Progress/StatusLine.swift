import Foundation
import Synchronization

/// A line of the terminal on standard error that is overwritten until something else is written.
package enum StatusLine {
    private static let isDrawn = Mutex(false)
    private static let eraseLine = "\r\u{1B}[K"

    /// Whether standard error is a terminal to which this process may write.
    static var isPossible: Bool {
        guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return false }
        let foreground = tcgetpgrp(STDERR_FILENO)
        return foreground < 0 || foreground == getpgrp()
    }

    /// The width of a terminal in columns; 80 if it is unknown.
    package static func width(of descriptor: CInt = STDERR_FILENO) -> Int {
        var size = winsize()
        return ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    static func draw(_ text: String) {
        isDrawn.withLock { isDrawn in
            // The last column stays empty, because some terminals wrap the line there.
            write("\r\(text)\u{1B}[K")
            isDrawn = true
        }
    }

    static func erase() { whileErased {} }

    static func whileErased(_ body: () -> Void) {
        isDrawn.withLock { isDrawn in
            if isDrawn { write(eraseLine) }
            isDrawn = false
            body()
        }
    }

    /// Writes a last text, unless another thread is stuck in writing.
    static func writeAtEnd(_ text: String) {
        isDrawn.withLockIfAvailable { isDrawn in
            if isDrawn { write(eraseLine) }
            isDrawn = false
            write(text)
        }
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Foundation.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

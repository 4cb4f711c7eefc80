import Foundation
import Synchronization

/// The line of a terminal behind standard error that is written over until something else is written.
enum StatusLine {
    private static let isDrawn = Mutex(false)
    private static let eraseLine = "\r\u{1B}[K"

    /// Whether standard error is a terminal on which a line can be written over, and this process may write there.
    static var isPossible: Bool {
        guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return false }
        let foreground = tcgetpgrp(STDERR_FILENO)
        return foreground < 0 || foreground == getpgrp()
    }

    /// The terminal's width in columns.
    static var width: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    static func draw(_ text: String) {
        isDrawn.withLock { isDrawn in
            // The last column stays empty: some terminals wrap there.
            write("\r\(text)\u{1B}[K")
            isDrawn = true
        }
    }

    static func erase() { whileErased {} }

    /// Does what writes to the terminal, with the line erased.
    static func whileErased(_ body: () -> Void) {
        isDrawn.withLock { isDrawn in
            if isDrawn { write(eraseLine) }
            isDrawn = false
            body()
        }
    }

    /// Writes a last text; where another thread is stuck in writing, it is left out.
    static func writeAtEnd(_ text: String) {
        isDrawn.withLockIfAvailable { isDrawn in
            if isDrawn { write(eraseLine) }
            isDrawn = false
            write(text)
        }
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { systemWrite(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

/// `write(2)`, which the method of that name hides.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

import Foundation
package import Jobs

package enum PasswordPrompt {
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    private static let limit = 1_024

    /// `nil` if nothing was typed or there is no terminal. Throws `StartError` if the user cancels.
    package static func ask(_ owner: String) throws(StartError) -> String? {
        let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        var quiet = before
        // Keys arrive one by one, and Ctrl-C sends no signal, so the terminal's echo is always restored.
        quiet.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard tcsetattr(terminal, TCSAFLUSH, &quiet) == 0 else { return nil }
        defer { tcsetattr(terminal, TCSAFLUSH, &before) }
        write("Password of \(owner): ", to: terminal)
        defer { write("\n", to: terminal) }
        var bytes: [UInt8] = []
        while true {
            var byte: UInt8 = 0
            let got = read(terminal, &byte, 1)
            if got < 0, errno == EINTR { continue }
            guard got == 1 else { break }
            switch byte {
            case 0x0A, 0x0D: return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            case 0x03, 0x1C: throw StartError("No password was given for \(owner).")
            case 0x04 where bytes.isEmpty: return nil
            case 0x08, 0x7F:
                // A character may be several bytes.
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case 0x15: bytes = []
            default: if bytes.count < limit { bytes.append(byte) }
            }
        }
        return nil
    }

    private static func write(_ text: String, to terminal: CInt) {
        try? FileHandle(fileDescriptor: terminal, closeOnDealloc: false).write(contentsOf: Data(text.utf8))
    }
}

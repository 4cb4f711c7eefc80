import Foundation
package import Terminal

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A terminal without a screen: whoever holds it is the user, and a program is at its other end.
package final class PseudoTerminal: Sendable {
    /// The path of the program's end.
    package let name: String
    private let descriptor: Int32
    /// The program's end, held open so that the terminal lasts until a program has it.
    private let end: Int32

    /// Opens one.
    ///
    /// - Parameter size: its columns and rows.
    /// - Throws: ``ChildProgram/Failure`` where the system has none.
    package init(_ size: Size) throws {
        var (descriptor, end): (Int32, Int32) = (-1, -1)
        var window = PseudoTerminal.window(size)
        var name = [CChar](repeating: 0, count: 1_024)
        guard openpty(&descriptor, &end, &name, nil, &window) == 0 else {
            throw ChildProgram.ProgramError(
                description: "no terminal can be opened: \(String(cString: strerror(errno)))"
            )
        }
        for end in [descriptor, end] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.descriptor = descriptor
        self.end = end
        self.name = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        close(descriptor)
        close(end)
    }

    /// Changes the size, of which the program is told with SIGWINCH.
    package func resize(_ size: Size) {
        var window = PseudoTerminal.window(size)
        _ = ioctl(descriptor, UInt(TIOCSWINSZ), &window)
    }

    /// Types bytes.
    package func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, rest)
                if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
            }
        }
    }

    /// What was written to it, waiting a moment for the first byte: none where nothing came.
    package func read() -> [UInt8] {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 50) > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            count = max(0, systemRead(descriptor, buffer))
        }
    }

    /// How its lines are treated, as `tcgetattr` tells.
    package var attributes: [UInt8] {
        var attributes = termios()
        tcgetattr(end, &attributes)
        return withUnsafeBytes(of: attributes) { Array($0) }
    }

    private static func window(_ size: Size) -> winsize {
        winsize(ws_row: UInt16(size.height), ws_col: UInt16(size.width), ws_xpixel: 0, ws_ypixel: 0)
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    write(descriptor, UnsafeRawBufferPointer(rebasing: bytes).baseAddress, bytes.count)
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(descriptor, buffer.baseAddress, buffer.count)
}

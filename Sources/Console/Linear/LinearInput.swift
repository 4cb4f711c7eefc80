import Foundation

/// Lines from a descriptor, read without waiting.
struct LinearInput {
    /// In bytes.
    static let longestLine = 1 << 20

    let descriptor: Int32
    private(set) var hasEnded = false
    private var bytes: [UInt8] = []
    /// `nil` for a line that was too long.
    private var lines: ArraySlice<String?> = []
    private var isSkipping = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Whether nothing is left and nothing will come.
    var isOver: Bool { hasEnded && lines.isEmpty }

    /// The next whole line; throws ``ConsoleError`` in place of a line that is too long.
    mutating func next() throws(ConsoleError) -> String? {
        guard let next = lines.popFirst() else { return nil }
        guard let line = next else {
            throw ConsoleError("A line is longer than \(LinearInput.longestLine >> 20) MiB; it was left out.")
        }
        return line
    }

    /// Reads the available bytes; for a descriptor that can be read.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        if count > 0 {
            take(buffer[..<count])
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            end()
        }
    }

    /// Adds bytes; a line that is too long is left out.
    mutating func take(_ more: some Sequence<UInt8>) {
        for byte in more {
            if byte == 0x0A {
                if isSkipping { lines.append(nil) } else { finishLine() }
                isSkipping = false
                bytes.removeAll(keepingCapacity: true)
            } else if !isSkipping {
                bytes.append(byte)
                isSkipping = bytes.count > LinearInput.longestLine
            }
        }
    }

    /// Ends the input; a last line without an end counts.
    mutating func end() {
        hasEnded = true
        if isSkipping { lines.append(nil) } else if !bytes.isEmpty { finishLine() }
        bytes = []
    }

    private mutating func finishLine() {
        if bytes.last == 0x0D { bytes.removeLast() }
        lines.append(String(decoding: bytes, as: UTF8.self))
    }
}

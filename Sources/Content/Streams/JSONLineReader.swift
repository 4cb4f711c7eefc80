import NIOCore

/// Reads JSON texts from a stream with one text per line, or from a JSON text sequence (RFC 7464). Does not check the
/// texts. Skips blank lines; a carriage return before the line feed is not part of a text.
package final class JSONLineReader: StreamReader {
    private let direction: StreamedMessage.Direction
    private let textLimit: Int
    private var boundary = JSONLineBoundary()
    private var offset: Int64 = 0
    private var count: Int64 = 0
    /// The current text without leading white space; bytes after the limit are only counted.
    private var text = ByteBuffer()
    private var start: Int64?
    private var size: Int64 = 0
    /// How many bytes of white space the text ends with so far.
    private var trailingSpace: Int64 = 0

    package init(direction: StreamedMessage.Direction = .fromServer, textLimit: Int = 4096) {
        self.direction = direction
        self.textLimit = max(textLimit, 0)
    }

    package func feed(_ bytes: UnsafeRawBufferPointer, _ emit: (StreamedMessage) throws -> Void) rethrows {
        var position = 0
        while position < bytes.count {
            let (next, isEnd) = boundary.advance(bytes, from: position)
            take(UnsafeRawBufferPointer(rebasing: bytes[position..<next]))
            let wasCut = boundary.isSequence == true && bytes[next - 1] == JSONLineBoundary.separator
            position = next
            if isEnd {
                try emit(describe(isWhole: !wasCut))
            } else if !boundary.hasContent {
                begin()
            }
        }
    }

    package func finish(_ emit: (StreamedMessage) throws -> Void) rethrows {
        if boundary.hasContent { try emit(describe(isWhole: false)) }
        boundary = JSONLineBoundary()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        defer { offset += Int64(bytes.count) }
        var rest = bytes[...]
        if start == nil {
            rest = rest.drop { JSONLineBoundary.isSpace($0) || isSeparator($0) }
            guard !rest.isEmpty else { return }
            start = offset + Int64(rest.startIndex)
        }
        size += Int64(rest.count)
        let room = textLimit - text.readableBytes
        if room > 0 { text.writeBytes(rest.prefix(room)) }
        let content = rest.reversed().drop { JSONLineBoundary.isSpace($0) || isSeparator($0) }
        trailingSpace = Int64(rest.count - content.count) + (content.isEmpty ? trailingSpace : 0)
    }

    private func isSeparator(_ byte: UInt8) -> Bool {
        boundary.isSequence == true && byte == JSONLineBoundary.separator
    }

    private func begin() {
        text = ByteBuffer()
        start = nil
        size = 0
        trailingSpace = 0
    }

    private func describe(isWhole: Bool) -> StreamedMessage {
        defer { begin() }
        count += 1
        let size = size - trailingSpace
        let length = min(text.readableBytes, Int(clamping: size))
        let range = (start ?? offset)..<offset
        var message = StreamedMessage(number: count, direction: direction, kind: .line, range: range, size: size)
        message.payload = text.getSlice(at: text.readerIndex, length: length) ?? text
        message.isText = true
        message.isWhole = isWhole
        return message
    }
}

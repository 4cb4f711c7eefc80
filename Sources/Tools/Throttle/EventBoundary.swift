import NIOCore

/// Finds where the events of a `text/event-stream` end (WHATWG HTML §9.2.6). An empty line ends an event, unless there
/// are only comments before it. Lines end with CR, LF or CRLF; a piece of the stream may end anywhere.
struct EventBoundary {
    private enum Line {
        case empty
        case comment
        case field
    }

    private var line = Line.empty
    private var hasField = false
    private var afterReturn = false

    /// The length up to the end of the first event; `nil` if no event ends. These bytes, or all, count as read.
    mutating func advance(over bytes: ByteBufferView) -> Int? {
        for (position, byte) in bytes.enumerated() {
            let follows = afterReturn
            afterReturn = byte == 0x0D
            switch byte {
            case 0x0A where follows: continue
            case 0x0A, 0x0D:
                let isBlank = line == .empty
                line = .empty
                guard isBlank, hasField else { continue }
                hasField = false
                // The LF of a CRLF belongs to the event that it ends.
                let next = bytes.dropFirst(position + 1).first
                if byte == 0x0D, next == 0x0A {
                    afterReturn = false
                    return position + 2
                }
                return position + 1
            default:
                guard line == .empty else { continue }
                line = byte == UInt8(ascii: ":") ? .comment : .field
                if line == .field { hasField = true }
            }
        }
        return nil
    }
}

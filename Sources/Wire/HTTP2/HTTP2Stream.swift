import HTTPModel
import NIOCore

final class HTTP2Stream {
    enum Incoming { case head, body, ended, refused }

    let id: HTTP2StreamID
    var incoming = Incoming.head
    var wireBytes: Int64 = 0
    /// Bytes whose window was not returned.
    var unconsumed = 0
    var announcedLength: Int64?

    var queue = HTTP2SendQueue()
    var sentBytes: Int64 = 0
    /// Whether our head, not an interim one, was passed to nghttp2.
    var isHeadQueued = false
    var isHeadSent = false
    var isEndQueued = false
    var isEndSent = false
    var trailers: FieldSection?
    /// Whether nghttp2 must be told that there is something to send.
    var isDeferred = false
    /// Whether the queue has reached the high mark, and has not fallen to the low mark since then.
    var isBackedUp = false

    /// Given up by the owner, who sees only its close.
    var isAbandoned = false
    var resetAfterEnd: HTTP2ErrorCode?
    var resetAfterQueue: HTTP2ErrorCode?
    var isEndKnown = false
    /// The peer's fault, or why nothing can be sent.
    var fault: HTTP2Error?

    init(_ id: HTTP2StreamID) { self.id = id }

    static let highMark = 64 << 10
    static let lowMark = 16 << 10
}

struct HTTP2SendQueue {
    private var parts: [ByteBuffer] = []
    private var first = 0
    private(set) var count = 0

    mutating func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        count += bytes.readableBytes
        parts.append(bytes)
    }

    mutating func removeAll() { self = HTTP2SendQueue() }

    mutating func move(_ length: Int, into output: inout ByteBuffer) {
        var rest = min(length, count)
        count -= rest
        while rest > 0 {
            let taken = min(rest, parts[first].readableBytes)
            parts[first].readWithUnsafeReadableBytes { bytes in
                output.writeBytes(UnsafeRawBufferPointer(rebasing: bytes[..<taken]))
            }
            rest -= taken
            if parts[first].readableBytes == 0 {
                parts[first] = ByteBuffer()
                first += 1
            }
        }
        // Sent parts are removed rarely, so that a part costs no more in a long queue than in a short one.
        if first == parts.count {
            parts.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 32, first * 2 > parts.count {
            parts.removeFirst(first)
            first = 0
        }
    }
}

import HTTPModel
import NIOCore

final class HTTP2Stream {
    /// The state of a stream's incoming half.
    enum Incoming {
        /// No final head was delivered yet.
        case head
        /// The head was delivered; the body follows.
        case body
        case ended
        /// Nothing more is delivered: the head was refused.
        case refused
    }

    let id: HTTP2StreamID
    var incoming = Incoming.head
    var wireBytes: Int64 = 0
    /// Delivered bytes whose window was not returned.
    var unconsumed = 0
    /// By the message's head.
    var announcedLength: Int64?

    var queue = HTTP2SendQueue()
    /// Body bytes that are in the output.
    var sentBytes: Int64 = 0
    /// Whether the head of our message was handed to nghttp2, interim ones aside.
    var isHeadQueued = false
    /// Whether the head of our message is in the output.
    var isHeadSent = false
    /// Whether our message ends after the queued bytes.
    var isEndQueued = false
    /// Whether END_STREAM was put into the output.
    var isEndSent = false
    var trailers: FieldSection?
    /// Whether nghttp2 waits for a call that there is something to send.
    var isDeferred = false
    /// Whether the queue has reached the high mark since it was last at the low one.
    var isBackedUp = false

    /// Whether our owner gave the stream up; nothing but its close is of interest then.
    var isAbandoned = false
    /// The reset after our END_STREAM.
    var resetAfterEnd: HTTP2ErrorCode?
    /// The reset after the queued bytes.
    var resetAfterQueue: HTTP2ErrorCode?
    /// Whether the owner already knows how the stream ended.
    var isEndKnown = false
    /// The peer's fault, or the reason why nothing can be sent.
    var fault: HTTP2Error?

    init(_ id: HTTP2StreamID) { self.id = id }

    static let highMark = 64 << 10
    static let lowMark = 16 << 10
}

/// Bytes that wait to be sent on a stream.
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

    /// Moves `length` bytes into `output`, or all if there are fewer.
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
        // Moved up now and then only, so that a long queue costs no more than a short one.
        if first == parts.count {
            parts.removeAll(keepingCapacity: true)
            first = 0
        } else if first >= 32, first * 2 > parts.count {
            parts.removeFirst(first)
            first = 0
        }
    }
}

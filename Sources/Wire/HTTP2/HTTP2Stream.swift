import HTTPModel
import NIOCore

/// What a session knows of one open stream.
final class HTTP2Stream {
    /// Where the incoming half of a stream is.
    enum Incoming {
        /// No final head was passed on yet.
        case head
        /// The head was passed on; the body comes.
        case body
        case ended
        /// Nothing more is passed on: the head was refused.
        case refused
    }

    let id: HTTP2StreamID
    var incoming = Incoming.head
    /// The bytes of all frames received so far.
    var wireBytes: Int64 = 0
    /// The bytes passed on whose window was not given back.
    var unconsumed = 0
    /// The length of the body as its head announced it.
    var announcedLength: Int64?

    var queue = HTTP2SendQueue()
    /// The bytes of the body that were put into the output.
    var sentBytes: Int64 = 0
    /// Whether the head of our message was handed to nghttp2, interim ones aside.
    var isHeadQueued = false
    /// Whether the head of our message is in the output.
    var isHeadSent = false
    /// Whether the message to be sent has nothing after what is queued.
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
    /// The reset that is to follow our END_STREAM.
    var resetAfterEnd: HTTP2ErrorCode?
    /// What it is reset with once what is queued is sent.
    var resetAfterQueue: HTTP2ErrorCode?
    /// Whether the owner knows already how the stream came to its end.
    var isEndKnown = false
    /// What the peer did wrong on it, or why nothing can be sent.
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

    /// Moves `length` bytes into `output`, or all where there are fewer.
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

import Content
import HTTPModel
import NIOCore

/// Counts the messages of a body as it comes, and notes when its bytes arrived.
struct StreamTap {
    private var counter: StreamCounter?
    /// Closer arrivals are reported as one.
    private let resolution: TimeAmount
    private var offset: Int64 = 0
    private var last: NIODeadline?

    /// A stream of messages in a format that is known: every arrival counts.
    init(_ format: StreamCounter.Format?, resolution: TimeAmount = .zero) {
        counter = format.map { StreamCounter($0) }
        isOfMessages = resolution == .zero
        self.resolution = resolution
    }

    /// Whether the format is one of messages, and not just bytes that come as they come.
    let isOfMessages: Bool
    /// Complete messages so far.
    var count: Int64 { counter?.count ?? 0 }
    /// Whether a WebSocket's peer has sent its close.
    var hasClosed: Bool { counter?.hasClosed ?? false }
    /// Trailers inside the body, as in grpc-web.
    var trailers: ByteBuffer? { counter?.trailers }

    /// Counts a message that ends with the body.
    mutating func finish() { counter?.finish() }

    /// Takes the next bytes; returns their offset where their arrival is to be reported.
    mutating func take(_ part: ByteBuffer, now: NIODeadline) -> Int64? {
        counter?.feed(part)
        defer { offset += Int64(part.readableBytes) }
        if let last, now - last < resolution { return nil }
        last = now
        return offset
    }
}

import Content
import HTTPModel
import NIOCore

/// Counts the messages of a body as it arrives, and notes when its bytes arrived.
struct StreamTap {
    private var counter: StreamCounter?
    /// Arrivals within this time are reported as one.
    private let resolution: TimeAmount
    private var offset: Int64 = 0
    private var last: NIODeadline?

    /// Counts messages of `format`, if it is known; without a resolution, every arrival is reported.
    init(_ format: StreamCounter.Format?, resolution: TimeAmount = .zero) {
        counter = format.map { StreamCounter($0) }
        isOfMessages = resolution == .zero
        self.resolution = resolution
    }

    /// Whether the body is a stream of messages, and not just bytes with arrival times.
    let isOfMessages: Bool
    /// Complete messages so far.
    var count: Int64 { counter?.count ?? 0 }
    /// Whether a WebSocket's peer has sent its close.
    var hasClosed: Bool { counter?.hasClosed ?? false }
    /// Trailers inside the body, as in grpc-web.
    var trailers: ByteBuffer? { counter?.trailers }

    /// Counts a message that ends with the body.
    mutating func finish() { counter?.finish() }

    /// Takes the next bytes; returns their offset if their arrival is to be reported.
    mutating func take(_ part: ByteBuffer, now: NIODeadline) -> Int64? {
        counter?.feed(part)
        defer { offset += Int64(part.readableBytes) }
        if let last, now - last < resolution { return nil }
        last = now
        return offset
    }
}

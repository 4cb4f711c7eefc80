import Content
import HTTPModel
import NIOCore

/// Counts the messages of a body as it comes, and notes when its bytes arrived.
struct StreamTap {
    private var counter: StreamCounter?
    /// Arrivals closer together than this are reported as one.
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
    /// How many whole messages there were so far.
    var count: Int64 { counter?.count ?? 0 }
    /// Whether a WebSocket's peer has said that it ends.
    var hasClosed: Bool { counter?.hasClosed ?? false }
    /// Trailers that came inside the body, as grpc-web has them.
    var trailers: ByteBuffer? { counter?.trailers }

    /// The body has ended: what its end makes whole counts too.
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

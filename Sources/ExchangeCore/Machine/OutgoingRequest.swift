import HTTPModel
import NIOCore

/// The request as sent to the server, kept while it may have to be sent again (RFC 9110 §9.2.2).
struct OutgoingRequest {
    let head: RequestHead
    let framing: BodyFraming
    var parts: [ByteBuffer] = []
    var size = 0
    /// Whether all sent bytes are still stored.
    var isWhole = true
    var isEnded = false
    var trailers: FieldSection?
    /// How often it was sent again.
    var retries = 0

    /// How often a request that the server did not process is sent again; some servers refuse many simultaneous ones.
    static let unprocessedLimit = 8

    /// Bodies up to this many bytes are kept until the response begins: more than HTTP/2 servers accept before that.
    static let limit = 2 << 20
    /// From this size on, stored bytes count against the budget of all bodies.
    static let uncounted = 64 << 10

    private var share: ByteShare?

    init(head: RequestHead, framing: BodyFraming) {
        self.head = head
        self.framing = framing
    }

    /// Drops the stored bytes, so that the request cannot be sent again.
    mutating func forget() {
        isWhole = false
        parts = []
        share = nil
    }

    mutating func keep(_ part: ByteBuffer, _ budget: ByteBudget, for client: ClientKey) {
        guard isWhole else { return }
        size += part.readableBytes
        if size <= OutgoingRequest.limit, size <= OutgoingRequest.uncounted || count(part, budget, client) {
            parts.append(part)
        } else {
            forget()
        }
    }

    /// Counts a part and earlier uncounted ones against the budget; returns whether there was enough.
    private mutating func count(_ part: ByteBuffer, _ budget: ByteBudget, _ client: ClientKey) -> Bool {
        if let share { return share.grow(by: part.readableBytes) }
        let share = ByteShare(of: budget, for: client)
        self.share = share
        return share.grow(by: size)
    }
}

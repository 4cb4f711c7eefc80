import HTTPModel
import NIOCore

/// What was sent upstream, kept while it may have to be sent again (RFC 9110 §9.2.2).
struct OutgoingRequest {
    let head: RequestHead
    let framing: BodyFraming
    var parts: [ByteBuffer] = []
    var size = 0
    /// Whether all that was sent is still here.
    var isWhole = true
    var isEnded = false
    var trailers: FieldSection?
    /// How often it was sent again.
    var retries = 0

    /// How often a request may be sent again of which the server said each time that it did not process it: a server
    /// that takes few requests on a connection refuses many of those that came at once.
    static let unprocessedLimit = 8

    /// Bodies up to this many bytes are kept until the response begins.
    static let limit = 64 << 10

    init(head: RequestHead, framing: BodyFraming) {
        self.head = head
        self.framing = framing
    }

    /// From now on the request cannot be sent again.
    mutating func forget() {
        isWhole = false
        parts = []
    }

    mutating func keep(_ part: ByteBuffer) {
        guard isWhole else { return }
        size += part.readableBytes
        if size > OutgoingRequest.limit { forget() } else { parts.append(part) }
    }
}

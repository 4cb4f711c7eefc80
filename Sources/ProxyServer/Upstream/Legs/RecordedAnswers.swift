package import HTTPModel
package import NIOCore

/// A recording that answers requests in place of servers. Called from any thread; reading blocks.
package protocol RecordedAnswers: Sendable {
    /// Finds the answer of a request and marks it as used. Reads nothing.
    func find(_ request: AskedRequest) -> ExchangeID?
    /// Reads the answer that was found for a request. Throws `ExchangeFailure`.
    func open(_ exchange: ExchangeID, for request: AskedRequest) throws -> RecordedAnswer
    func body(of exchange: ExchangeID, offset: Int64, limit: Int) throws -> ByteBuffer
    func explainMiss(_ request: AskedRequest) -> ExchangeFailure
    /// The failure for bytes that would pass unread. Reads nothing.
    func explainRefusal(of authority: String) -> ExchangeFailure
}

/// A request as it would be sent to a server.
package struct AskedRequest: Sendable {
    package var url: RequestURL
    package var head: RequestHead
    package var body: ComparedBody

    package init(url: RequestURL, head: RequestHead, body: ComparedBody = ComparedBody()) {
        self.url = url
        self.head = head
        self.body = body
    }
}

/// A received answer without its body.
package struct RecordedAnswer: Sendable {
    package var exchange: ExchangeID
    /// With the hop-by-hop fields of the recorded connection.
    package var head: ResponseHead
    /// In bytes, with content codings.
    package var bodySize: Int64
    package var beginning = ByteBuffer()
    package var trailers: FieldSection?
    /// For the trace, one sentence each.
    package var notes: [String] = []
    package var delay = TimeAmount.zero
    /// The offsets of the body's parts, and their times after the head, ascending; empty if the body comes at once.
    package var arrivals: [(offset: Int64, after: TimeAmount)] = []

    package static let pieceSize = 64 << 10

    package init(exchange: ExchangeID, head: ResponseHead, bodySize: Int64) {
        self.exchange = exchange
        self.head = head
        self.bodySize = bodySize
    }
}

/// A request's body to compare: its bytes, or a digest if there are many.
package struct ComparedBody: Sendable {
    /// Longer bodies are compared only by a digest of their bytes.
    package static let longest = 1 << 20
    private static let block = 64 << 10

    package private(set) var size: Int64 = 0
    /// The whole body up to ``longest``; of a longer body, the bytes that are not in the digest yet.
    private var pending = ByteBuffer()
    private var digest = ByteDigest()

    package init() {}

    package var bytes: ByteBuffer? { size <= ComparedBody.longest ? pending : nil }

    /// A digest of the bytes, comparable only within this process.
    package var fingerprint: Fingerprint {
        var result = digest
        var rest = pending
        while rest.readableBytes > 0, let piece = rest.readSlice(length: min(ComparedBody.block, rest.readableBytes)) {
            result.add(piece.readableBytesView)
        }
        return result.fingerprint
    }

    package mutating func add(_ part: ByteBuffer) {
        size += Int64(part.readableBytes)
        pending.writeImmutableBuffer(part)
        guard size > ComparedBody.longest else { return }
        // In blocks of one size, because the parts have any size.
        while let piece = pending.readSlice(length: ComparedBody.block) { digest.add(piece.readableBytesView) }
        pending.discardReadBytes()
    }
}

extension ExchangeFailure {
    package static func noConnection(_ authority: String) -> ExchangeFailure {
        let text = "A replay makes no connection to \(authority), and what is not read cannot be answered."
        let hint = "Hosts are read unless 'intercept' in the profile leaves them out."
        return ExchangeFailure(.notRecorded, text, hint: hint)
    }
}

package import HTTPModel
package import NIOCore

/// What answers requests in place of servers: a recording.
///
/// Calls come from any thread; those that read the recording come from threads on which blocking is allowed.
package protocol RecordedAnswers: Sendable {
    /// Finds the exchange that answers a request and takes it as given; `nil` if there is none. Reads nothing.
    func find(_ request: AskedRequest) -> ExchangeID?
    /// Reads the answer of an exchange, for a request that it was found for. Throws `ExchangeFailure` where it cannot be.
    func open(_ exchange: ExchangeID, for request: AskedRequest) throws -> RecordedAnswer
    /// Reads a part of the answer's body, at most `limit` bytes.
    func body(of exchange: ExchangeID, offset: Int64, limit: Int) throws -> ByteBuffer
    /// Says why there is no answer to a request.
    func explainMiss(_ request: AskedRequest) -> ExchangeFailure
    /// Says why there is no answer to bytes that are not read, which would go to an authority. Reads nothing.
    func explainRefusal(of authority: String) -> ExchangeFailure
}

/// A request as it would be sent to a server.
package struct AskedRequest: Sendable {
    /// The URL that is asked for.
    package var url: RequestURL
    package var head: RequestHead
    package var body: ComparedBody

    package init(url: RequestURL, head: RequestHead, body: ComparedBody = ComparedBody()) {
        (self.url, self.head, self.body) = (url, head, body)
    }
}

/// An answer as it was received, with what is to be known before its body.
package struct RecordedAnswer: Sendable {
    package var exchange: ExchangeID
    /// With the fields that were meant for the recorded connection.
    package var head: ResponseHead
    /// In bytes, with content codings.
    package var bodySize: Int64
    /// The beginning of the body.
    package var beginning = ByteBuffer()
    package var trailers: FieldSection?
    /// For the trace, one sentence each.
    package var notes: [String] = []
    /// How long it waits before its head.
    package var delay = TimeAmount.zero
    /// Where parts of the body begin and how long after the head they come, in growing order; empty for all at once.
    package var arrivals: [(offset: Int64, after: TimeAmount)] = []

    /// The most bytes of a body that are read at a time.
    package static let pieceSize = 64 << 10

    package init(exchange: ExchangeID, head: ResponseHead, bodySize: Int64) {
        (self.exchange, self.head, self.bodySize) = (exchange, head, bodySize)
    }
}

/// A request's body as it is compared with others: its bytes, or, if there are many of them, a digest.
package struct ComparedBody: Sendable {
    /// Longer bodies are compared by their bytes alone.
    package static let longest = 1 << 20
    private static let block = 64 << 10

    package private(set) var size: Int64 = 0
    /// All of it where it is not longer than ``longest``, else what is not in the digest yet.
    private var pending = ByteBuffer()
    private var digest = ByteDigest()

    package init() {}

    /// The bytes; `nil` if there are too many of them.
    package var bytes: ByteBuffer? { size <= ComparedBody.longest ? pending : nil }

    /// A digest of the bytes, the same in this process alone.
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
        // In blocks, whatever parts it came in.
        while let piece = pending.readSlice(length: ComparedBody.block) { digest.add(piece.readableBytesView) }
        pending.discardReadBytes()
    }
}

extension ExchangeFailure {
    /// A replay makes no connection to a server.
    package static func noConnection(_ authority: String) -> ExchangeFailure {
        let text = "A replay makes no connection to \(authority), and what is not read cannot be answered."
        return ExchangeFailure(
            .notRecorded,
            text,
            hint: "Hosts are read unless 'intercept' in the profile leaves them out."
        )
    }
}

package import HTTPModel
package import NIOCore

/// Reads HTTP/1 requests from the bytes of a connection, however these are cut (RFC 9112).
///
/// It is strict: a request whose meaning or length could be understood in two ways is refused; `tolerances` lists the few
/// faults of a start line that leave no doubt. Give it bytes with
/// `receive`, then call `next` until that returns `nil`. Heads and parts are slices of the received buffers; only a head
/// or trailer section that is cut over several reads is copied.
package struct HTTP1RequestParser: ~Copyable, Sendable {
    package enum Event: Sendable {
        /// The head, and how the body is framed: not at all, by a length, or chunked.
        case head(RequestHead, BodyFraming)
        /// A part of the body without its framing; never empty.
        case part(ByteBuffer)
        /// The request is complete; with the fields of its trailer section if there were any.
        case end(trailers: FieldSection?)
    }

    private var reader: MessageReader

    package init(limits: HTTP1Limits = .request) {
        reader = MessageReader(side: .request, limits: limits)
    }

    /// Takes bytes that were read from the connection.
    ///
    /// Call `next` until it returns `nil` before giving more; bytes that come on top of unread ones are copied.
    package mutating func receive(_ bytes: ByteBuffer) { reader.receive(bytes) }

    /// Notes that no more bytes will come; `next` then throws `truncated` where a request is incomplete.
    package mutating func receiveEOF() { reader.receiveEOF() }

    /// The next step, or `nil` when more bytes are needed.
    ///
    /// After `.end`, further calls read the next request; do not call before you are ready for it. After `.end` of a
    /// CONNECT or an accepted upgrade call `takeRemaining` instead.
    package mutating func next() throws(HTTP1ParseError) -> Event? {
        guard case .head = reader.stage else {
            switch try reader.nextBodyEvent() {
            case nil: return nil
            case .part(let part): return .part(part)
            case .end(let trailers): return .end(trailers: trailers)
            }
        }
        return try nextHead()
    }

    private mutating func nextHead() throws(HTTP1ParseError) -> Event? {
        guard let (bytes, startLineEnd) = try reader.takeHead() else { return nil }
        let line: RequestLine
        do throws(StartLineError) {
            line = try RequestLine(bytes.readableBytesUInt8Span.extracting(first: startLineEnd))
        } catch {
            throw reader.failStartLine(error.code, at: error.offset, in: bytes)
        }
        reader.tolerances.formUnion(line.tolerances)
        try reader.checkSize(of: bytes)
        var fields = try reader.readFields(of: bytes, from: startLineEnd)
        if line.needsRewriting { fields.requireRewriting() }
        let head = RequestHead(received: fields, method: line.method, target: line.target, version: line.version)
        let isConnect = line.method.count == 7 && bytes.readableBytesUInt8Span.hasBytes("CONNECT", at: 0)
        let framing: BodyFraming
        do throws(HTTP1ParseError) {
            framing = try ReceivedFraming.request(head, isConnect: isConnect)
        } catch {
            throw reader.fail(error)
        }
        reader.beginBody(framing)
        return .head(head, framing)
    }

    /// Returns the bytes that were not parsed, for the protocol that follows; the parser is done then.
    package mutating func takeRemaining() -> ByteBuffer? { reader.takeRemaining() }

    /// The bytes of the current request, or of the last one, on the wire.
    package var wireSize: HTTP1WireSize { reader.wireSize }

    /// What was tolerated in the current request, or the last one.
    package var tolerances: HTTP1Tolerances { reader.tolerances }

    package var isIdle: Bool { reader.isBetweenMessages }

    /// The received bytes with which the next request begins; `nil` if there are none, or a request is begun.
    package var nextBytes: ByteBuffer? { reader.nextBytes }

    /// Whether received bytes wait to be parsed, such as a pipelined request.
    package var hasUnparsedBytes: Bool { reader.hasUnparsedBytes }
}

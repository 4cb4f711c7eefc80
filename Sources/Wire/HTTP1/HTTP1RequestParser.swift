package import HTTPModel
package import NIOCore

/// Reads HTTP/1 requests from the bytes of a connection, however these are cut (RFC 9112).
///
/// It is strict: a request that could be understood in two ways is refused; `tolerances` lists accepted faults of a
/// start line. Give it bytes with `receive`, then call `next` until that returns `nil`. Heads and parts are slices of
/// the received buffers; only a head or trailer section that is cut over several reads is copied.
package struct HTTP1RequestParser: ~Copyable, Sendable {
    package enum Event: Sendable {
        /// With the framing: none, a length, or chunked.
        case head(RequestHead, BodyFraming)
        /// Without its framing; never empty.
        case part(ByteBuffer)
        /// With the fields of the trailer section if there were any.
        case end(trailers: FieldSection?)
    }

    private var reader: MessageReader

    package init(limits: HTTP1Limits = .request) { reader = MessageReader(side: .request, limits: limits) }

    /// Call `next` until it returns `nil` before passing more: bytes on top of unread ones are copied.
    package mutating func receive(_ bytes: ByteBuffer) { reader.receive(bytes) }

    /// No more bytes follow; `next` then throws `truncated` for an incomplete request.
    package mutating func receiveEOF() { reader.receiveEOF() }

    /// `nil` if more bytes are needed. After `.end`, further calls read the next request; after the `.end` of a CONNECT
    /// or of an accepted upgrade, call `takeRemaining`.
    package mutating func next() throws(HTTP1ParseError) -> Event? {
        guard reader.isInHead else {
            switch try reader.nextBodyEvent() {
            case nil: return nil
            case .part(let part): return .part(part)
            case .end(let trailers): return .end(trailers: trailers)
            }
        }
        guard let (line, fields) = try reader.nextHead(RequestLine.self) else { return nil }
        let head = RequestHead(received: fields, method: line.method, target: line.target, version: line.version)
        let framing: BodyFraming
        do throws(HTTP1ParseError) {
            framing = try ReceivedFraming.request(head, isConnect: line.isConnect)
        } catch {
            throw reader.fail(error)
        }
        reader.beginBody(framing)
        return .head(head, framing)
    }

    /// The unparsed bytes, for the protocol that follows; ends the parser.
    package mutating func takeRemaining() -> ByteBuffer? { reader.takeRemaining() }

    /// The size of the current request, or of the last one.
    package var wireSize: HTTP1WireSize { reader.wireSize }

    /// Faults of the current request, or of the last one.
    package var tolerances: HTTP1Tolerances { reader.tolerances }

    package var isIdle: Bool { reader.isBetweenMessages }

    /// The first bytes of the next request; `nil` if there are none, or a request has begun.
    package var nextBytes: ByteBuffer? { reader.nextBytes }

    package var hasUnparsedBytes: Bool { reader.hasUnparsedBytes }
}

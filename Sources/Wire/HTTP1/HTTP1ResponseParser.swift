package import HTTPModel
package import NIOCore

/// Reads HTTP/1 responses like ``HTTP1RequestParser``, but accepts unambiguous faults; `tolerances` lists them.
/// Announce each request with `expect`; bytes without an announced request are refused.
package struct HTTP1ResponseParser: ~Copyable, Sendable {
    package enum Event: Sendable {
        /// An interim response (RFC 9110 §15.2) other than 101; the final one is still to come.
        case informational(ResponseHead)
        /// The final response, with its framing.
        case head(ResponseHead, BodyFraming)
        case part(ByteBuffer)
        case end(trailers: FieldSection?)
    }

    /// Whether a request's method affects the length of the response (RFC 9112 §6.3).
    private enum Expected { case ordinary, toHead, toConnect }

    private var reader: MessageReader
    private var expected: Expected?
    private var endsHTTP = false

    package init(limits: HTTP1Limits = .response) { reader = MessageReader(side: .response, limits: limits) }

    /// Announces the request of the next response; valid until that response's `.end`.
    package mutating func expect(method: String) {
        expected =
            switch method {
            case "HEAD": .toHead
            case "CONNECT": .toConnect
            default: .ordinary
            }
    }

    package mutating func receive(_ bytes: ByteBuffer) { reader.receive(bytes) }

    /// Ends a close-delimited body; `next` then throws `truncated` for an incomplete response.
    package mutating func receiveEOF() { reader.receiveEOF() }

    /// `nil` if more bytes are needed, and after `.end` of a 101 or of a 2xx to CONNECT: then call `takeRemaining`.
    package mutating func next() throws(HTTP1ParseError) -> Event? {
        guard reader.isInHead else {
            switch try reader.nextBodyEvent() {
            case nil: return nil
            case .part(let part): return .part(part)
            case .end(let trailers):
                expected = nil
                return .end(trailers: trailers)
            }
        }
        guard !endsHTTP else { return nil }
        guard let expected else {
            if reader.hasUnparsedBytes { throw reader.fail(.unexpectedResponse, at: 0) }
            return nil
        }
        return try nextHead(expected)
    }

    private mutating func nextHead(_ expected: Expected) throws(HTTP1ParseError) -> Event? {
        guard let (line, fields) = try reader.nextHead(StatusLine.self) else { return nil }
        let head = ResponseHead(received: fields, status: line.status, reason: line.reason, version: line.version)
        if head.isInformational, head.status != 101 {
            reader.beginNextHead()
            return .informational(head)
        }
        endsHTTP = head.status == 101 || expected == .toConnect && (200..<300).contains(head.status)
        let framing = try framing(of: head, expected)
        reader.beginBody(framing)
        return .head(head, framing)
    }

    private mutating func framing(of head: ResponseHead, _ expected: Expected) throws(HTTP1ParseError) -> BodyFraming {
        if endsHTTP || expected == .toHead || head.status == 204 || head.status == 304 { return .none }
        do throws(HTTP1ParseError) {
            return try ReceivedFraming.response(head, &reader.tolerances)
        } catch {
            throw reader.fail(error)
        }
    }

    package mutating func takeRemaining() -> ByteBuffer? { reader.takeRemaining() }

    /// The size of the current response, or of the last one; interim responses count by themselves.
    package var wireSize: HTTP1WireSize { reader.wireSize }

    package var tolerances: HTTP1Tolerances { reader.tolerances }

    package var partialHeadSize: Int { reader.partialHeadSize }

    package var isIdle: Bool { reader.isBetweenMessages }

    package var unparsedBytes: Int { reader.unparsedBytes }
}

package import HTTPModel
package import NIOCore

/// Reads HTTP/1 responses from the bytes of a connection, however these are cut (RFC 9112).
///
/// It lets faults pass that leave no doubt about a response's meaning and length; `tolerances` lists them. Announce
/// each request with `expect`; bytes that answer none are refused. Give it bytes with `receive`, then call `next` until
/// that returns `nil`. Heads and parts are slices of the received buffers; only a head or trailer section that is cut
/// over several reads is copied.
package struct HTTP1ResponseParser: ~Copyable, Sendable {
    package enum Event: Sendable {
        /// An interim response (RFC 9110 §15.2) other than 101; the final one is still to come.
        case informational(ResponseHead)
        /// The head of the final response, and how the body is framed.
        case head(ResponseHead, BodyFraming)
        /// A part of the body without its framing; never empty.
        case part(ByteBuffer)
        /// The response is complete; with the fields of its trailer section if there were any.
        case end(trailers: FieldSection?)
    }

    /// What a request's method means for the length of the response (RFC 9112 §6.3).
    private enum Expected {
        case ordinary, toHead, toConnect
    }

    private var reader: MessageReader
    private var expected: Expected?
    private var endsHTTP = false

    package init(limits: HTTP1Limits = .response) {
        reader = MessageReader(side: .response, limits: limits)
    }

    /// Announces that the next response answers a request of this method; holds until that response's `.end`.
    package mutating func expect(method: String) {
        expected =
            switch method {
            case "HEAD": .toHead
            case "CONNECT": .toConnect
            default: .ordinary
            }
    }

    /// Takes bytes that were read from the connection.
    ///
    /// Call `next` until it returns `nil` before giving more; bytes that come on top of unread ones are copied.
    package mutating func receive(_ bytes: ByteBuffer) { reader.receive(bytes) }

    /// Notes that no more bytes will come: ends a close-delimited body.
    ///
    /// `next` then throws `truncated` where a response is incomplete, and returns `nil` if none was begun.
    package mutating func receiveEOF() { reader.receiveEOF() }

    /// The next step, or `nil` when more bytes are needed.
    ///
    /// After `.end` of a 101, or of a 2xx to CONNECT, it returns `nil` and the rest is for `takeRemaining`.
    package mutating func next() throws(HTTP1ParseError) -> Event? {
        guard case .head = reader.stage else {
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
        guard let (bytes, startLineEnd) = try reader.takeHead() else { return nil }
        let line: StatusLine
        do throws(StartLineError) {
            line = try StatusLine(bytes.readableBytesUInt8Span.extracting(first: startLineEnd))
        } catch {
            throw reader.failStartLine(error.code, at: error.offset, in: bytes)
        }
        reader.tolerances.formUnion(line.tolerances)
        try reader.checkSize(of: bytes)
        var fields = try reader.readFields(of: bytes, from: startLineEnd)
        if line.needsRewriting { fields.requireRewriting() }
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

    /// Returns the bytes that were not parsed, for the protocol that follows; the parser is done then.
    package mutating func takeRemaining() -> ByteBuffer? { reader.takeRemaining() }

    /// The bytes of the current response, or of the last one, on the wire; an interim response counts by itself.
    package var wireSize: HTTP1WireSize { reader.wireSize }

    /// What was tolerated in the current response, or the last one.
    package var tolerances: HTTP1Tolerances { reader.tolerances }

    /// How many bytes of a head have come that is not whole; 0 if none has begun.
    package var partialHeadSize: Int { reader.partialHeadSize }

    package var isIdle: Bool { reader.isBetweenMessages }

    package var unparsedBytes: Int { reader.unparsedBytes }
}

package import HTTPModel
package import NIOCore

/// The number of a stream on its connection (RFC 9113 §5.1.1).
package struct HTTP2StreamID: Hashable, Sendable, CustomStringConvertible {
    /// Odd for a stream that the client opened; 0 is the connection itself.
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    package var description: String { String(number) }
}

/// Why an HTTP/2 connection, or an attempt to use it, came to nothing.
package struct HTTP2Error: Error, Sendable, Hashable {
    /// Sent to the peer or received from it.
    package let code: HTTP2ErrorCode
    package let explanation: String

    package init(_ code: HTTP2ErrorCode, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}

/// Something that happened on an HTTP/2 connection.
///
/// ``HTTP2Session`` makes them while it works on input or makes output; its owner takes them with
/// ``HTTP2Session/nextEvent()`` on the connection's loop.
package enum HTTP2Event: Sendable {
    /// Server role: a request's head.
    ///
    /// The head's text form is `GET /path HTTP/2`, `host` with the value of `:authority`, then the fields in order. Of
    /// an extended CONNECT (RFC 8441) the target is its `:path`, and `connectProtocol` says what it asks for.
    case requestHead(HTTP2StreamID, RequestHead, BodyFraming, scheme: String, connectProtocol: String?)
    /// Client role: an interim response (RFC 9110 §15.2); never a 101.
    case interim(HTTP2StreamID, ResponseHead)
    /// Client role: the final response's head; `HTTP/2 200` and the fields in order.
    case responseHead(HTTP2StreamID, ResponseHead, BodyFraming)
    /// A part of a body without its framing; never empty. Its bytes count against the stream's window until
    /// ``HTTP2Session/consume(_:on:)`` gives them back.
    case data(HTTP2StreamID, ByteBuffer)
    /// The peer's half of a stream is whole; `wireBytes` are all frames of it, with their headers of nine bytes.
    case end(HTTP2StreamID, trailers: FieldSection?, wireBytes: Int64)
    /// A stream was given up: by the peer's RST_STREAM, or on this side (`isLocal`) for the peer's fault.
    ///
    /// A server may send NO_ERROR after a whole response to say that it wants no more of the request (RFC 9113 §8.1).
    case reset(HTTP2StreamID, HTTP2ErrorCode, isLocal: Bool, explanation: String)
    /// Client role: nothing was done for this request, so it may be repeated on another connection (RFC 9113 §8.7).
    case refused(HTTP2StreamID)
    /// A stream is over; the last event of each stream that had one, exactly once.
    case closed(HTTP2StreamID)
    /// What is queued on a stream fell to the low mark, after it had reached the high mark.
    case drained(HTTP2StreamID)
    /// The peer's first SETTINGS, or further ones.
    case settings
    /// The peer opens, or takes, no more streams after `lastStream`; those up to it go on.
    case goAway(HTTP2ErrorCode, text: String, lastStream: HTTP2StreamID)
    /// The connection is of no more use: send what ``HTTP2Session/nextOutput(limit:)`` still has, then close it. Every
    /// open stream's ``closed(_:)`` follows.
    case failed(HTTP2Error)
    /// Server role: a head that cannot be accepted, already answered (431) or reset (as 400 would say); for recording.
    /// `head` is its text form, as far as that goes.
    case malformedRequest(HTTP2StreamID, status: Int, explanation: String, head: ByteBuffer)
}

package import HTTPModel
package import NIOCore

/// The number of a stream on its connection (RFC 9113 §5.1.1).
package struct HTTP2StreamID: Hashable, Sendable, CustomStringConvertible {
    /// Odd for streams of the client; 0 is the connection.
    package let number: Int32

    package init(_ number: Int32) { self.number = number }

    package var description: String { String(number) }
}

/// Why an HTTP/2 connection, or a request on it, failed.
package struct HTTP2Error: Error, Sendable, Hashable {
    package let code: HTTP2ErrorCode
    package let explanation: String

    package init(_ code: HTTP2ErrorCode, _ explanation: String) {
        self.code = code
        self.explanation = explanation
    }
}

/// Something that happened on an HTTP/2 connection; from ``HTTP2Session/nextEvent()``, on the connection's loop.
package enum HTTP2Event: Sendable {
    /// Server role: a request's head, in text form `GET /path HTTP/2`, `host` with the value of `:authority`, then the
    /// fields in order. `connectProtocol` is set for an extended CONNECT (RFC 8441), whose target is its `:path`.
    case requestHead(HTTP2StreamID, RequestHead, BodyFraming, scheme: String, connectProtocol: String?)
    /// Client role: an interim response (RFC 9110 §15.2); never a 101.
    case interim(HTTP2StreamID, ResponseHead)
    /// Client role: the final response's head, in text form `HTTP/2 200` and the fields in order.
    case responseHead(HTTP2StreamID, ResponseHead, BodyFraming)
    /// A part of a body, never empty. Its bytes count against the stream's window until
    /// ``HTTP2Session/consume(_:on:)``.
    case data(HTTP2StreamID, ByteBuffer)
    /// The peer's half of a stream is complete; `wireBytes` are all its frames with their headers of nine bytes.
    case end(HTTP2StreamID, trailers: FieldSection?, wireBytes: Int64)
    /// A stream was reset by the peer, or here (`isLocal`) for the peer's fault. A server's NO_ERROR after its whole
    /// response declines the rest of the request (RFC 9113 §8.1).
    case reset(HTTP2StreamID, HTTP2ErrorCode, isLocal: Bool, explanation: String)
    /// Client role: the server did not process the request, so it may be repeated (RFC 9113 §8.7).
    case refused(HTTP2StreamID)
    /// The last event of every stream that had events; it comes exactly once.
    case closed(HTTP2StreamID)
    /// The queue of a stream fell to the low mark after it had reached the high mark.
    case drained(HTTP2StreamID)
    /// The peer's first SETTINGS, or further ones.
    case settings
    /// The peer opens or accepts no streams after `lastStream`; earlier ones continue.
    case goAway(HTTP2ErrorCode, text: String, lastStream: HTTP2StreamID)
    /// The connection is unusable: send the rest of ``HTTP2Session/nextOutput(limit:)``, then close it. ``closed(_:)``
    /// follows for every open stream.
    case failed(HTTP2Error)
    /// Server role: a refused head, already answered (431) or reset (400), to be recorded; `head` is its text form,
    /// maybe incomplete.
    case malformedRequest(HTTP2StreamID, status: Int, explanation: String, head: ByteBuffer)
}

/// Events in their order. They are moved out, not copied.
struct HTTP2EventQueue {
    private var events: [HTTP2Event] = []
    /// The index of the next event; before it are those that were taken out.
    private var next = 0

    /// In events. A longer queue frees the memory of a burst when it is empty, and of what was taken out before.
    private static let usualLength = 256

    var isEmpty: Bool { next == events.count }

    mutating func append(_ event: HTTP2Event) {
        if next > HTTP2EventQueue.usualLength, next > events.count / 2 {
            events.removeFirst(next)
            next = 0
        }
        events.append(event)
    }

    mutating func popFirst() -> HTTP2Event? {
        guard next < events.count else {
            guard next > 0 else { return nil }
            events.removeAll(keepingCapacity: events.capacity <= HTTP2EventQueue.usualLength)
            next = 0
            return nil
        }
        // An event without contents takes its place.
        var event = HTTP2Event.settings
        swap(&event, &events[next])
        next += 1
        return event
    }

    func contains(where isMeant: (HTTP2Event) -> Bool) -> Bool { events[next...].contains(where: isMeant) }
}

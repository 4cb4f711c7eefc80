import ExchangeCore
package import HTTPModel
import NIOCore
package import Recording
import Runner
import Wire

/// A request to a proxy. Its head has the framing fields; its body is in memory or read while it is sent.
package struct OutgoingRequest: Sendable {
    /// In absolute form, or in origin form in a tunnel (RFC 9112 §3.2.2).
    let head: RequestHead
    let origin: RequestURL
    let framing: BodyFraming
    let body: OutgoingBody
    /// Only a chunked body has trailers (RFC 9112 §7.1.2).
    let trailers: FieldSection?

    init(
        _ head: RequestHead,
        to origin: RequestURL,
        _ body: OutgoingBody,
        framing: BodyFraming,
        trailers: FieldSection? = nil
    ) {
        var head = head
        self.framing = SentFraming.settle(&head, as: framing)
        if origin.scheme != "https" {
            let target = head.target == "*" ? [] : Array(head.targetBytes)
            head.setTarget(Array("http://\(origin.authority)".utf8) + target)
        }
        (self.head, self.origin, self.body, self.trailers) = (head, origin, body, trailers)
    }

    var isSecure: Bool { origin.scheme == "https" }

    /// Whether this request may be sent on the connection of `other`.
    func canFollow(_ other: OutgoingRequest) -> Bool { isSecure ? other.origin == origin : !other.isSecure }
}

extension OutgoingRequest {
    /// In bytes; shorter bodies are read at once.
    private static let shortBody: Int64 = 64 << 10

    /// The request as the client sent it, or `asSent` to the server, without hop-by-hop fields (RFC 9110 §7.6.1) and
    /// `Expect`. Throws `ControlError` if the request cannot be sent again (``RepeatSelection``), and `SessionError`.
    package init(_ exchange: RecordedExchange, asSent: Bool, from reader: SessionReader) throws {
        let id = exchange.record.id
        let (received, destination) = try ComposedRequest.head(of: exchange, asSent: asSent)
        let sent = asSent ? try reader.bodySize(of: id, side: .requestSent) : nil
        let side = sent == nil ? BodySide.requestReceived : .requestSent
        let size = try sent ?? reader.bodySize(of: id, side: .requestReceived) ?? 0
        let body: OutgoingBody
        if size <= Self.shortBody {
            body = OutgoingBody(try reader.body(of: id, side: side, limit: Int(Self.shortBody)))
        } else {
            body = OutgoingBody(size: size) { try reader.body(of: id, side: side, offset: $0, limit: $1) }
        }
        let trailers = exchange.messages.requestTrailers.map { StoredHead.fields($0) }.flatMap { $0.isEmpty ? nil : $0 }
        let fields = received.fields
        let framing: BodyFraming =
            if trailers != nil || fields.contains(.transferEncoding) {
                .chunked
            } else if fields.contains(.contentLength) {
                .length(body.size)
            } else {
                // In HTTP/2 a body needs no announcement.
                body.size > 0 ? .chunked : .none
            }
        self.init(received, to: destination.origin, body, framing: framing, trailers: trailers)
    }
}

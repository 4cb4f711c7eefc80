import ExchangeCore
import Formats
package import HTTPModel
package import NIOCore
package import Runner
import Wire

/// A request to send, without hop-by-hop fields, and its text for editing.
package struct ComposedRequest: Sendable {
    /// The target is in origin form or `*`; a Content-Length keeps its place.
    let head: RequestHead
    let destination: Destination
    /// With its content coding.
    package let body: ByteBuffer

    package var method: String { head.method }

    package var url: String { destination.url(of: head) }

    /// Without Content-Length.
    package var fields: [HoldEdit.Pair] {
        head.fields.filter { !HeaderRules.isFraming($0) }.map { HoldEdit.Pair($0.name, $0.value) }
    }

    package var isLocal: Bool { HostAddress.isThisMachine(destination.host) }

    private init(_ message: HeldMessage) throws(ControlError) {
        guard case .request(var head, let body, let destination) = message else {
            throw ControlError("This is not a request.")
        }
        ComposedRequest.setHost(&head.fields, destination)
        self.head = head
        self.destination = destination
        self.body = body ?? ByteBuffer()
    }

    /// The request as the client sent it, without hop-by-hop fields (RFC 9110 §7.6.1), `Expect` and trailers; a
    /// WebSocket becomes a plain GET. Throws for a tunnel, malformed bytes, or an incomplete body.
    package init(_ exchange: RecordedExchange, body: ByteBuffer) throws(ControlError) {
        var (head, destination) = try ComposedRequest.head(of: exchange, asSent: false)
        for name in [FieldName.transferEncoding, .trailer] { head.fields.removeAll(name) }
        let isHTTP = exchange.record.kind == .http
        try self.init(.request(head, body: isHTTP ? body : ByteBuffer(), destination: destination))
    }

    /// A recorded head whose only hop-by-hop fields are its framing. Throws like ``init(_:body:)``.
    static func head(
        of exchange: RecordedExchange,
        asSent: Bool
    ) throws(ControlError) -> (head: RequestHead, destination: Destination) {
        let record = exchange.record
        let url = asSent ? record.sentURL ?? record.url : record.url
        let stored = asSent ? exchange.messages.requestHeadSent : nil
        guard [.http, .upgraded, .webSocket].contains(record.kind),
            var head = (stored ?? exchange.messages.requestHead).flatMap({ StoredHead.request($0) }),
            let scheme = ComposedRequest.schemes[url.scheme]
        else { throw ControlError("Exchange \(record.id) has no HTTP request to send again.") }
        guard !record.flags.contains(.requestBodyIncomplete) else {
            throw ControlError("The request's body was not recorded whole, so it cannot be sent again.")
        }
        head.fields.removePseudoFields()
        if head.version >= .http2 { head.fields.joinCookies() }
        HopByHop.strip(from: &head.fields)
        head.fields.removeAll(.expect)
        // An extended CONNECT (RFC 8441) is recorded as a GET.
        if stored == nil, head.method != record.method, !record.method.isEmpty { head.method = record.method }
        if let first = head.targetBytes.first, first != UInt8(ascii: "/"), head.target != "*" {
            let target = head.originTarget
            if target.first == UInt8(ascii: "/") || target == Array("*".utf8) {
                head.setTarget(target)
            } else {
                head.target = url.pathAndQuery
            }
        }
        head.version = .http11
        let destination = Destination(scheme: scheme, host: url.host, port: url.port)
        setHost(&head.fields, destination)
        return (head, destination)
    }

    private static func setHost(_ fields: inout FieldSection, _ destination: Destination) {
        if !fields.contains(.host) { fields.set("Host", destination.origin.authority) }
    }

    private static let schemes = ["http": "http", "https": "https", "ws": "http", "wss": "https"]

    /// The text to edit: `POST https://host/path HTTP/1.1`, fields, an empty line, the decoded body. One line in angle
    /// brackets stands for a body that is not text.
    package var draft: String { HoldDraft(message).text }

    /// Reads an edited draft; throws errors with their line. Lines at the top that begin with `#` are ignored.
    package init(draft: String, original: ComposedRequest?) throws(ControlError) {
        let (head, nowhere) = (RequestHead(method: "GET", target: "/"), Destination(scheme: "http", host: "", port: 80))
        let blank = HeldMessage.request(head, body: ByteBuffer(), destination: nowhere)
        try self.init(try HoldDraft(original?.message ?? blank).apply(draft))
    }

    /// `body` is encoded as the fields say. Framing fields are dropped: Sluice sets them. Throws for a wrong part.
    package init(
        method: String,
        url: String,
        fields: [(name: String, value: String)],
        body: ByteBuffer
    ) throws(ControlError) {
        let own = fields.filter { FieldName($0.name) != .contentLength && FieldName($0.name) != .transferEncoding }
        if let field = own.first(where: { field in (field.name + field.value).contains { $0.isNewline } }) {
            throw ControlError("The value of '\(field.name.prefix(60))' has a line end.")
        }
        let lines = own.map { "\($0.name): \($0.value)\n" }.joined()
        let plain = try ComposedRequest(draft: "\(method) \(url) HTTP/1.1\n\(lines)\n", original: nil)
        try self.init(.request(plain.head, body: body, destination: plain.destination))
    }

    package func edited(_ edit: HoldEdit) throws(ControlError) -> ComposedRequest {
        try ComposedRequest(try edit.apply(to: message))
    }

    private var message: HeldMessage { .request(head, body: body, destination: destination) }

    var outgoing: OutgoingRequest {
        let isEmpty = body.readableBytes == 0
        let expectsBody = ["POST", "PUT", "PATCH", "QUERY"].contains(head.method)
        let framing: BodyFraming = isEmpty && !expectsBody ? .none : .length(Int64(body.readableBytes))
        return OutgoingRequest(head, to: destination.origin, OutgoingBody(body), framing: framing)
    }
}

extension Destination {
    var origin: RequestURL { RequestURL(scheme: scheme, host: host, port: port, path: "/") }
}

/// Compares the bytes to send and the destination.
extension ComposedRequest: Hashable {
    package static func == (left: ComposedRequest, right: ComposedRequest) -> Bool {
        left.message.isSame(as: right.message)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(head.serialized())
        hasher.combine(destination)
        hasher.combine(body)
    }
}

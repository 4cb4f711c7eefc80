import ExchangeCore
package import HTTPModel
package import NIOCore
package import Runner
import Wire

/// A request to send, again or for the first time, and the text that it is edited as.
///
/// Its lengths follow from its body, and it has no fields that are for one connection only. What was received keeps its
/// bytes until it is edited.
package struct ComposedRequest: Sendable {
    /// The head: its target is in origin form or `*`; a Content-Length keeps its place.
    let head: RequestHead
    let destination: Destination
    /// The body with its content coding.
    package let body: ByteBuffer

    package var method: String { head.method }

    /// The absolute URL.
    package var url: String { destination.url(of: head) }

    /// The fields in order, without Content-Length.
    package var fields: [HoldEdit.Pair] {
        head.fields.filter { !HeaderRules.isFraming($0) }.map { HoldEdit.Pair($0.name, $0.value) }
    }

    /// Whether it goes to this machine, by its name or address.
    package var isLocal: Bool { ComposedRequest.isLocal(destination.host) }

    /// Whether a host is this machine, by its name or address.
    static func isLocal(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        // In the canonical form of an address (RFC 5952).
        let address = try? SocketAddress(ipAddress: host, port: 0).ipAddress
        return address.map { $0 == "::1" || $0.hasPrefix("127.") || $0.hasPrefix("::ffff:127.") } ?? false
    }

    private init(_ message: HeldMessage) throws(ControlError) {
        guard case .request(var head, let body, let destination) = message else {
            throw ControlError("This is no request.")
        }
        ComposedRequest.setHost(&head.fields, destination)
        self.head = head
        self.destination = destination
        self.body = body ?? ByteBuffer()
    }

    // MARK: - From a session

    /// Takes the request of an exchange as the client sent it.
    ///
    /// Hop-by-hop fields (RFC 9110 §7.6.1), `Expect` and trailers are left out; a WebSocket becomes a plain GET. Throws
    /// for a tunnel, bytes that were not HTTP, or a body that was not recorded whole.
    package init(_ exchange: RecordedExchange, body: ByteBuffer) throws(ControlError) {
        var (head, destination) = try ComposedRequest.head(of: exchange, asSent: false)
        for name in [FieldName.transferEncoding, .trailer] { head.fields.removeAll(name) }
        let isHTTP = exchange.record.kind == .http
        try self.init(.request(head, body: isHTTP ? body : ByteBuffer(), destination: destination))
    }

    /// The head of a recorded request without what was for one connection only, its framing excepted, and where it goes.
    ///
    /// `asSent`: as it went to the server after the tools, and not as it came from the client. Throws like ``init(_:body:)``.
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
        else {
            throw ControlError("Exchange \(record.id) has no HTTP request to send again.")
        }
        guard !record.flags.contains(.requestBodyIncomplete) else {
            throw ControlError("The request's body was not recorded whole, so it cannot be sent again.")
        }
        for index in head.fields.indices.reversed() where head.fields[index].name.hasPrefix(":") {
            head.fields.remove(at: index)
        }
        if head.version >= .http2 { ComposedRequest.joinCookies(&head.fields) }
        HopByHop.strip(from: &head.fields)
        head.fields.removeAll(.expect)
        // An extended CONNECT (RFC 8441) is recorded as a GET.
        if stored == nil, head.method != record.method, !record.method.isEmpty { head.method = record.method }
        if let first = head.targetBytes.first, first != UInt8(ascii: "/"), head.target != "*" {
            // A fragment, too, since it was sent.
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
        guard !fields.contains(.host) else { return }
        let (scheme, host, port) = (destination.scheme, destination.host, destination.port)
        fields.set("Host", RequestURL(scheme: scheme, host: host, port: port, path: "/").authority)
    }

    private static let schemes = ["http": "http", "https": "https", "ws": "http", "wss": "https"]

    /// HTTP/2 may split cookies over several fields; HTTP/1.1 must not (RFC 9113 §8.2.3).
    private static func joinCookies(_ fields: inout FieldSection) {
        let cookies = fields.values(of: .cookie)
        guard cookies.count > 1, let first = fields.firstIndex(of: .cookie) else { return }
        fields.setValue(cookies.joined(separator: "; "), at: first)
        while let next = fields.firstIndex(of: .cookie, from: first + 1) { fields.remove(at: next) }
    }

    // MARK: - As a text

    /// The request as a text to edit: `POST https://host/path HTTP/1.1`, fields, an empty line, the body decoded.
    ///
    /// A body that is not text is one line in angle brackets; where the line is not edited the body stays as it is.
    package var draft: String { HoldDraft(message).text }

    /// Reads a text that a user wrote, or edited from the draft of `original`; throws what is wrong, with the line.
    ///
    /// Lines at the top that begin with `#` are left out.
    package init(draft: String, original: ComposedRequest?) throws(ControlError) {
        let blank = HeldMessage.request(
            RequestHead(method: "GET", target: "/"),
            body: ByteBuffer(),
            destination: Destination(scheme: "http", host: "", port: 80)
        )
        try self.init(try HoldDraft(original?.message ?? blank).apply(draft))
    }

    /// Makes a request from its parts; throws what is wrong with one of them.
    ///
    /// A body with a content coding comes coded. Fields that follow from the body are left out.
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

    /// The request with changes of its parts; throws what cannot be done.
    package func edited(_ edit: HoldEdit) throws(ControlError) -> ComposedRequest {
        try ComposedRequest(try edit.apply(to: message))
    }

    private var message: HeldMessage { .request(head, body: body, destination: destination) }
}

/// Compares and hashes what would be sent, and the destination.
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

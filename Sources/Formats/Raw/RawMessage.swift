package import Content
package import HTTPModel
package import NIOCore

/// One message of an exchange in the format of HTTP/1.1 (RFC 9112): the head, and the body as it was transferred.
///
/// A head of HTTP/1 is written as received. A head of HTTP/2 gets a start line of HTTP/1.1, `Host` for `:authority`,
/// its cookies in one line (RFC 9113 §8.2.3), and the length of its body, or chunks if there are trailers; a WebSocket
/// of HTTP/2 gets the fields of an upgrade (RFC 6455 §4). Chunk lengths differ from the received ones, which are not
/// stored. `Content-Length` is corrected for a masked or imported body, but not for an incomplete message.
package struct RawMessage {
    /// The raw value is for file names.
    package enum Part: String, CaseIterable, Sendable {
        case request
        /// The request that was sent to the server, if a rule changed it.
        case requestSent = "request-sent"
        /// Interim responses (RFC 9110 §15.2), joined.
        case interim
        /// The response that was received from the server, if a rule changed it.
        case responseReceived = "response-received"
        case response

        package var side: BodySide? {
            switch self {
            case .request: .requestReceived
            case .requestSent: .requestSent
            case .interim: nil
            case .responseReceived: .responseReceived
            case .response: .responseSent
            }
        }
    }

    private enum Framing {
        case plain
        case chunked(trailers: ByteBuffer?)
    }

    private let head: ByteBuffer
    private let body: TransferredBody?
    private let framing: Framing
    private let isWhole: Bool

    /// Reads a message; `nil` if the exchange does not have it. Throws the source's error.
    package init?(_ part: Part, of exchange: RecordedExchange, from source: any ExchangeSource) throws {
        let (record, messages) = (exchange.record, exchange.messages)
        switch part {
        case .requestSent where record.flags.isDisjoint(with: [.requestChanged, .requestBodyChanged]): return nil
        case .responseReceived where record.flags.isDisjoint(with: [.responseChanged, .responseBodyChanged]): return nil
        default: break
        }
        guard let side = part.side else {
            guard let heads = messages.interimHeads, heads.readableBytes > 0 else { return nil }
            (head, body, framing, isWhole) = (heads, nil, .plain, true)
            return
        }
        let body = try TransferredBody(exchange, side, from: source)
        let received = messages.head(of: side) ?? ByteBuffer()
        guard received.readableBytes > 0 || body.size > 0 else { return nil }
        let dropped: ExchangeRecord.Flags = side.isRequest ? .requestBodyIncomplete : .responseBodyIncomplete
        let isWhole = [.complete, .blocked].contains(record.state) && !record.flags.contains(dropped)
        let trailers = side.isRequest ? messages.requestTrailers : messages.responseTrailers
        var composed = RawHead(body: body, isWhole: isWhole, trailers: trailers, bytes: received)
        (self.body, self.isWhole) = (body, isWhole)
        framing = composed.compose(record, side) ? .chunked(trailers: trailers) : .plain
        head = composed.bytes
    }

    package func write(_ sink: (ByteBuffer) throws -> Void) throws {
        if head.readableBytes > 0 { try sink(head) }
        guard let body else { return }
        guard case .chunked(let trailers) = framing else { return try body.forEachPiece(sink) }
        try body.forEachPiece { piece in
            guard piece.readableBytes > 0 else { return }
            try sink(ByteBuffer(string: String(piece.readableBytes, radix: 16) + "\r\n"))
            try sink(piece)
            try sink(ByteBuffer(string: "\r\n"))
        }
        guard isWhole else { return }
        var end = ByteBuffer(string: "0\r\n")
        if let trailers { StoredHead.fields(trailers).write(into: &end) }
        end.writeString("\r\n")
        try sink(end)
    }
}

/// The head of a raw message, which is rewritten only if it cannot be used as received.
private struct RawHead {
    let body: TransferredBody
    let isWhole: Bool
    let trailers: ByteBuffer?
    var bytes: ByteBuffer

    /// Rewrites the head if necessary; returns whether the body must be chunked.
    mutating func compose(_ record: ExchangeRecord, _ side: BodySide) -> Bool {
        if side.isRequest, var head = StoredHead.request(bytes) {
            let isBinary = head.version >= .http2
            if head.method != "CONNECT" { RawHead.shortenTarget(of: &head) }
            if isBinary {
                head.version = .http11
                head.fields.joinCookies()
                head.fields.removePseudoFields()
                if !head.fields.contains(.host) { head.fields.append("Host", record.url.authority) }
                if record.kind == .webSocket, head.method == "CONNECT" {
                    head.method = "GET"
                    RawHead.addUpgrade(to: &head.fields)
                }
            }
            let isChunked = frame(&head.fields, record, needsLength: body.size > 0)
            if head.isChanged { bytes = head.serialized() }
            return isChunked
        }
        guard !side.isRequest, var head = StoredHead.response(bytes) else { return false }
        let isBinary = head.version >= .http2
        if isBinary {
            head.version = .http11
            head.fields.removePseudoFields()
            if record.kind == .webSocket, head.status == 200 {
                head.status = 101
                RawHead.addUpgrade(to: &head.fields)
            }
            if head.reason.isEmpty { head.reason = ResponseHead.standardReason(head.status) }
        }
        let hasNoBody =
            record.method == "HEAD" || record.method == "CONNECT" || (100..<200).contains(head.status)
            || [204, 304].contains(head.status)
        let isChunked = frame(&head.fields, record, needsLength: isBinary && !hasNoBody, hasNoBody: hasNoBody)
        if head.isChanged { bytes = head.serialized() }
        return isChunked
    }

    /// Sets the fields that state the body's length. Returns whether the body must be chunked.
    private func frame(
        _ fields: inout FieldSection,
        _ record: ExchangeRecord,
        needsLength: Bool,
        hasNoBody: Bool = false
    ) -> Bool {
        if body.lacksCoding { fields.removeAll(.contentEncoding) }
        // Bytes after an upgrade or in a tunnel have no framing.
        guard [.http, .malformed].contains(record.kind), !hasNoBody else { return false }
        if fields.contains(.transferEncoding, token: "chunked") { return true }
        if isWhole, let trailers, !StoredHead.fields(trailers).isEmpty {
            fields.removeAll(.contentLength)
            fields.append("Transfer-Encoding", "chunked")
            return true
        }
        guard isWhole else { return false }
        let length = String(body.size)
        if let told = fields.value(of: .contentLength) {
            // If an archive has no body, only the head states the body's length.
            if told != length, body.size > 0 { fields.set("Content-Length", length) }
        } else if needsLength {
            fields.append("Content-Length", length)
        }
        return false
    }

    /// Replaces a whole URL, which archives have even without a proxy, by its path (RFC 9112 §3.2.1).
    private static func shortenTarget(of head: inout RequestHead) {
        let target = Array(head.targetBytes)
        let schemes = ["https://", "wss://", "ws://"]
        guard let scheme = schemes.first(where: { target.starts(with: $0.utf8) }) else { return }
        let rest = target.dropFirst(scheme.utf8.count)
        let path = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }.map { rest[$0...] } ?? []
        head.setTarget(path.first == UInt8(ascii: "/") ? Array(path) : [UInt8(ascii: "/")] + path)
    }

    private static func addUpgrade(to fields: inout FieldSection) {
        fields.append("Connection", "Upgrade")
        fields.append("Upgrade", "websocket")
    }
}

extension FieldSection {
    /// Removes HTTP/2's pseudo fields (RFC 9113 §8.3), which archives may have.
    package mutating func removePseudoFields() {
        for place in indices.reversed() where self[place].nameBytes.first == UInt8(ascii: ":") { remove(at: place) }
    }
}

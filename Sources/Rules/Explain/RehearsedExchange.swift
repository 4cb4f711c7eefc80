package import ExchangeCore
package import HTTPModel
package import NIOCore

/// A request that a rehearsal makes up.
package struct RehearsedRequest: Sendable {
    /// The method; `CONNECT` asks for a tunnel.
    package var method: String
    /// What is asked for.
    package var url: RequestURL
    /// The fields; `Host` and `Content-Length` are added where they are not among them.
    package var fields: [(name: String, value: String)]
    /// The body; `nil` where there is none.
    package var body: ByteBuffer?

    package init(
        method: String = "GET",
        url: RequestURL,
        fields: [(name: String, value: String)] = [],
        body: ByteBuffer? = nil
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }

    /// Reads `METHOD URL`, or a URL alone for a GET; `nil` for anything else.
    ///
    /// After CONNECT stands `host:port`.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let last = words.last, words.count <= 2 else { return nil }
        self.init(method: words.count == 2 ? String(words[0]) : "GET", target: String(last))
    }

    /// Reads a method and what it asks for; `nil` where they are none.
    package init?(method: String, target: String) {
        guard !method.isEmpty, method.utf8.allSatisfy(ProfileReader.isTokenByte) else { return nil }
        if method == "CONNECT", let (host, port) = RequestURL.splitAuthority(target), let port {
            self.init(method: method, url: RequestURL(scheme: "tunnel", host: host, port: port, path: ""))
        } else if method != "CONNECT", let url = RequestURL(target) {
            self.init(method: method, url: url)
        } else {
            return nil
        }
    }

    /// The head as a client would send it.
    package var head: RequestHead {
        var fields = self.fields
        func has(_ name: String) -> Bool { fields.contains { $0.name.lowercased() == name } }
        if !has("host") { fields.insert(("Host", url.authority), at: 0) }
        if let body, !has("content-length"), !has("transfer-encoding") {
            fields.append(("Content-Length", String(body.readableBytes)))
        }
        let target = url.scheme == "tunnel" ? url.authority : url.pathAndQuery
        let composed = RequestHead(method: method, target: target, fields: fields.map { ($0.name, $0.value) })
        // Read back as though it had been received, so that nothing counts as changed yet.
        return StoredHead.request(composed.serialized()) ?? composed
    }
}

/// What a server is supposed to answer in a rehearsal.
package struct RehearsedResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The fields; `Content-Length` is added where there is a body and no such field.
    package var fields: [(name: String, value: String)]
    /// The body, in the content coding that the fields name; `nil` where there is none.
    package var body: ByteBuffer?

    /// Puts a response together; without arguments it is 200 without a body.
    package init(status: Int = 200, fields: [(name: String, value: String)] = [], body: ByteBuffer? = nil) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    package var head: ResponseHead {
        var fields = self.fields.map { ($0.name, $0.value) }
        if !fields.contains(where: { ["content-length", "transfer-encoding"].contains($0.0.lowercased()) }) {
            fields.append(("Content-Length", String(body?.readableBytes ?? 0)))
        }
        let composed = ResponseHead(status: status, fields: fields)
        return StoredHead.response(composed.serialized()) ?? composed
    }
}

/// What became of a rehearsed request.
package struct RehearsedExchange: Sendable {
    /// A message as it left a leg.
    package struct Sent<Head: Sendable>: Sendable {
        package var head: Head
        /// The body, at most ``Rehearsal/bodyLimit`` bytes of it.
        package var body = ByteBuffer()
    }

    /// The row as it would stand in a session.
    package var record: ExchangeRecord
    /// What stages and Sluice did, in order.
    package var trace: [TraceEntry] = []
    /// The request as sent to a server; `nil` where none was asked.
    package var sent: Sent<RequestHead>?
    /// Where it was sent.
    package var destination: Destination?
    /// The response as the client has it; `nil` where it has none.
    package var answered: Sent<ResponseHead>?
    /// Which messages were held for a decision; they went on unedited.
    package var held: [FlowDirection] = []
    /// Whether the client was cut off.
    package var isCutOff = false
    /// How long stages held it up.
    package var delay = TimeAmount.zero

    /// Whether a list refused it.
    package var isBlocked: Bool { record.state == .blocked }
    /// The failure that it ended with.
    package var failure: ExchangeFailure? { record.failure }
    /// Whether only host and port were known, since the host is not decrypted.
    package var isTunnel: Bool { record.kind == .tunnel }

    /// The URL that a server was asked for; `nil` where none was.
    package var sentURL: RequestURL? {
        guard let sent, let destination else { return nil }
        var url = record.url
        (url.scheme, url.host, url.port) = (destination.scheme, destination.host, destination.port)
        if record.kind != .tunnel { url.setPathAndQuery(sent.head.target) }
        return url
    }
}

package import ExchangeCore
package import HTTPModel
package import NIOCore
import Text

package typealias DryRunFields = [(name: String, value: String)]

package struct DryRunRequest: Sendable {
    /// `CONNECT` for a tunnel.
    package var method: String
    package var url: RequestURL
    /// `Host` and `Content-Length` are added if they are missing.
    package var fields: DryRunFields
    package var body: ByteBuffer?

    package init(method: String = "GET", url: RequestURL, fields: DryRunFields = [], body: ByteBuffer? = nil) {
        (self.method, self.url, self.fields, self.body) = (method, url, fields, body)
    }

    /// Reads `METHOD URL`, a URL alone for a GET, or `CONNECT host:port`; `nil` for anything else.
    package init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        guard let last = words.last, words.count <= 2 else { return nil }
        self.init(method: words.count == 2 ? String(words[0]) : "GET", target: String(last))
    }

    /// `nil` if the method or the target is invalid.
    package init?(method: String, target: String) {
        guard method.isToken else { return nil }
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
        // Parsed again as if received, so that the head does not count as changed.
        return StoredHead.request(composed.serialized()) ?? composed
    }
}

/// The server's response in a dry run: 200 without a body, if nothing is set.
package struct DryRunResponse: Sendable {
    package var status: Int
    /// `Content-Length` is added if it is missing.
    package var fields: DryRunFields
    /// With the content coding in the fields.
    package var body: ByteBuffer?

    package init(status: Int = 200, fields: DryRunFields = [], body: ByteBuffer? = nil) {
        (self.status, self.fields, self.body) = (status, fields, body)
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

package struct DryRunExchange: Sendable {
    package struct Sent<Head: Sendable>: Sendable {
        package var head: Head
        /// At most ``DryRun/bodyLimit`` bytes.
        package var body = ByteBuffer()
    }

    /// As in a session.
    package var record: ExchangeRecord
    /// What stages and Sluice did, in order.
    package var trace: [TraceEntry] = []
    /// `nil` if nothing was sent to a server.
    package var sent: Sent<RequestHead>?
    package var destination: Destination?
    package var answered: Sent<ResponseHead>?
    /// Held messages, which were then sent unedited.
    package var held: [FlowDirection] = []
    package var isCutOff = false
    package var delay = TimeAmount.zero

    /// Whether a list refused the request.
    package var isBlocked: Bool { record.state == .blocked }
    package var failure: ExchangeFailure? { record.failure }
    /// Whether the host is not decrypted, so that only host and port were known.
    package var isTunnel: Bool { record.kind == .tunnel }

    /// `nil` if nothing was sent to a server.
    package var sentURL: RequestURL? {
        guard let sent, let destination else { return nil }
        var url = record.url
        (url.scheme, url.host, url.port) = (destination.scheme, destination.host, destination.port)
        if record.kind != .tunnel { url.setPathAndQuery(sent.head.target) }
        return url
    }
}

import HTTPModel
import NIOCore
import Wire

/// A client's and a server's session that talk to each other, and what happened on both.
final class HTTP2Pair {
    let client: HTTP2Session
    let server: HTTP2Session
    var now = NIODeadline.uptimeNanoseconds(1)
    private(set) var clientEvents: [HTTP2Event] = []
    private(set) var serverEvents: [HTTP2Event] = []

    init(client: HTTP2Settings = HTTP2Settings(), server: HTTP2Settings = HTTP2Settings()) {
        self.client = HTTP2Session(.client, settings: client)
        self.server = HTTP2Session(.server, settings: server)
        exchange()
        clientEvents = []
        serverEvents = []
    }

    /// Carries bytes to and fro until nobody has any.
    func exchange(limit: Int = 64 << 10) {
        var isBusy = true
        while isBusy {
            isBusy = false
            collect()
            while let bytes = client.nextOutput(limit: limit) {
                server.receive(bytes, now: now)
                collect()
                isBusy = true
            }
            while let bytes = server.nextOutput(limit: limit) {
                client.receive(bytes, now: now)
                collect()
                isBusy = true
            }
        }
    }

    func collect() {
        while let event = client.nextEvent() { clientEvents.append(event) }
        while let event = server.nextEvent() { serverEvents.append(event) }
    }

    /// Takes what happened on the client's side since the last call.
    func takeClientEvents() -> [String] {
        defer { clientEvents = [] }
        return clientEvents.map(\.summary)
    }

    /// Takes what happened on the server's side since the last call.
    func takeServerEvents() -> [String] {
        defer { serverEvents = [] }
        return serverEvents.map(\.summary)
    }

    /// Sends a GET and carries it over.
    @discardableResult
    func get(_ path: String = "/", fields: [(String, String)] = []) throws -> HTTP2StreamID {
        let head = RequestHead(method: "GET", target: path, fields: [("Host", "a.example")] + fields)
        let (stream, _) = try client.sendRequest(head, scheme: "https", isEnd: true)
        exchange()
        return stream
    }

    /// Sends the head of a POST and carries it over.
    func post(_ path: String = "/", fields: [(String, String)] = []) throws -> HTTP2StreamID {
        let head = RequestHead(method: "POST", target: path, fields: [("Host", "a.example")] + fields)
        let (stream, _) = try client.sendRequest(head, scheme: "https", isEnd: false)
        exchange()
        return stream
    }
}

extension HTTP2Event {
    /// The event as one line, for comparisons.
    var summary: String {
        switch self {
        case .requestHead(let id, let head, let framing, let scheme, let connectProtocol):
            let suffix = connectProtocol.map { " protocol=\($0)" } ?? ""
            return "\(id) request \(framing) \(scheme)\(suffix) \(head.received.text)"
        case .interim(let id, let head): return "\(id) interim \(head.received.text)"
        case .responseHead(let id, let head, let framing): return "\(id) response \(framing) \(head.received.text)"
        case .data(let id, let bytes):
            return "\(id) data \(bytes.readableBytes > 100 ? "\(bytes.readableBytes) bytes" : String(buffer: bytes))"
        case .end(let id, let trailers, _): return "\(id) end" + (trailers.map { " [\($0)]" } ?? "")
        case .reset(let id, let code, let isLocal, _): return "\(id) reset \(code)\(isLocal ? " local" : "")"
        case .refused(let id): return "\(id) refused"
        case .closed(let id): return "\(id) closed"
        case .drained(let id): return "\(id) drained"
        case .settings: return "settings"
        case .goAway(let code, let text, let last): return "goaway \(code) last=\(last) \(text)"
        case .failed(let failure): return "failed \(failure.code)"
        case .malformedRequest(let id, let status, _, let head):
            return "\(id) malformed \(status) \(Optional(head).text)"
        }
    }
}

extension ByteBuffer? {
    /// The text with visible line ends; of a long one only the beginning.
    var text: String {
        guard let self else { return "composed" }
        return String(String(fieldBytes: self.readableBytesView.prefix(2000)).map { $0 == "\r\n" ? "|" : $0 })
    }
}

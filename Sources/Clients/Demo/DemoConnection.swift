import Content
import HTTPModel
import Jobs
import NIOCore
import Runner
import Wire

/// A connection of the demo's client through the proxy to the origin. It checks the answers.
final class DemoConnection {
    struct Response {
        let head: ResponseHead
        var body = ByteBuffer()
        var trailers: FieldSection?

        var text: String {
            let codings = ContentCoding.list(head.fields.value(of: .contentEncoding))
            return String(buffer: ContentDecoder.decode(body, codings: codings, limit: 1 << 20).bytes)
        }
    }

    private let connection: HTTPConnection
    private let origin: RequestURL
    /// Scheme and authority for a proxy, empty for an origin.
    private var targetPrefix: String
    private var http2: DemoHTTP2Connection?

    init(_ connection: HTTPConnection, _ origin: RequestURL) {
        self.connection = connection
        self.origin = origin
        targetPrefix = "\(origin.scheme)://\(origin.authority)"
    }

    /// Requests a tunnel to the origin and begins TLS; TLS errors show at the first request.
    func startTLS(trust: TLSTrust, isHTTP2: Bool = false) async throws {
        do {
            try await connection.startTLS(to: origin, trust: trust, applicationProtocol: isHTTP2 ? "h2" : "http/1.1")
        } catch let error as HTTPConnection.ConnectionError {
            throw StartError("CONNECT \(origin.authority): \(error)", hint: DemoConnection.hint)
        }
        targetPrefix = ""
        if isHTTP2 { http2 = DemoHTTP2Connection(connection, origin: origin) }
    }

    /// Throws without an answer, or if the status differs or `isRight` is false.
    @discardableResult
    func fetch(
        _ method: String,
        _ path: String,
        fields: [(String, String)] = [],
        body: [ByteBuffer] = [],
        expecting status: Int,
        where isRight: (Response) -> Bool = { _ in true }
    ) async throws -> Response {
        var head = RequestHead(
            method: method,
            target: targetPrefix + path,
            fields: [
                ("Host", origin.authority), ("User-Agent", "sluice-demo/\(SluiceVersion.current)"), ("Accept", "*/*"),
                ("Accept-Encoding", "gzip"),
            ] + fields
        )
        if !body.isEmpty {
            SentFraming.settle(&head, as: .length(body.reduce(0) { $0 + Int64($1.readableBytes) }))
        }
        let what = "\(method) \(origin.scheme)://\(origin.authority)\(path)"
        let response: Response
        do {
            response = try await exchange(head, body)
        } catch let error where !(error is CancellationError) {
            throw StartError("The demo got no answer to \(what): \(error)", hint: DemoConnection.hint)
        }
        guard response.head.status == status, isRight(response) else {
            let status = "\(response.head.status) \(response.head.reason)"
            let body = "\(response.body.readableBytes) bytes: \(response.text.prefix(300))"
            throw StartError("The demo got a wrong answer to \(what): \(status), \(body)", hint: DemoConnection.hint)
        }
        return response
    }

    private func exchange(_ head: RequestHead, _ body: [ByteBuffer]) async throws -> Response {
        if let http2 { return try await http2.exchange(head, body) }
        let whole = body.reduce(into: ByteBuffer()) { $0.writeImmutableBuffer($1) }
        var received = ByteBuffer()
        let response = try await connection.exchange(head, body: whole) { arrival in
            if case .part(let part) = arrival { received.writeImmutableBuffer(part) }
        }
        return Response(head: response, body: received)
    }

    private static let hint = "The demo uses nothing outside this process, so this is probably a fault in Sluice."

    /// Sends each message after the answer to the previous message and a pause.
    func converse(_ path: String, _ messages: [String], pause: Duration = .zero) async throws {
        try await fetch(
            "GET",
            path,
            fields: [
                ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                ("Sec-WebSocket-Key", WebSocketHandshake.makeKey()),
            ],
            expecting: 101
        )
        let reader = WebSocketReader(direction: .fromServer)
        var answers = 0
        func listen(until count: Int) async throws {
            while answers < count {
                guard let bytes = try await connection.read() else {
                    try Task.checkCancellation()
                    throw StartError("The demo's WebSocket ended after \(answers) messages.", hint: DemoConnection.hint)
                }
                bytes.withUnsafeReadableBytes { reader.feed($0) { _ in answers += 1 } }
            }
        }
        try await listen(until: 1)
        for (index, message) in messages.enumerated() {
            if pause > .zero { try await Task.sleep(for: pause) }
            try await connection.write(WebSocketFrame.of(.text, ByteBuffer(string: message), isMasked: true))
            try await listen(until: index + 2)
        }
        try await connection.write(WebSocketFrame.of(.close, DemoContent.normalClosure, isMasked: true))
        try await listen(until: messages.count + 2)
    }
}

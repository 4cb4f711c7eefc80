import Content
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// One connection of the demo's client to a proxy, or through it to an origin.
final class DemoConnection {
    /// A response that was read whole.
    struct Response {
        /// Its head.
        let head: ResponseHead
        /// Its body as it came.
        var body = ByteBuffer()

        /// Its body with the content coding undone, as text.
        var text: String {
            let encoding = head.fields.value(of: .contentEncoding)
            return String(buffer: ContentDecoder.decode(body, contentEncoding: encoding, limit: 1 << 20).bytes)
        }
    }

    private let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var parser = HTTP1ResponseParser()
    /// What comes before the path in the requests' targets: everything for a proxy, nothing for an origin.
    private var targetPrefix: String
    private var origin: RequestURL

    /// Connects to a proxy in order to ask an origin, and closes the connection after `body`.
    static func open(
        to origin: RequestURL,
        through proxy: SocketAddress,
        _ body: (DemoConnection) async throws -> Void
    ) async throws {
        let stream = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(to: proxy) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        try await stream.executeThenClose { inbound, outbound in
            try await body(DemoConnection(stream.channel, inbound, outbound, origin))
        }
    }

    private init(
        _ channel: any Channel,
        _ inbound: NIOAsyncChannelInboundStream<ByteBuffer>,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>,
        _ origin: RequestURL
    ) {
        self.channel = channel
        self.inbound = inbound.makeAsyncIterator()
        self.outbound = outbound
        self.origin = origin
        targetPrefix = "\(origin.scheme)://\(origin.authority)"
    }

    /// Lets the proxy open a tunnel to the origin, and speaks TLS through it.
    ///
    /// - Parameter trust: whose certificates are believed.
    /// - Throws: `StartFailure` where the proxy opens no tunnel. Whether TLS comes about shows at the first request.
    func startTLS(trust: TLSTrust) async throws {
        let connect = RequestHead(method: "CONNECT", target: origin.authority, fields: [("Host", origin.authority)])
        let response = try await exchange(connect, [])
        guard response.head.status == 200 else { throw unexpected(response, "CONNECT \(origin.authority)") }
        try await channel.eventLoop.submit { [channel, host = origin.host] in
            let session = try TLSClientContext(TLSClientConfiguration(trust: trust)).makeSession(host: host)
            // Beneath the handler that passes plaintext on to us.
            try channel.pipeline.syncOperations.addHandler(TLSChannelHandler(session: session), position: .first)
        }.get()
        parser = HTTP1ResponseParser()
        targetPrefix = ""
    }

    /// Asks the origin.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - path: the path and query.
    ///   - fields: header fields beside the usual ones.
    ///   - body: the pieces of the request's body.
    ///   - status: the status code that must be answered.
    ///   - isRight: whether the response is the expected one otherwise.
    /// - Returns: the response.
    /// - Throws: `StartFailure` where there is no answer, or the wrong one.
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
            throw StartFailure("The demo got no answer to \(what): \(error)", hint: DemoConnection.hint)
        }
        guard response.head.status == status, isRight(response) else { throw unexpected(response, what) }
        return response
    }

    // MARK: - Messages

    private static let hint = "Nothing outside this process takes part in the demo: this looks like a fault in Sluice."

    private func unexpected(_ response: Response, _ what: String) -> StartFailure {
        StartFailure(
            "The demo got an unexpected answer to \(what): \(response.head.status) \(response.head.reason), "
                + "\(response.body.readableBytes) bytes: \(response.text.prefix(300))",
            hint: DemoConnection.hint
        )
    }

    private func exchange(_ head: RequestHead, _ body: [ByteBuffer]) async throws -> Response {
        parser.expect(method: head.method)
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        try await outbound.write(output)
        for piece in body { try await outbound.write(piece) }
        var response: Response?
        while true {
            while let event = try parser.next() {
                switch event {
                case .informational: continue
                case .head(let head, _): response = Response(head: head)
                case .part(let part): response?.body.writeImmutableBuffer(part)
                case .end: if let response { return response }
                }
            }
            guard let bytes = try await inbound.next() else {
                try Task.checkCancellation()
                throw StartFailure("The proxy closed the connection.")
            }
            parser.receive(bytes)
        }
    }
}

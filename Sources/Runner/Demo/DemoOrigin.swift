import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// The demo's own origin: an HTTP and two HTTPS servers on loopback, with a throw-away authority.
struct DemoOrigin: Sendable {
    /// The authority that signs what the HTTPS server shows; nobody trusts it who was not told to.
    let authority: CertificateAuthority
    /// The port of the HTTP server.
    let httpPort: Int
    /// The port of the HTTPS server for `localhost`.
    let httpsPort: Int
    /// The port of the HTTPS server for `127.0.0.1`.
    let secondPort: Int

    private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<Connection, Never>

    /// Runs the origin while `body` runs.
    static func run<Result: Sendable>(
        _ body: @Sendable (DemoOrigin) async throws -> Result
    ) async throws -> Result {
        let authority = try CertificateAuthority.generate(label: "of the demo's origin")
        let key = try LeafKey()
        let plain = try await listen(as: nil)
        let secure = try await listen(as: Identity(host: "localhost", authority: authority, key: key))
        let second = try await listen(as: Identity(host: "127.0.0.1", authority: authority, key: key))
        let origin = DemoOrigin(
            authority: authority,
            httpPort: plain.channel.localAddress?.port ?? 0,
            httpsPort: secure.channel.localAddress?.port ?? 0,
            secondPort: second.channel.localAddress?.port ?? 0
        )
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for listener in [plain, secure, second] {
                group.addTask { try await accept(listener) }
            }
            defer { group.cancelAll() }
            return try await body(origin)
        }
    }

    // MARK: - Connections

    /// What an HTTPS server proves itself with.
    private struct Identity {
        let host: String
        let authority: CertificateAuthority
        let key: LeafKey
        let configuration = TLSServerConfiguration()

        /// The TLS of one connection; there are so few that each makes its own context.
        func makeHandler() throws -> TLSChannelHandler {
            let certificate = try CertificateMint(authority: authority, leafKey: key).certificate(for: host)
            return TLSChannelHandler(session: try TLSServerContext(configuration).makeSession(certificate: certificate))
        }
    }

    private static func listen(as identity: Identity?) async throws -> Listener {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let identity {
                        try channel.pipeline.syncOperations.addHandler(identity.makeHandler())
                    }
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private static func accept(_ listener: Listener) async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    // A client that goes away is no matter of the others.
                    group.addTask { try? await serve(connection) }
                }
            }
        }
    }

    private static func serve(_ connection: Connection) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var parser = HTTP1RequestParser()
            var request: DemoRequest?
            for try await bytes in inbound {
                parser.receive(bytes)
                while let event = try parser.next() {
                    switch event {
                    case .head(let head, _): request = DemoRequest(head: head)
                    case .part(let part): request?.add(part)
                    case .end:
                        guard let request else { break }
                        try await send(DemoRoutes.answer(request), to: request.head, outbound)
                    }
                }
            }
        }
    }

    private static func send(
        _ answer: DemoAnswer,
        to request: RequestHead,
        _ outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) async throws {
        var head = ResponseHead(status: answer.status, fields: [("Server", "sluice-demo")] + answer.fields)
        let framing = SentFraming.settle(&head, as: answer.framing, requestMethod: request.method)
        if answer.delay > .zero { try await Task.sleep(for: answer.delay) }
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &output)
        for piece in framing == .none ? [] : answer.pieces {
            HTTP1Encoder.writePart(piece, framing: framing, into: &output)
            try await outbound.write(output)
            output = ByteBuffer()
            if answer.pause > .zero { try await Task.sleep(for: answer.pause) }
        }
        HTTP1Encoder.writeEnd(framing: framing, into: &output)
        if output.readableBytes > 0 { try await outbound.write(output) }
    }
}

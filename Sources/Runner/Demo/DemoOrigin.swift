import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// The demo's own origin: an HTTP and three HTTPS servers on loopback, with a throw-away authority.
///
/// It runs until ``stop()``. Beside it lie the files of a proxy that knows it: its authority's certificate, a profile, and
/// what that answers with.
package final class DemoOrigin: Sendable {
    /// The authority that signs what the HTTPS servers show; nobody trusts it who was not told to.
    let authority: CertificateAuthority
    /// The port of the HTTP server.
    package let httpPort: Int
    /// The port of the HTTPS server for `localhost` that speaks HTTP/1.1.
    package let httpsPort: Int
    /// The port of the HTTPS server for `localhost` that speaks HTTP/2.
    package let http2Port: Int
    /// The port of the HTTPS server for `127.0.0.1`, which the demo's proxy is told to pass through unread.
    package let unreadPort: Int
    /// The directory with the files; it goes with the origin.
    var directory: String { folder.path }
    private let folder: TemporaryDirectory
    private let task: Task<Void, Never>

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<Connection, Never>

    package static func start() async throws -> DemoOrigin {
        let authority = try CertificateAuthority.generate(label: "of the demo's origin")
        let folder = try TemporaryDirectory("demo")
        try DemoProfile.writeFixtures(in: folder.path, authority: authority)
        let key = try LeafKey()
        let plain = try await listen(as: nil)
        let secure = try await listen(as: Identity("localhost", "http/1.1", authority, key))
        let second = try await listen(as: Identity("localhost", "h2", authority, key))
        let unread = try await listen(as: Identity("127.0.0.1", "http/1.1", authority, key))
        return DemoOrigin(authority, folder, plain, secure, second, unread)
    }

    private init(
        _ authority: CertificateAuthority,
        _ folder: TemporaryDirectory,
        _ plain: Listener,
        _ secure: Listener,
        _ second: Listener,
        _ unread: Listener
    ) {
        self.authority = authority
        self.folder = folder
        httpPort = plain.channel.localAddress?.port ?? 0
        httpsPort = secure.channel.localAddress?.port ?? 0
        http2Port = second.channel.localAddress?.port ?? 0
        unreadPort = unread.channel.localAddress?.port ?? 0
        task = Task(priority: .userInitiated) {
            await withDiscardingTaskGroup { group in
                for listener in [plain, secure, unread] {
                    group.addTask { await DemoOrigin.accept(listener, DemoServer.serve) }
                }
                group.addTask { await DemoOrigin.accept(second, DemoHTTP2Server.serve) }
            }
        }
    }

    /// Ends all connections, frees the ports and removes the files.
    package func stop() async {
        task.cancel()
        await task.value
        folder.remove()
    }

    /// Runs an origin while `body` runs.
    static func run<Result: Sendable>(
        _ body: @Sendable (DemoOrigin) async throws -> Result
    ) async throws -> Result {
        let origin = try await start()
        do {
            let result = try await body(origin)
            await origin.stop()
            return result
        } catch {
            await origin.stop()
            throw error
        }
    }

    // MARK: - Connections

    /// What an HTTPS server proves itself with.
    private struct Identity {
        let host: String
        let applicationProtocol: String
        let authority: CertificateAuthority
        let key: LeafKey
        let ticketKeys = TLSTicketKeys()

        init(_ host: String, _ applicationProtocol: String, _ authority: CertificateAuthority, _ key: LeafKey) {
            self.host = host
            self.applicationProtocol = applicationProtocol
            self.authority = authority
            self.key = key
        }

        /// The TLS of one connection; there are so few that each makes its own context.
        func makeHandler() throws -> TLSChannelHandler {
            let certificate = try CertificateMint(authority: authority, leafKey: key).certificate(for: host)
            return TLSChannelHandler(
                session: try TLSServerContext(ticketKeys: ticketKeys).makeSession(
                    certificate: certificate,
                    applicationProtocols: [applicationProtocol]
                )
            )
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

    /// A client that goes away, or a listener that fails, is no matter of the others.
    private static func accept(
        _ listener: Listener,
        _ serve: @escaping @Sendable (Connection) async throws -> Void
    ) async {
        try? await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { try? await serve(connection) }
                }
            }
        }
    }
}

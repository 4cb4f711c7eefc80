import Foundation
import HTTPModel
import Jobs
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// The demo's own origin: an HTTP and three HTTPS servers on loopback, with an authority of its own.
///
/// It runs until ``stop()``, which also removes its directory: its authority's certificate, a profile, and a file that
/// the profile answers with.
package final class DemoOrigin: Sendable {
    /// The authority of the HTTPS servers, which only the demo trusts.
    let authority: CertificateAuthority
    let httpPort: Int
    /// The port of the HTTPS server for `localhost` that speaks HTTP/1.1.
    let httpsPort: Int
    /// The port of the HTTPS server for `localhost` that speaks HTTP/2.
    let http2Port: Int
    /// The port of the HTTPS server for `127.0.0.1`, which the demo's rules leave undecrypted.
    let unreadPort: Int
    let directory: TemporaryDirectory
    private let task: Task<Void, Never>

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<Connection, Never>

    package static func start() async throws -> DemoOrigin {
        let authority = try CertificateAuthority.generate(label: "of the demo's origin")
        let directory = try TemporaryDirectory("demo")
        try DemoProfile.writeFixtures(in: directory, authority: authority)
        let key = try LeafKey()
        func identity(_ host: String, _ applicationProtocol: String) -> Identity {
            Identity(host: host, applicationProtocol: applicationProtocol, authority: authority, key: key)
        }
        return DemoOrigin(
            authority,
            directory,
            plain: try await listen(as: nil),
            secure: try await listen(as: identity("localhost", "http/1.1")),
            http2: try await listen(as: identity("localhost", "h2")),
            unread: try await listen(as: identity("127.0.0.1", "http/1.1"))
        )
    }

    private init(
        _ authority: CertificateAuthority,
        _ directory: TemporaryDirectory,
        plain: Listener,
        secure: Listener,
        http2: Listener,
        unread: Listener
    ) {
        (self.authority, self.directory) = (authority, directory)
        let ports = [plain, secure, http2, unread].map { $0.channel.localAddress?.port ?? 0 }
        (httpPort, httpsPort, http2Port, unreadPort) = (ports[0], ports[1], ports[2], ports[3])
        task = Task(priority: .userInitiated) {
            await withDiscardingTaskGroup { group in
                for listener in [plain, secure, unread] {
                    group.addTask { await DemoOrigin.accept(listener, DemoServer.serve) }
                }
                group.addTask { await DemoOrigin.accept(http2, DemoHTTP2Server.serve) }
            }
        }
    }

    /// Ends all connections, frees the ports and removes the files.
    package func stop() async {
        task.cancel()
        await task.value
        directory.remove()
    }

    /// Runs an origin while `body` runs.
    static func run<Value: Sendable>(_ body: @Sendable (DemoOrigin) async throws -> Value) async throws -> Value {
        let origin = try await start()
        let result: Result<Value, any Error>
        do { result = .success(try await body(origin)) } catch { result = .failure(error) }
        await origin.stop()
        return try result.get()
    }

    // MARK: - Connections

    /// The certificate and protocol of an HTTPS server.
    private struct Identity {
        let host: String
        let applicationProtocol: String
        let authority: CertificateAuthority
        let key: LeafKey
        let ticketKeys = TLSTicketKeys()

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
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let identity { try channel.pipeline.syncOperations.addHandler(identity.makeHandler()) }
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    /// A client that goes away or a listener that fails does not end the others.
    private static func accept(
        _ listener: Listener,
        _ serve: @escaping @Sendable (Connection) async throws -> Void
    ) async {
        try? await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections { group.addTask { try? await serve(connection) } }
            }
        }
    }
}

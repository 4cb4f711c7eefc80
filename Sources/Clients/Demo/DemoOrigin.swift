import Foundation
import Jobs
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// An HTTP and three HTTPS servers on loopback until ``stop()``. The directory has the authority and profile files.
package final class DemoOrigin: Sendable {
    let authority: CertificateAuthority
    let httpPort: Int
    /// For `localhost`, HTTP/1.1.
    let httpsPort: Int
    /// For `localhost`, HTTP/2.
    let http2Port: Int
    /// For `127.0.0.1`, which the demo's rules do not decrypt.
    let unreadPort: Int
    let directory: TemporaryDirectory
    private let task: Task<Void, Never>

    typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>
    private typealias Listener = NIOAsyncChannel<Connection, Never>

    package static func start() async throws -> DemoOrigin {
        let authority = try CertificateAuthority.generate(label: "of the demo's origin")
        let directory = try TemporaryDirectory(.demo)
        _ = try directory.write(Data(DemoProfile.hours.utf8), to: "hours.json")
        _ = try directory.write(Data(authority.certificatePEM.utf8), to: DemoProfile.authorityFile)
        let key = try LeafKey()
        func identity(_ host: String, _ applicationProtocol: String) -> Identity {
            Identity(host: host, applicationProtocol: applicationProtocol, authority: authority, key: key)
        }
        let identities = [
            nil, identity("localhost", "http/1.1"), identity("127.0.0.1", "http/1.1"), identity("localhost", "h2"),
        ]
        var listeners: [Listener] = []
        for identity in identities { listeners.append(try await listen(as: identity)) }
        return DemoOrigin(authority, directory, listeners)
    }

    private init(_ authority: CertificateAuthority, _ directory: TemporaryDirectory, _ listeners: [Listener]) {
        (self.authority, self.directory) = (authority, directory)
        let ports = listeners.map { $0.channel.localAddress?.port ?? 0 }
        (httpPort, httpsPort, unreadPort, http2Port) = (ports[0], ports[1], ports[2], ports[3])
        task = Task(priority: .userInitiated) {
            await withDiscardingTaskGroup { group in
                for listener in listeners[..<3] {
                    group.addTask { await DemoOrigin.accept(listener, DemoServer.serve) }
                }
                group.addTask { await DemoOrigin.accept(listeners[3], DemoHTTP2Server.serve) }
            }
        }
    }

    package func stop() async {
        task.cancel()
        await task.value
        directory.remove()
    }

    static func run<Value: Sendable>(_ body: @Sendable (DemoOrigin) async throws -> Value) async throws -> Value {
        let origin = try await start()
        let result: Result<Value, any Error>
        do { result = .success(try await body(origin)) } catch { result = .failure(error) }
        await origin.stop()
        return try result.get()
    }

    private struct Identity {
        let host: String
        let applicationProtocol: String
        let authority: CertificateAuthority
        let key: LeafKey
        let ticketKeys = TLSTicketKeys()

        /// Each connection has its own TLS context, because there are few connections.
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

    /// Failures of one client do not end the others.
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

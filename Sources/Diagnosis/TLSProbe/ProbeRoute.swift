import Foundation
package import HTTPModel
package import NIOCore
import NIOPosix
import Synchronization
import Text

/// The bytes to and from a server.
package typealias ProbeStream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

/// How a probe gets its connections to the server: by itself, or by way of another proxy.
package protocol ProbeRoute: Sendable {
    /// The proxy on the way; `nil` where there is none.
    var proxy: UpstreamProxy? { get }

    /// Makes a connection on which the next bytes are the server's, within a time. Who asked closes it.
    func connect(within limit: Duration) async throws -> ProbeStream
}

/// Connects to the server itself: always to the address that answered first, so that one server is looked at.
package final class DirectRoute: ProbeRoute {
    private let target: ProbeTarget
    private let known = Mutex<SocketAddress?>(nil)
    package let proxy: UpstreamProxy? = nil

    package init(to target: ProbeTarget) { self.target = target }

    package func connect(within limit: Duration) async throws -> ProbeStream {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(limit))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let initializer: @Sendable (any Channel) -> EventLoopFuture<ProbeStream> = { channel in
            channel.eventLoop.makeCompletedFuture { try ProbeStream(wrappingChannelSynchronously: channel) }
        }
        let stream: ProbeStream
        if let address = known.withLock(\.self) {
            stream = try await bootstrap.connect(to: address, channelInitializer: initializer)
        } else if let address = try? SocketAddress(ipAddress: target.host, port: target.port) {
            stream = try await bootstrap.connect(to: address, channelInitializer: initializer)
        } else {
            stream = try await bootstrap.connect(
                // Resolvers do not know other letters.
                host: HostForms(target.host)?.ascii ?? target.host,
                port: target.port,
                channelInitializer: initializer
            )
        }
        known.withLock { $0 = stream.channel.remoteAddress }
        return stream
    }
}

/// Why a probe came to no end.
package enum ProbeFailure: Error, Sendable, Hashable {
    /// No connection came about; why, in a sentence.
    case unreachable(String)
    /// There was a connection, and then nothing within the time.
    case silent(seconds: Double)
    /// The server closed the connection.
    case closed
    /// The server speaks HTTP without TLS.
    case plainHTTP
    /// The server ended the handshake with this alert.
    case alert(String)
    /// OpenSSL ended the handshake; why.
    case refused(String)
    /// The whole probe has taken as long as it may.
    case outOfTime

    /// Whether nothing can be said of the server's TLS.
    package var isFinal: Bool {
        switch self {
        case .unreachable, .silent, .outOfTime: true
        case .closed, .plainHTTP, .alert, .refused: false
        }
    }

    /// Whether the server may speak HTTP without TLS: it has shown nothing of TLS, and one plain request decides.
    var mayBePlainHTTP: Bool {
        switch self {
        case .closed, .plainHTTP: true
        // What came back was no record of TLS; an old server answers with a page that has no status line.
        case .refused(let reason): reason.contains("wrong version number") || reason.contains("packet length too long")
        case .unreachable, .silent, .alert, .outOfTime: false
        }
    }
}

extension ProbeFailure {
    /// What kept a connection to the server from coming about.
    init(connecting error: any Error, to target: ProbeTarget) {
        switch error {
        case let failure as ProbeFailure: self = failure
        case let error as NIOConnectionError:
            if let cause = error.connectionErrors.first?.error {
                self.init(connecting: cause, to: target)
            } else {
                let reason = "The name \(target.host) could not be resolved."
                self = .unreachable("\(reason) Check its spelling, and the network connection.")
            }
        case let error as IOError: self = .unreachable(ProbeFailure.describe(error, target))
        case ChannelError.connectTimeout:
            self = .unreachable(
                "\(target.authority) did not answer in time. It may be down, or a firewall drops the packets."
            )
        default: self = .unreachable("No connection to \(target.authority) came about: \(error).")
        }
    }

    private static func describe(_ error: IOError, _ target: ProbeTarget) -> String {
        switch error.errnoCode {
        case ECONNREFUSED:
            "\(target.authority) refused the connection. Is the server running, and is the port right?"
        case EHOSTUNREACH, ENETUNREACH:
            "\(target.authority) cannot be reached from here. Check the network connection and routes."
        case ETIMEDOUT: "\(target.authority) did not answer in time."
        default: "No connection to \(target.authority) came about: \(error)."
        }
    }
}

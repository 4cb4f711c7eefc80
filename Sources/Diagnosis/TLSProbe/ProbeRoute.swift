import Foundation
package import HTTPModel
package import NIOCore
import NIOPosix
import Synchronization
import Text

package typealias ProbeStream = NIOAsyncChannel<ByteBuffer, ByteBuffer>

package protocol ProbeRoute: Sendable {
    var proxy: UpstreamProxy? { get }

    /// Returns a connection whose next bytes are the server's. The caller closes it.
    func connect(within limit: Duration) async throws -> ProbeStream
}

/// Always connects to the address that answered first, so that all handshakes reach one server.
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
        let (host, port) = (target.host, target.port)
        if let address = known.withLock(\.self) ?? (try? SocketAddress(ipAddress: host, port: port)) {
            stream = try await bootstrap.connect(to: address, channelInitializer: initializer)
        } else {
            // Resolvers need ASCII.
            let name = HostForms(host)?.ascii ?? host
            stream = try await bootstrap.connect(host: name, port: port, channelInitializer: initializer)
        }
        known.withLock { $0 = stream.channel.remoteAddress }
        return stream
    }
}

enum ProbeFailure: Error, Sendable, Hashable {
    case unreachable(String)
    case silent(seconds: Double)
    case closed
    case plainHTTP
    case alert(String)
    case refused(String)
    case outOfTime

    var isFinal: Bool {
        switch self {
        case .unreachable, .silent, .outOfTime: true
        case .closed, .plainHTTP, .alert, .refused: false
        }
    }

    /// Whether nothing in the failure shows that the server speaks TLS.
    var mayBePlainHTTP: Bool {
        switch self {
        case .closed, .plainHTTP: true
        // The answer was not TLS; an old server may answer with a page without a status line.
        case .refused(let reason): reason.contains("wrong version number") || reason.contains("packet length too long")
        case .unreachable, .silent, .alert, .outOfTime: false
        }
    }
}

extension ProbeFailure {
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
            let advice = "It may be down, or a firewall drops the packets."
            self = .unreachable("\(target.authority) did not answer in time. \(advice)")
        default: self = .unreachable("Cannot connect to \(target.authority): \(error).")
        }
    }

    private static func describe(_ error: IOError, _ target: ProbeTarget) -> String {
        switch error.errnoCode {
        case ECONNREFUSED:
            "\(target.authority) refused the connection. Is the server running, and is the port right?"
        case EHOSTUNREACH, ENETUNREACH:
            "\(target.authority) cannot be reached from here. Check the network connection and routes."
        case ETIMEDOUT: "\(target.authority) did not answer in time."
        default: "Cannot connect to \(target.authority): \(error)."
        }
    }
}

import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
package import Runner
import Text
package import Wire

/// Connects through a proxy, which resolves the server's name.
final class ProxiedRoute: ProbeRoute {
    private let way: UpstreamProxy
    private let target: ProbeTarget
    private let trust: TLSTrust

    /// `trust` verifies a proxy that speaks TLS.
    init(to target: ProbeTarget, through way: UpstreamProxy, trust: TLSTrust) {
        (self.target, self.way, self.trust) = (target, way, trust)
    }

    var proxy: UpstreamProxy? { way }

    func connect(within limit: Duration) async throws -> ProbeStream {
        let group = MultiThreadedEventLoopGroup.singleton
        let opened = group.any().makePromise(of: ProbeStream.self)
        let deadline = ContinuousClock.now + limit
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: group)
                .connectTimeout(TimeAmount(limit))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { [self] channel in
                    channel.eventLoop.makeCompletedFuture { try addHandlers(to: channel, opened) }
                }
                .connect(host: way.host, port: way.port).get()
        } catch {
            let failure = ProbeFailure(connecting: error, to: ProbeTarget(host: way.host, port: way.port))
            opened.fail(failure)
            guard case .unreachable(let text) = failure else { throw failure }
            throw ProbeFailure.unreachable("The upstream proxy \(way): \(text)")
        }
        let expiry = channel.eventLoop.scheduleTask(in: TimeAmount(ContinuousClock.now.duration(to: deadline))) {
            [way, target] in
            let text = "The upstream proxy \(way) did not open a way to \(target.authority) in time."
            opened.fail(ProbeFailure.unreachable(text))
        }
        defer { expiry.cancel() }
        do {
            return try await opened.futureResult.get()
        } catch {
            channel.close(promise: nil)
            throw error
        }
    }

    private func addHandlers(to channel: any Channel, _ opened: EventLoopPromise<ProbeStream>) throws {
        let pipeline = channel.pipeline.syncOperations
        if way.kind == .https {
            let session = try TLSClientContext(trust: trust).makeSession(host: way.host)
            try pipeline.addHandler(TLSChannelHandler(session: session))
        }
        let handshake = way.handshake(host: HostForms(target.host)?.ascii ?? target.host, port: target.port)
        try pipeline.addHandler(ProxyHandshakeHandler(way, to: target.authority, handshake: handshake))
        try pipeline.addHandler(WayOpened(opened))
    }
}

/// Hands over the connection when the proxy has connected to the server.
private final class WayOpened: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let opened: EventLoopPromise<ProbeStream>

    init(_ opened: EventLoopPromise<ProbeStream>) { self.opened = opened }

    func channelActive(context: ChannelHandlerContext) {
        opened.completeWith(Result { try ProbeStream(wrappingChannelSynchronously: context.channel) })
        context.fireChannelActive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let failure = error as? ExchangeFailure
        let text = failure.map { [$0.message, $0.hint].filter { !$0.isEmpty }.joined(separator: " ") }
        opened.fail(ProbeFailure.unreachable(text ?? "The upstream proxy failed: \(error)."))
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        opened.fail(ProbeFailure.closed)
        context.fireChannelInactive()
    }
}

extension UpstreamOption {
    /// `nil` for a direct connection.
    package func route(to target: ProbeTarget, trust: TLSTrust) -> (any ProbeRoute)? {
        let url = RequestURL(scheme: "https", host: target.host, port: target.port, path: "/", query: nil)
        return route(url).proxy.map { ProxiedRoute(to: target, through: $0, trust: trust) }
    }
}

import Foundation
import Logging
import NIOCore

/// Pauses a listener at the limit of descriptors or clients while idle connections are closed; if none are idle and a
/// client waits, the quietest connection is closed. NIO's `AcceptBackoffHandler` would leave the listener readable
/// forever; with `autoRead` off, the event loop does not watch the listener at all.
final class AcceptGate: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let loops: [NIOLoopBound<LoopContext>]
    private let counts: ClientCounts
    private let logger: Logger
    private var isResting = false
    private var lastWarning: NIODeadline?

    /// The pause before the next attempt if no connection was idle: without and with a waiting client.
    private static let rest = TimeAmount.seconds(1)
    private static let retry = TimeAmount.milliseconds(250)

    init(loops: [NIOLoopBound<LoopContext>], counts: ClientCounts, logger: Logger) {
        self.loops = loops
        self.counts = counts
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, error.isShortage else {
            context.fireErrorCaught(error)
            return
        }
        rest(context.channel, "the system allows no more (\(error.systemText); 'ulimit -n' sets how many)")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Counted here, because the connection's loop may be behind.
        counts.count(unwrapInboundIn(data))
        context.fireChannelRead(data)
        if counts.isFull { rest(context.channel, counts.bound) }
    }

    private func rest(_ channel: any Channel, _ reason: String) {
        guard !isResting else { return }
        isResting = true
        try? channel.syncOptions?.setOption(.autoRead, value: false)
        warn(reason, channel.eventLoop.now)
        makeRoom(channel)
    }

    private func makeRoom(_ channel: any Channel) {
        let closed = loops.map { loop in loop.eventLoop.submit { loop.value.closeIdle() } }
        EventLoopFuture.reduce(0, closed, on: channel.eventLoop, +).assumeIsolated().whenComplete { [self] closed in
            if (try? closed.get()) ?? 0 > 0 { return acceptAgain(channel, in: .zero) }
            AcceptGate.hasWaitingClient(channel).assumeIsolated().whenComplete { [self] waits in
                if (try? waits.get()) == false { return acceptAgain(channel, in: AcceptGate.rest) }
                closeQuietest(for: channel)
            }
        }
    }

    private func acceptAgain(_ channel: any Channel, in rest: TimeAmount) {
        channel.eventLoop.assumeIsolated().scheduleTask(in: rest) { [self] in
            // A listener that was closed meanwhile accepts no more clients.
            if channel.isActive, counts.isFull { return makeRoom(channel) }
            isResting = false
            // A listener that was closed meanwhile has no options.
            try? channel.syncOptions?.setOption(.autoRead, value: true)
        }
    }

    /// Closes the quietest connection that may be closed, of all loops.
    private func closeQuietest(for channel: any Channel) {
        let silences = loops.map { loop in loop.eventLoop.submit { loop.value.longestSilence() } }
        EventLoopFuture.whenAllSucceed(silences, on: channel.eventLoop).assumeIsolated().whenComplete { [self] result in
            let found = zip(loops, (try? result.get()) ?? []).compactMap { loop, silence in silence.map { (loop, $0) } }
            guard let (loop, _) = found.max(by: { $0.1 < $1.1 }) else {
                return acceptAgain(channel, in: AcceptGate.retry)
            }
            let closed = loop.eventLoop.submit { loop.value.closeQuietest() }.hop(to: channel.eventLoop)
            closed.assumeIsolated().whenComplete { [self] closed in
                acceptAgain(channel, in: (try? closed.get()) == true ? .milliseconds(10) : AcceptGate.retry)
            }
        }
    }

    /// Whether a client waits to be accepted; `true` if the system does not tell.
    private static func hasWaitingClient(_ channel: any Channel) -> EventLoopFuture<Bool> {
        #if os(Linux)
        if let socket = channel as? any SocketOptionProvider {
            // For a listening socket this is the number of connections that were not accepted yet.
            return socket.getTCPInfo().map { $0.tcpi_unacked > 0 }
        }
        #endif
        return channel.eventLoop.makeSucceededFuture(true)
    }

    private func warn(_ reason: String, _ now: NIODeadline) {
        if let lastWarning, now - lastWarning < .minutes(1) { return }
        lastWarning = now
        logger.warning(
            """
            further clients must wait, because \(reason). Connections that are idle, whose client is silent for 5 seconds, or that \
            are tunnels and unused for 2 seconds or silent for a minute, are closed for them.
            """
        )
    }
}

extension IOError {
    var systemText: String { String(cString: strerror(errnoCode)) }

    /// Whether the process or the machine has no descriptor or memory left for a connection.
    var isShortage: Bool {
        switch errnoCode {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: true
        default: false
        }
    }
}

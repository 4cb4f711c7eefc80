import Foundation
import Logging
import NIOCore

/// Lets a listener rest while the process has no free descriptor, or as many clients as it may have; idle connections are
/// closed meanwhile.
///
/// NIO's `AcceptBackoffHandler` withholds reads, but the one that failed stays pending, so that the listener is reported
/// readable again at once and for ever. Without `autoRead` it is not registered at all.
final class AcceptGate: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let loops: [NIOLoopBound<LoopContext>]
    private let counts: ClientCounts
    private let logger: Logger
    private var isResting = false
    private var lastWarning: NIODeadline?

    /// How long until accepting is tried again where nothing was idle.
    private static let rest = TimeAmount.seconds(1)

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
        rest(context.channel, "\(error); ulimit -n sets how many there may be")
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.fireChannelRead(data)
        if counts.isFull { rest(context.channel, "there are \(counts.most), and --max-connections allows no more") }
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
            let rest = (try? closed.get()) ?? 0 > 0 ? TimeAmount.zero : AcceptGate.rest
            channel.eventLoop.assumeIsolated().scheduleTask(in: rest) { [self] in
                // A listener that was closed meanwhile takes no more clients at all.
                if channel.isActive, counts.isFull { return makeRoom(channel) }
                isResting = false
                // A listener that was closed meanwhile has no options.
                try? channel.syncOptions?.setOption(.autoRead, value: true)
            }
        }
    }

    /// Warns once a minute at the most.
    private func warn(_ reason: String, _ now: NIODeadline) {
        if let lastWarning, now - lastWarning < .minutes(1) { return }
        lastWarning = now
        logger.warning(
            "further clients have to wait: idle connections are closed for them",
            metadata: ["reason": "\(reason)"]
        )
    }
}

extension IOError {
    /// Whether the process, or the machine, has no descriptor or memory left for a connection.
    var isShortage: Bool {
        switch errnoCode {
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: true
        default: false
        }
    }
}

import Foundation
import Logging
import NIOCore

/// Lets a listener rest while the process has no free descriptor; idle connections are closed meanwhile.
///
/// NIO's `AcceptBackoffHandler` withholds reads, but the one that failed stays pending, so that the listener is reported
/// readable again at once and for ever. Without `autoRead` it is not registered at all.
final class AcceptGate: ChannelInboundHandler {
    typealias InboundIn = any Channel

    private let loops: [NIOLoopBound<LoopContext>]
    private let logger: Logger
    private var isResting = false
    private var lastWarning: NIODeadline?

    /// How long until accepting is tried again where nothing was idle.
    private static let rest = TimeAmount.seconds(1)

    init(loops: [NIOLoopBound<LoopContext>], logger: Logger) {
        self.loops = loops
        self.logger = logger
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? IOError, error.isShortage else {
            context.fireErrorCaught(error)
            return
        }
        guard !isResting else { return }
        isResting = true
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        warn(error, context.eventLoop.now)
        let channel = context.channel
        let closed = loops.map { loop in loop.eventLoop.submit { loop.value.closeIdle() } }
        EventLoopFuture.reduce(0, closed, on: context.eventLoop, +).assumeIsolated().whenComplete { [self] closed in
            let rest = (try? closed.get()) ?? 0 > 0 ? TimeAmount.zero : AcceptGate.rest
            channel.eventLoop.assumeIsolated().scheduleTask(in: rest) { [self] in
                isResting = false
                // A listener that was closed meanwhile has no options.
                try? channel.syncOptions?.setOption(.autoRead, value: true)
            }
        }
    }

    /// Warns once a minute at the most.
    private func warn(_ error: IOError, _ now: NIODeadline) {
        if let lastWarning, now - lastWarning < .minutes(1) { return }
        lastWarning = now
        logger.warning(
            "further clients have to wait: idle connections are closed for them; ulimit -n sets how many there may be",
            metadata: ["error": "\(error)"]
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

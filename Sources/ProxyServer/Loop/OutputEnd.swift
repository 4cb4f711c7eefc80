import NIOCore

/// How a connection stops sending: half a close, or a whole one, each once what was written before is out.
struct OutputEnd {
    private var written: EventLoopFuture<Void>?

    /// Tells the peer that no more will come, after what was written.
    ///
    /// - Parameters:
    ///   - context: the handler that wrote.
    ///   - peerHasEnded: whether the peer sends no more either. Half a close on top of its half would be a whole one, at
    ///     once, with writes still pending; so it is a close after the writes instead.
    ///   - limit: how long a peer may take nothing before the connection is given up.
    ///   - close: closes the connection for good.
    mutating func closeOutput(
        _ context: ChannelHandlerContext,
        peerHasEnded: Bool,
        limit: TimeAmount,
        close: @escaping () -> Void
    ) {
        guard written == nil else { return }
        context.flush()
        if peerHasEnded {
            closeAfterWrites(context, limit: limit, close: close)
            return
        }
        let promise = context.eventLoop.makePromise(of: Void.self)
        written = promise.futureResult
        context.close(mode: .output, promise: promise)
    }

    /// Closes once what was written is out; a peer that takes nothing is given up after the limit.
    mutating func closeAfterWrites(
        _ context: ChannelHandlerContext,
        limit: TimeAmount,
        close: @escaping () -> Void
    ) {
        let written: EventLoopFuture<Void>
        if let known = self.written {
            written = known
        } else {
            let promise = context.eventLoop.makePromise(of: Void.self)
            written = promise.futureResult
            self.written = written
            context.writeAndFlush(NIOAny(ByteBuffer()), promise: promise)
        }
        let eventLoop = context.eventLoop.assumeIsolated()
        let timer = eventLoop.scheduleTask(in: limit) { close() }
        written.assumeIsolated().whenComplete { _ in
            timer.cancel()
            // In a later tick: what closing still writes (close_notify) would be lost inside the flush that ends here.
            eventLoop.execute { close() }
        }
    }
}

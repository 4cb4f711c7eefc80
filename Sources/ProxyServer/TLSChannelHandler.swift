package import HTTPModel
package import NIOCore
package import Wire

package struct TLSHandshakeCompleted: Sendable { package let details: TLSDetails }

/// Reads and writes bytes on both of its sides.
package protocol ByteHandler: ChannelDuplexHandler
where InboundIn == ByteBuffer, InboundOut == ByteBuffer, OutboundIn == ByteBuffer, OutboundOut == ByteBuffer {}

/// Runs a TLS session in a channel. Small writes are collected until the flush, which then makes few records.
package final class TLSChannelHandler: ByteHandler {
    private let session: TLSSession
    private var isOpen = false
    private var isEnded = false
    private var isOutputClosed = false
    private var withholdsCloseNotify = false
    private var gathered = ByteBuffer()
    /// Kept until the ciphertext of their writes is sent.
    private var promises: [EventLoopPromise<Void>] = []
    private var early: ByteBuffer?

    /// Writes of at least this many bytes are encrypted separately.
    private static let large = 4 << 10

    /// `early` is ciphertext that arrived before the handler was added.
    package init(session: TLSSession, early: ByteBuffer? = nil) {
        self.session = session
        self.early = early
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        start(context)
    }

    private func start(_ context: ChannelHandlerContext) {
        if let early {
            session.receive(early)
            self.early = nil
        }
        advance(context)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        session.receive(unwrapInboundIn(data))
        advance(context)
    }

    private func advance(_ context: ChannelHandlerContext) {
        guard !isEnded else { return }
        while true {
            var plaintext = context.channel.allocator.buffer(capacity: 0)
            let progress = session.advance(into: &plaintext)
            noteHandshake(context)
            if plaintext.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(plaintext)) }
            switch progress {
            case .limitReached: continue
            case .needsInput: return send(context)
            case .ended:
                send(context)
                return end(context)
            }
        }
    }

    private func noteHandshake(_ context: ChannelHandlerContext) {
        guard !isOpen else { return }
        switch session.state {
        case .open, .peerClosed:
            isOpen = true
            send(context)
            context.fireUserInboundEventTriggered(TLSHandshakeCompleted(details: session.details))
        case .handshaking, .failed: break
        }
    }

    private func end(_ context: ChannelHandlerContext) {
        guard !isEnded else { return }
        isEnded = true
        switch session.state {
        case .failed(let failure): context.fireErrorCaught(failure)
        case .peerClosed(let cleanly): context.fireUserInboundEventTriggered(TLSInputClosed(cleanly: cleanly))
        case .handshaking, .open: break
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        let ended = event as? ChannelEvent
        if ended == .inputClosed {
            session.receiveEOF()
            advance(context)
        } else {
            if ended == .outputClosed { isOutputClosed = true }
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Before the end of the handshake, a connection error is reported as a failed handshake.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A failure from another part of the proxy is more precise than an unfinished handshake.
        if !isOpen, !(error is ExchangeFailure) {
            session.receiveEOF()
            advance(context)
        }
        context.fireErrorCaught(error)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        // After our half-close, the peer's close is reported only here; without a half-close, this is a reset.
        if isOutputClosed || !isOpen {
            session.receiveEOF()
            advance(context)
        }
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
        context.fireChannelInactive()
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data)
        do {
            if bytes.readableBytes >= TLSChannelHandler.large {
                try encryptGathered()
                try session.write(bytes)
            } else {
                gathered.writeImmutableBuffer(bytes)
            }
            if let promise { promises.append(promise) }
        } catch {
            promise?.fail(error)
        }
    }

    package func flush(context: ChannelHandlerContext) {
        // A failed session reports its error when it is read.
        try? encryptGathered()
        send(context)
        context.flush()
    }

    private func encryptGathered() throws {
        guard gathered.readableBytes > 0 else { return }
        let bytes = gathered
        gathered = ByteBuffer()
        try session.write(bytes)
    }

    private func send(_ context: ChannelHandlerContext) {
        let ciphertext = session.takeOutput()
        // Before the end of the handshake none of these writes has been encrypted.
        guard !promises.isEmpty, isOpen || isEnded else {
            if let ciphertext { context.writeAndFlush(wrapOutboundOut(ciphertext), promise: nil) }
            return
        }
        let waiting = promises
        promises = []
        let written = context.eventLoop.makePromise(of: Void.self)
        for promise in waiting { written.futureResult.cascade(to: promise) }
        context.writeAndFlush(wrapOutboundOut(ciphertext ?? ByteBuffer()), promise: written)
    }

    package func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?)
    {
        guard event is TLSCloseNotifyWithheld else { return context.triggerUserOutboundEvent(event, promise: promise) }
        withholdsCloseNotify = true
        promise?.succeed()
    }

    /// Sends close_notify first, unless it is withheld.
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input {
            try? encryptGathered()
            if !withholdsCloseNotify { session.shutdown() }
            send(context)
        }
        context.close(mode: mode, promise: promise)
    }
}

/// Event from above: the connection is to be closed without close_notify, as if it was cut.
package struct TLSCloseNotifyWithheld: Sendable { package init() {} }

/// The peer sends no more. A channel that becomes inactive without this event, and was not closed here, was reset.
package struct TLSInputClosed: Sendable { package let cleanly: Bool }

package import HTTPModel
package import NIOCore
package import Wire

/// The event that a TLS handshake is done, for the handlers above.
package struct TLSHandshakeCompleted: Sendable {
    package let details: TLSDetails
}

/// Runs a TLS session in a channel: ciphertext on the socket's side, plaintext on the other.
///
/// Small writes are gathered until the flush, so that one flush makes as few records as possible.
package final class TLSChannelHandler: ChannelDuplexHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundIn = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let session: TLSSession
    private var isOpen = false
    private var isEnded = false
    private var isOutputClosed = false
    private var withholdsCloseNotify = false
    private var gathered = ByteBuffer()
    /// Kept until the ciphertext of the writes that they belong to is on the wire.
    private var promises: [EventLoopPromise<Void>] = []
    /// What arrived before the handler was there.
    private var early: ByteBuffer?

    /// Writes of at least this many bytes are encrypted by themselves.
    private static let large = 4 << 10

    /// Creates a handler for one connection; `early` is ciphertext that arrived before the handler was there.
    package init(session: TLSSession, early: ByteBuffer? = nil) {
        self.session = session
        self.early = early
    }

    /// Begins the handshake where the channel is there already.
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

    // MARK: - Reading

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
            case .needsInput:
                send(context)
                return
            case .ended:
                send(context)
                end(context)
                return
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

    /// Passes the error on; one of the connection is the handshake's before that is over.
    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A failure that another part of the proxy has found says more than that the handshake did not end.
        if !isOpen, !(error is ExchangeFailure) {
            session.receiveEOF()
            advance(context)
        }
        context.fireErrorCaught(error)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        // After our half of the close the peer's is not reported before the channel is gone. Otherwise it is, and a channel
        // that is just gone was reset.
        if isOutputClosed || !isOpen {
            session.receiveEOF()
            advance(context)
        }
        for promise in promises { promise.fail(ChannelError.ioOnClosedChannel) }
        promises = []
        context.fireChannelInactive()
    }

    // MARK: - Writing

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
        // A session that has failed says so when it is read from; there is nobody else to tell here.
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
        // Before the handshake is over nothing of what was promised has been encrypted.
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
        guard event is TLSCloseNotifyWithheld else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        withholdsCloseNotify = true
        promise?.succeed()
    }

    /// Says close_notify first, unless that is withheld.
    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode != .input {
            try? encryptGathered()
            if !withholdsCloseNotify { session.shutdown() }
            send(context)
        }
        context.close(mode: mode, promise: promise)
    }
}

/// Asked of the handler from above: the connection is to be closed without close_notify, as one that was cut.
package struct TLSCloseNotifyWithheld: Sendable {
    package init() {}
}

/// The event that the peer sends no more, for the handlers above.
///
/// A channel that becomes inactive without this, and was not closed on this side, was reset.
package struct TLSInputClosed: Sendable {
    /// Whether the peer said so with close_notify, and did not just go away.
    package let cleanly: Bool
}

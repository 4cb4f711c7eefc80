package import HTTPModel
package import NIOCore
package import Wire

/// TCP with a proxy is connected; the connection to the server is not.
package struct ProxyReached: Sendable {}

/// Makes a proxy connect to a server before the later handlers become active. The handler of the proxy's own TLS comes
/// earlier in the pipeline. Without a handshake (the proxy reads the requests), this only waits for that TLS.
package final class ProxyHandshakeHandler: ByteHandler {
    private enum State {
        /// TCP or TLS is not connected yet. Successors: `talking`, `open`, `failed`.
        case connecting
        /// Successors: `refused`, `open`, `failed`.
        case talking
        /// The rest of the refusal is awaited for a while. Successor: `failed`.
        case refused(ExchangeFailure, limit: Scheduled<Void>)
        /// The bytes are the server's.
        case open
        case failed
    }

    private let proxy: UpstreamProxy
    private let authority: String
    private let handshake: (any ProxyHandshake)?
    private var state = State.connecting

    private static let textLimit = TimeAmount.milliseconds(500)

    /// `handshake` is `nil` for a proxy that reads the requests.
    package init(_ proxy: UpstreamProxy, to authority: String, handshake: (any ProxyHandshake)?) {
        self.proxy = proxy
        self.authority = authority
        self.handshake = handshake
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { reached(context) }
    }

    package func channelActive(context: ChannelHandlerContext) { reached(context) }

    private func reached(_ context: ChannelHandlerContext) {
        guard case .connecting = state else { return }
        context.fireUserInboundEventTriggered(ProxyReached())
        if proxy.kind != .https { begin(context) }
    }

    private func begin(_ context: ChannelHandlerContext) {
        guard case .connecting = state else { return }
        guard let handshake else { return open(context, rest: nil) }
        state = .talking
        context.writeAndFlush(wrapOutboundOut(handshake.begin()), promise: nil)
    }

    private func open(_ context: ChannelHandlerContext, rest: ByteBuffer?) {
        state = .open
        context.fireChannelActive()
        if let rest { context.fireChannelRead(wrapInboundOut(rest)) }
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch state {
        case .open: context.fireChannelRead(data)
        case .talking, .refused: received(unwrapInboundIn(data), context)
        case .connecting, .failed: break
        }
    }

    private func received(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
        guard let handshake else { return }
        switch handshake.receive(bytes) {
        case .more: break
        case .send(let bytes):
            context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
            // A proxy may already have sent its next answer.
            received(ByteBuffer(), context)
        case .open(let rest): open(context, rest: rest)
        case .refused(let refusal, let isWhole):
            let failure = proxy.failure(refusal, to: authority)
            if isWhole { return fail(failure, context) }
            if case .refused(_, let limit) = state {
                state = .refused(failure, limit: limit)
            } else {
                let limit = context.eventLoop.assumeIsolated().scheduleTask(in: Self.textLimit) { [self] in
                    if case .refused(let failure, _) = state { fail(failure, context) }
                }
                state = .refused(failure, limit: limit)
            }
        }
    }

    private func fail(_ failure: ExchangeFailure, _ context: ChannelHandlerContext) {
        if case .refused(_, let limit) = state { limit.cancel() }
        state = .failed
        context.fireErrorCaught(failure)
    }

    /// The proxy ended too early; `how` is the end of a sentence.
    private func ended(_ how: String, _ context: ChannelHandlerContext) {
        switch state {
        case .open, .failed: break
        case .refused(let failure, _): fail(failure, context)
        case .connecting, .talking:
            let text = "The upstream proxy \(proxy) \(how) before it opened a way to \(authority)."
            fail(ExchangeFailure(.upstreamProxy, text, hint: proxy.question), context)
        }
    }

    package func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        // Events of the proxy's TLS are not the server's.
        case is TLSHandshakeCompleted: begin(context)
        case is TLSInputClosed: inputClosed(context)
        case ChannelEvent.inputClosed as ChannelEvent: inputClosed(context)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    private func inputClosed(_ context: ChannelHandlerContext) {
        if case .open = state {
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        } else {
            ended("closed the connection", context)
        }
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch (state, error) {
        case (.open, _), (.failed, _), (_, is ExchangeFailure): context.fireErrorCaught(error)
        case (_, var error as TLSError):
            error.host = proxy.host
            let text = "TLS with the upstream proxy \(proxy) failed: \(error.explanation)"
            fail(ExchangeFailure(.upstreamProxy, text), context)
        default: ended(UpstreamConnection.whatBecame(error), context)
        }
    }

    package func channelInactive(context: ChannelHandlerContext) {
        ended("closed the connection", context)
        context.fireChannelInactive()
    }
}

import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A server's connection whose bytes are passed through.
final class TunnelUpstreamConnection: ChannelDuplexHandler, UpstreamLeg {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let connection: UpstreamSocket
    /// What arrived, or ended, before the exchange took the connection over.
    private var early = ByteBuffer()
    private var hasInputEnded = false
    var exchange: Exchange?

    init(_ connection: UpstreamSocket) {
        self.connection = connection
    }

    // MARK: - UpstreamLeg

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer { ByteBuffer() }

    func sendRequestPart(_ part: ByteBuffer) {
        connection.context?.write(wrapOutboundOut(part), promise: nil)
    }

    func sendRequestEnd(_ trailers: FieldSection?) {
        connection.endOutput()
    }

    func becomeTunnel() {
        guard early.readableBytes > 0 || hasInputEnded else { return }
        let bytes = early
        early = ByteBuffer()
        if bytes.readableBytes > 0 { exchange?.responsePart(bytes) }
        if hasInputEnded { exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: true) }
    }

    func setReading(_ isReading: Bool) { connection.isReading = isReading }
    func flush() { connection.context?.flush() }

    func release() {
        exchange = nil
        connection.closeAfterWrites()
    }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        connection.context?.close(promise: nil)
    }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        connection.added(context)
        if context.channel.isActive { activated(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { connection.removed() }

    func channelActive(context: ChannelHandlerContext) { activated(context) }

    private func activated(_ context: ChannelHandlerContext) {
        connection.activated(context)
        if !connection.isSecure { connection.ready(.success(.single(self, connection))) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if let exchange { exchange.responsePart(bytes) } else { early.writeImmutableBuffer(bytes) }
    }

    func read(context: ChannelHandlerContext) { connection.read(context) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let completed as TLSHandshakeCompleted:
            connection.handshakeCompleted(completed.details)
            connection.ready(.success(.single(self, connection)))
        case is TLSInputClosed, ChannelEvent.inputClosed as ChannelEvent: inputClosed()
        default: break
        }
    }

    private func inputClosed() {
        guard !hasInputEnded else { return }
        hasInputEnded = true
        connection.hasInputEnded = true
        exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: true)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        exchange?.upstreamBecameWritable(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        inputClosed()
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamClosed(ExchangeFailure(.reset, "The server closed the tunnel."))
        connection.closed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.ready(.failure(error))
        if let failure = error as? ExchangeFailure, let exchange {
            self.exchange = nil
            exchange.upstreamClosed(failure)
        }
        context.close(promise: nil)
    }
}

@available(*, unavailable)
extension TunnelUpstreamConnection: Sendable {}

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
        let bytes = early
        early = ByteBuffer()
        if bytes.readableBytes > 0 { exchange?.responsePart(bytes) }
        if connection.hasInputEnded { endResponse() }
    }

    func setReading(_ isReading: Bool) { connection.isReading = isReading }
    func flush() { connection.context?.flush() }

    func release() {
        exchange = nil
        connection.closeAfterWrites()
    }

    func withholdCloseNotify() { connection.withholdCloseNotify() }

    func abandon(_ code: HTTP2ErrorCode) {
        exchange = nil
        if code == .noError { connection.context?.close(promise: nil) } else { connection.resetAfterWrites() }
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
        default: if connection.isInputEnd(event) { inputClosed() }
        }
    }

    private func inputClosed() {
        guard !connection.hasInputEnded else { return }
        connection.hasInputEnded = true
        endResponse()
    }

    private func endResponse() {
        exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        exchange?.upstreamBecameWritable(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if connection.hasEndedOutput { inputClosed() }
        fail(nil)
        connection.closed()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        connection.ready(.failure(error))
        fail(error)
        context.close(promise: nil)
    }

    private func fail(_ error: (any Error)?) {
        let exchange = exchange
        self.exchange = nil
        if let failure = error as? ExchangeFailure {
            exchange?.upstreamClosed(failure)
        } else if let failure = error as? TLSFailure {
            exchange?.upstreamClosed(ExchangeFailure(.tls, "TLS failed in the tunnel: \(failure.explanation)"))
        } else {
            let what = connection.hasInputEnded ? "closed the connection" : UpstreamSocket.whatBecame(error)
            exchange?.upstreamClosed(ExchangeFailure(.reset, "The server \(what)."))
        }
    }
}

@available(*, unavailable)
extension TunnelUpstreamConnection: Sendable {}

import HTTPModel
import NIOCore

/// Waits for the end of a TLS handshake with a server, and gives the connection to whoever speaks what was agreed on.
final class UpstreamNegotiator: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let connection: UpstreamSocket
    private let makeHandler: (_ applicationProtocol: String?) -> (any ChannelHandler, EstablishedUpstream)
    private var isReplaced = false

    init(
        _ connection: UpstreamSocket,
        makeHandler: @escaping (_ applicationProtocol: String?) -> (any ChannelHandler, EstablishedUpstream)
    ) {
        self.connection = connection
        self.makeHandler = makeHandler
    }

    func handlerAdded(context: ChannelHandlerContext) {
        connection.added(context)
        if context.channel.isActive { connection.activated(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if !isReplaced { connection.removed() }
    }

    func channelActive(context: ChannelHandlerContext) {
        connection.activated(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard let completed = event as? TLSHandshakeCompleted, !isReplaced else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        isReplaced = true
        let (handler, established) = makeHandler(completed.details.applicationProtocol)
        connection.handshakeCompleted(completed.details)
        do {
            let pipeline = context.pipeline.syncOperations
            try pipeline.addHandler(handler, position: .after(self))
            pipeline.removeHandler(context: context, promise: nil)
            connection.ready(.success(established))
        } catch {
            connection.ready(.failure(error))
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isReplaced { connection.closed() }
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isReplaced else {
            context.fireErrorCaught(error)
            return
        }
        connection.ready(.failure(error))
        context.close(promise: nil)
    }
}

@available(*, unavailable)
extension UpstreamNegotiator: Sendable {}

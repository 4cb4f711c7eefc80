import Foundation
import NIOCore
import NIOPosix
import ProxyServer
import Synchronization

/// A client of the control socket. The next line is read only after the reply, so that no client can queue work.
final class ControlConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let dispatcher: ControlDispatcher
    private let entrance: LoopEntrance
    private var received = ByteBuffer()
    /// How many of the received bytes were searched for a line feed, without finding one.
    private var searched = 0
    private var isAnswering = false
    /// A line was too long.
    private var hasEnded = false
    private var hasInputEnded = false

    init(_ dispatcher: ControlDispatcher, _ entrance: LoopEntrance) {
        (self.dispatcher, self.entrance) = (dispatcher, entrance)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasEnded else { return }
        received.writeImmutableBuffer(unwrapInboundIn(data))
        takeLine(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case ChannelEvent.inputClosed? = event as? ChannelEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        hasInputEnded = true
        takeLine(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func takeLine(_ context: ChannelHandlerContext) {
        guard !isAnswering, !hasEnded else { return }
        guard let end = received.readableBytesView.dropFirst(searched).firstIndex(of: 0x0A) else {
            searched = received.readableBytes
            if searched > ControlProtocol.longestLine {
                refuse(context)
            } else if hasInputEnded {
                context.close(promise: nil)
            }
            return
        }
        let length = end - received.readerIndex
        guard length <= ControlProtocol.longestLine else { return refuse(context) }
        let line = received.readSlice(length: length) ?? ByteBuffer()
        received.moveReaderIndex(forwardBy: 1)
        received.discardReadBytes()
        searched = 0
        answer(line, context)
    }

    private func answer(_ line: ByteBuffer, _ context: ChannelHandlerContext) {
        isAnswering = true
        setReading(false, context)
        let bytes = line.withUnsafeReadableBytes { Data($0) }
        let (dispatcher, entrance) = (dispatcher, entrance)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        dispatcher.inProgress.add(1, ordering: .relaxed)
        // The task runs until its reply, even if the client or the server is gone, so its event loop must never end.
        let reply = MultiThreadedEventLoopGroup.singleton.any().makeFutureWithTask { await dispatcher.reply(to: bytes) }
        reply.whenSuccess { reply in
            entrance.execute {
                let (connection, context) = bound.value
                dispatcher.inProgress.subtract(1, ordering: .relaxed)
                connection.isAnswering = false
                guard context.channel.isActive else { return }
                context.writeAndFlush(connection.wrapOutboundOut(ByteBuffer(bytes: reply)), promise: nil)
                connection.setReading(true, context)
                connection.takeLine(context)
            }
        }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        hasEnded = true
        received = ByteBuffer()
        let failure = ControlError("A line has at most \(ControlProtocol.longestLine >> 20) MiB.")
        guard let line = try? ControlLine.encode(ControlReply(failure)) else { return context.close(promise: nil) }
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: line))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }

    private func setReading(_ isReading: Bool, _ context: ChannelHandlerContext) {
        _ = try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
    }
}

import HTTPModel
import NIOCore
import NIOPosix
import Wire

/// A server of HTTP/2 without TLS that allows one stream at a time on each connection, and answers a path with so many
/// bytes.
final class HTTP2Origin: Sendable {
    let port: Int
    private let channel: any Channel

    init(_ size: @escaping @Sendable (String) -> Int) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answerer(size)) }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let session: HTTP2Session
        private let size: @Sendable (String) -> Int

        init(_ size: @escaping @Sendable (String) -> Int) {
            self.size = size
            var settings = HTTP2Settings()
            settings.maxConcurrentStreams = 1
            session = HTTP2Session(.server, settings: settings)
        }

        func channelActive(context: ChannelHandlerContext) { process(context) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            session.receive(unwrapInboundIn(data), now: context.eventLoop.now)
            process(context)
        }

        private func process(_ context: ChannelHandlerContext) {
            repeat {
                while let event = session.nextEvent() {
                    guard case .requestHead(let id, let head, _, _, _) = event else { continue }
                    _ = session.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
                    session.sendData(ByteBuffer(repeating: 0x78, count: size(head.target)), on: id)
                    session.sendEnd(nil, on: id)
                }
                while let bytes = session.nextOutput() { context.write(wrapOutboundOut(bytes), promise: nil) }
                context.flush()
            } while session.hasEvents
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

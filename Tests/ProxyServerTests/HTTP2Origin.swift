import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Wire

/// A server of HTTP/2 that allows one stream at a time on each connection, and answers a path with so many bytes.
final class HTTP2Origin: Sendable {
    let port: Int
    private let channel: any Channel

    /// Speaks TLS with a certificate of the authority; closes connections, without a word, when more requests come than
    /// these; resets streams with NO_ERROR behind their answers where it `stopsRequests`.
    init(
        authority: CertificateAuthority? = nil,
        requests: Int = .max,
        stopsRequests: Bool = false,
        _ size: @escaping @Sendable (String) -> Int
    ) async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let authority {
                        let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
                        let session = try TLSServerContext().makeSession(
                            certificate: mint.certificate(for: "127.0.0.1"),
                            applicationProtocols: ["h2"]
                        )
                        try pipeline.addHandler(TLSChannelHandler(session: session))
                    }
                    try pipeline.addHandler(Answerer(size, requests: requests, stopsRequests: stopsRequests))
                }
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
        private var requests: Int
        private let stopsRequests: Bool

        init(_ size: @escaping @Sendable (String) -> Int, requests: Int, stopsRequests: Bool) {
            self.size = size
            self.requests = requests
            self.stopsRequests = stopsRequests
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
                    if case .data(let id, let bytes) = event { session.consume(bytes.readableBytes, on: id) }
                    guard case .requestHead(let id, let head, _, _, _) = event else { continue }
                    requests -= 1
                    if requests < 0 { return context.close(promise: nil) }
                    _ = session.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
                    session.sendData(ByteBuffer(repeating: 0x78, count: size(head.target)), on: id)
                    session.sendEnd(nil, on: id)
                    if stopsRequests { session.reset(id, .noError) }
                }
                while let bytes = session.nextOutput() { context.write(wrapOutboundOut(bytes), promise: nil) }
                context.flush()
            } while session.hasEvents
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

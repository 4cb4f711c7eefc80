import NIOCore
import NIOPosix
import Synchronization

/// A server that answers each request by its path, with bytes as they are.
final class ScriptedOrigin: Sendable {
    /// What to do about a request.
    enum Answer: Sendable {
        /// Sends this, and keeps the connection.
        case bytes(String)
        /// Sends this, and closes the connection.
        case last(String)
        /// Says nothing.
        case nothing
    }

    let port: Int
    private let channel: any Channel
    private let log: Log

    /// The requests so far, each with its body.
    var requests: [String] { log.requests.withLock { $0 } }

    init(_ answers: [String: Answer]) async throws {
        let log = Log()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(answers, log))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
        self.log = log
    }

    deinit { channel.close(promise: nil) }

    /// Waits until a request has arrived.
    func arrival() async {
        for await _ in log.arrivals { return }
    }

    private final class Log: Sendable {
        let requests = Mutex<[String]>([])
        let arrivals: AsyncStream<Void>
        let continuation: AsyncStream<Void>.Continuation

        init() {
            (arrivals, continuation) = AsyncStream.makeStream()
        }
    }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answers: [String: Answer]
        private let log: Log
        private var received = ""

        init(_ answers: [String: Answer], _ log: Log) {
            self.answers = answers
            self.log = log
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received += String(buffer: unwrapInboundIn(data))
            guard let end = received.utf8.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            let head = String(received[..<end.upperBound])
            let length =
                head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
                .flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0
            guard received.utf8.count >= head.utf8.count + length else { return }
            log.requests.withLock { $0.append(received) }
            received = ""
            let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
            switch answers[path] ?? .last("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") {
            case .bytes(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .last(let text):
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                context.close(promise: nil)
            case .nothing: break
            }
            log.continuation.yield()
        }
    }
}

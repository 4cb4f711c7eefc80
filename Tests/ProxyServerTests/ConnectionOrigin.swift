import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Support
import Synchronization
import Wire

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A server whose connections remember what came before: each answers its requests by a script of its own.
final class ConnectionOrigin: Sendable {
    enum Reply: Sendable {
        case answer(String)
        /// The end of the connection, after these bytes; with a TCP reset where `resets`.
        case end(String, resets: Bool)
        case silence
    }

    /// Answers the requests of one connection, given by their heads.
    typealias Script = (String) -> Reply

    let port: Int
    private let channel: any Channel
    private let log = Log()

    fileprivate final class Log: Sendable {
        let state = Mutex((made: 0, open: 0, heads: [String]()))
    }

    /// Speaks TLS with a certificate of the authority, and then these protocols.
    init(
        authority: CertificateAuthority? = nil,
        protocols: [String] = ["http/1.1"],
        makeScript: @escaping @Sendable () -> Script
    ) async throws {
        let log = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let authority {
                        let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
                        let session = try TLSServerContext().makeSession(
                            certificate: mint.certificate(for: "127.0.0.1"),
                            applicationProtocols: protocols
                        )
                        try pipeline.addHandler(TLSChannelHandler(session: session))
                    }
                    try pipeline.addHandler(Answerer(log, makeScript()))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    /// How many connections were made to it.
    var made: Int { log.state.withLock { $0.made } }
    /// How many of them are open.
    var open: Int { log.state.withLock { $0.open } }
    /// The request heads it got.
    var heads: [String] { log.state.withLock { $0.heads } }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let log: Log
        private let script: Script
        private var text = ""

        init(_ log: Log, _ script: @escaping Script) {
            self.log = log
            self.script = script
        }

        func channelActive(context: ChannelHandlerContext) {
            log.state.withLock { state in
                state.made += 1
                state.open += 1
            }
        }

        func channelInactive(context: ChannelHandlerContext) { log.state.withLock { $0.open -= 1 } }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            while let end = text.utf8.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                let head = String(text[..<end])
                if head.hasPrefix("PRI ") {
                    // It does not speak HTTP/2, and that it was asked to does not count.
                    log.state.withLock { $0.made -= 1 }
                    return context.close(promise: nil)
                }
                let length = head.lowercased().split(separator: "content-length: ").dropFirst().first?
                    .prefix { $0.isNumber }
                guard text[end...].utf8.count >= length.flatMap({ Int($0) }) ?? 0 else { return }
                text = String(text[end...].dropFirst(length.flatMap { Int($0) } ?? 0))
                log.state.withLock { $0.heads.append(head) }
                switch script(head) {
                case .silence: break
                case .answer(let answer): send(answer, context)
                case .end(let answer, let resets):
                    send(answer, context)
                    if resets, let socket = context.channel as? any SocketOptionProvider {
                        _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
                    }
                    return context.close(promise: nil)
                }
            }
        }

        private func send(_ text: String, _ context: ChannelHandlerContext) {
            if !text.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A client of HTTP/1 or HTTP/2 that asks one thing after another, on one connection.
final class AskingClient: Sendable {
    private let one: EndingClient?
    private let two: EndingStream?
    /// What comes before a path in the targets of HTTP/1.
    private let prefix: String
    private let host: String
    private let seen = Mutex(0)

    /// A client of HTTP/1 that names its targets so.
    init(_ client: EndingClient, prefix: String, host: String) {
        (one, two, self.prefix, self.host) = (client, nil, prefix, host)
    }

    init(_ client: EndingStream, host: String) { (one, two, prefix, self.host) = (nil, client, "", host) }

    var log: PeerLog { one?.log ?? two?.log ?? PeerLog() }

    /// Sends a request and waits for an answer that ends with an exclamation mark, or for the end of the connection or stream;
    /// returns what came.
    @discardableResult
    func ask(
        _ method: String = "GET",
        _ path: String = "/",
        _ fields: [(String, String)] = [],
        body: String = ""
    ) async throws -> String {
        try await send(method, path, fields, body: body)
        var answer: Substring = ""
        try await eventually("an answer comes to \(method) \(path), and not \(log.text.debugDescription)") {
            answer = log.text.dropFirst(seen.withLock { $0 })
            if case .streamReset = log.lastEnd { return true }
            return answer.contains("!") || one != nil && log.end != nil
        }
        seen.withLock { $0 += answer.count }
        return String(answer)
    }

    func send(
        _ method: String = "GET",
        _ path: String = "/",
        _ fields: [(String, String)] = [],
        body: String = ""
    ) async throws {
        let length = body.isEmpty ? [] : [("Content-Length", "\(body.utf8.count)")]
        let all = [("Host", host)] + fields + length
        if let one {
            let lines = all.map { "\($0): \($1)\r\n" }.joined()
            try await one.send("\(method) \(prefix)\(path) HTTP/1.1\r\n\(lines)\r\n\(body)")
        } else if let two {
            let head = RequestHead(method: method, target: path, fields: all)
            try await two.request(head, scheme: "http", isEnd: body.isEmpty, body: body)
        }
    }
}

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

/// How a peer ends its connection once it has sent what it had.
enum PeerEnd: CaseIterable, Sendable {
    /// With close_notify, where it speaks TLS.
    case clean
    /// With the end of TCP alone.
    case withoutCloseNotify
    /// With a TCP reset.
    case reset
}

/// How the end of what the other side sent looked.
enum SeenEnd: Sendable, Equatable {
    /// FIN on a plain connection, close_notify on TLS, END_STREAM on HTTP/2.
    case end
    case withoutCloseNotify
    case reset
    case streamReset(HTTP2ErrorCode)
}

/// What a peer was sent.
final class PeerLog: Sendable {
    private let state = Mutex((text: "", end: SeenEnd?.none, last: SeenEnd?.none))

    var text: String { state.withLock { $0.text } }
    var end: SeenEnd? { state.withLock { $0.end } }

    /// How the last of several streams ended, or how a stream went on after its end.
    var lastEnd: SeenEnd? { state.withLock { $0.last } }

    func add(_ bytes: ByteBuffer) { state.withLock { $0.text += String(buffer: bytes) } }
    /// The first one counts.
    func ended(_ end: SeenEnd) {
        state.withLock { state in
            state.last = end
            if state.end == nil { state.end = end }
        }
    }
}

/// The end of a peer's pipeline: sends an answer once it has seen a text, and ends the connection.
private final class EndingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let log: PeerLog
    private var script: (awaits: String, answer: String, end: PeerEnd)?

    init(_ log: PeerLog, script: (awaits: String, answer: String, end: PeerEnd)? = nil) {
        self.log = log
        self.script = script
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        log.add(unwrapInboundIn(data))
        guard let script, log.text.contains(script.awaits) else { return }
        self.script = nil
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: script.answer)), promise: nil)
        EndingHandler.end(context, script.end)
    }

    static func end(_ context: ChannelHandlerContext, _ end: PeerEnd) {
        if end != .clean { context.triggerUserOutboundEvent(TLSCloseNotifyWithheld(), promise: nil) }
        if end == .reset, let socket = context.channel as? any SocketOptionProvider {
            _ = socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        }
        context.close(promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let closed as TLSInputClosed: log.ended(closed.cleanly ? .end : .withoutCloseNotify)
        case ChannelEvent.inputClosed as ChannelEvent: log.ended(.end)
        default: return
        }
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        log.ended(.reset)
        context.close(promise: nil)
    }
}

/// A server whose connections each wait for a text, answer, and end in one way.
final class EndingOrigin: Sendable {
    let port: Int
    /// What all of its connections were sent, and how that ended.
    let log: PeerLog
    private let channel: any Channel

    init(
        awaits: String = "\r\n\r\n",
        answer: String,
        end: PeerEnd,
        authority: CertificateAuthority? = nil
    ) async throws {
        let log = PeerLog()
        self.log = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let authority {
                        let mint = try CertificateMint(authority: authority, leafKey: LeafKey())
                        let session = try TLSServerContext().makeSession(
                            certificate: mint.certificate(for: "127.0.0.1")
                        )
                        try pipeline.addHandler(TLSChannelHandler(session: session))
                    }
                    try pipeline.addHandler(EndingHandler(log, script: (awaits, answer, end)))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }
}

/// A client of HTTP/1 or of a tunnel that may begin TLS, and end in each way.
final class EndingClient: Sendable {
    let log: PeerLog
    private let channel: any Channel

    /// Connects; reads nothing before `readOn` where `reads` is off.
    init(port: Int, reads: Bool = true) async throws {
        let log = PeerLog()
        self.log = log
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelOption(.autoRead, value: reads)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(EndingHandler(log))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .get()
    }

    deinit { channel.close(promise: nil) }

    func readOn() async throws { try await channel.setOption(.autoRead, value: true).get() }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }
    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }

    func receives(_ text: String) async throws {
        try await eventually("the client is sent \(text.debugDescription), not \(log.text.debugDescription)") {
            log.text.contains(text)
        }
    }

    /// Asks for a tunnel, and for TLS in it where protocols are given.
    func tunnel(to port: Int, protocols: [String]? = nil) async throws {
        try await send("CONNECT 127.0.0.1:\(port) HTTP/1.1\r\nHost: x\r\n\r\n")
        try await receives("\r\n\r\n")
        if let protocols { try await beginTLS(protocols) }
    }

    func beginTLS(_ protocols: [String], host: String = "127.0.0.1") async throws {
        let channel = channel
        try await channel.eventLoop.submit {
            let trust = TLSTrust(includesSystem: false)
            let session = try TLSClientContext(trust: trust).makeSession(
                host: host,
                applicationProtocols: protocols,
                verification: .recordOnly
            )
            let last = try channel.pipeline.syncOperations.handler(type: EndingHandler.self)
            try channel.pipeline.syncOperations.addHandler(TLSChannelHandler(session: session), position: .before(last))
        }.get()
    }

    /// Ends its sending side alone.
    func endOutput() async throws { try await channel.close(mode: .output) }

    func end(_ end: PeerEnd) async throws {
        let channel = channel
        try await channel.eventLoop.submit {
            EndingHandler.end(try channel.pipeline.syncOperations.context(handlerType: EndingHandler.self), end)
        }.get()
    }
}

/// A client with one stream of HTTP/2, without TLS.
final class EndingStream: Sendable {
    let log: PeerLog
    private let channel: any Channel
    private let handler: NIOLoopBound<Handler>

    /// Connects; gives the server's streams no room for bodies where `takesBodies` is off.
    init(port: Int, takesBodies: Bool = true) async throws {
        let log = PeerLog()
        self.log = log
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port)
            .get()
        self.channel = channel
        handler = try await channel.eventLoop.submit {
            let handler = Handler(log, takesBodies: takesBodies)
            try channel.pipeline.syncOperations.addHandler(handler)
            return NIOLoopBound(handler, eventLoop: channel.eventLoop)
        }.get()
    }

    deinit { channel.close(promise: nil) }

    /// Opens a stream, which ends with its head or with a body that is here.
    func request(_ head: RequestHead, scheme: String, isEnd: Bool, body: String = "") async throws {
        try await act { handler in
            let id = try handler.session.sendRequest(head, scheme: scheme, isEnd: isEnd).stream
            handler.stream = id
            guard !body.isEmpty else { return }
            handler.session.sendData(ByteBuffer(string: body), on: id)
            handler.session.sendEnd(nil, on: id)
        }
    }

    /// Asks for another protocol (RFC 8441), once the server offers that, and sends what belongs to it in the same flight.
    func request(_ head: RequestHead, connectProtocol: String, body: String) async throws {
        try await eventually("extended CONNECT is offered") {
            try await channel.eventLoop.submit { [handler] in
                handler.value.process()
                return handler.value.session.peerOffersExtendedConnect
            }.get()
        }
        try await act {
            let id = try $0.session.sendRequest(head, scheme: "http", connectProtocol: connectProtocol, isEnd: false)
                .stream
            $0.stream = id
            $0.session.sendData(ByteBuffer(string: body), on: id)
        }
    }

    func send(_ text: String) async throws {
        try await act { if let id = $0.stream { $0.session.sendData(ByteBuffer(string: text), on: id) } }
    }

    func ping() async throws { try await act { $0.session.ping() } }

    func reset(_ code: HTTP2ErrorCode) async throws {
        try await act { if let id = $0.stream { $0.session.reset(id, code) } }
    }

    func receives(_ text: String) async throws {
        try await eventually("the stream is sent \(text.debugDescription), not \(log.text.debugDescription)") {
            log.text.contains(text)
        }
    }

    private func act(_ body: @escaping @Sendable (Handler) throws -> Void) async throws {
        let handler = handler
        try await channel.eventLoop.submit {
            try body(handler.value)
            handler.value.process()
        }.get()
    }

    fileprivate final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        let session: HTTP2Session
        var stream: HTTP2StreamID?
        private let log: PeerLog
        private var context: ChannelHandlerContext?

        init(_ log: PeerLog, takesBodies: Bool) {
            self.log = log
            var settings = HTTP2Settings()
            if !takesBodies { settings.initialWindow = 0 }
            session = HTTP2Session(.client, settings: settings)
        }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            session.receive(unwrapInboundIn(data), now: context.eventLoop.now)
            process()
        }

        func process() {
            repeat {
                while let event = session.nextEvent() {
                    switch event {
                    case .responseHead(_, let head, _): log.add(ByteBuffer(string: "\(head.status) "))
                    case .data(let id, let bytes):
                        log.add(bytes)
                        session.consume(bytes.readableBytes, on: id)
                    case .end: log.ended(.end)
                    case .reset(_, let code, _, _): log.ended(.streamReset(code))
                    default: break
                    }
                }
                while let bytes = session.nextOutput() { context?.write(wrapOutboundOut(bytes), promise: nil) }
                context?.flush()
            } while session.hasEvents
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

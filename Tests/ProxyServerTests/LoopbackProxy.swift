import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import NIOPosix
import Support
import Synchronization
import Wire

@testable import ProxyServer

/// A proxy in this process, with a recorder that the test reads and may declare full.
final class LoopbackProxy: Sendable {
    let server: ProxyServer
    let recorder: CollectingOutlet
    let port: Int

    init(
        rules: ProxyRules = ProxyRules(),
        timeouts: ProxyConfiguration.Timeouts = ProxyConfiguration.Timeouts(),
        mode: ListenerMode = .regular,
        port: Int = 0,
        host: String = "127.0.0.1",
        answers: (any RecordedAnswers)? = nil,
        connections: ConnectionLimits = ConnectionLimits(),
        processes: (any ClientProcessSource)? = nil,
        authentication: ProxyAuthentication? = nil,
        loops: Int = ProxyLimits.loops,
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) async throws {
        var configuration = ProxyConfiguration(authority: try CertificateAuthority.generate(label: "test"))
        configuration.listeners = [Listener(mode, host: host, port: port)]
        configuration.timeouts = timeouts
        configuration.skipsVerification = true
        configuration.answers = answers
        configuration.connections = connections
        configuration.clientProcesses = processes
        configuration.authentication = authentication
        configuration.loopCount = loops
        configure(&configuration)
        let recorder = CollectingOutlet()
        self.recorder = recorder
        server = try await ProxyServer.start(
            configuration,
            rules: rules,
            makeOutlet: { onRoom in
                recorder.add(onRoom)
                return recorder.submit
            },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        self.port = server.address.port ?? 0
    }

    /// Runs a test with a proxy, and stops it afterwards.
    static func run(
        rules: ProxyRules = ProxyRules(),
        timeouts: ProxyConfiguration.Timeouts = ProxyConfiguration.Timeouts(),
        mode: ListenerMode = .regular,
        port: Int = 0,
        host: String = "127.0.0.1",
        answers: (any RecordedAnswers)? = nil,
        connections: ConnectionLimits = ConnectionLimits(),
        processes: (any ClientProcessSource)? = nil,
        authentication: ProxyAuthentication? = nil,
        loops: Int = ProxyLimits.loops,
        configure: (inout ProxyConfiguration) -> Void = { _ in },
        _ body: (LoopbackProxy) async throws -> Void
    ) async throws {
        let proxy = try await LoopbackProxy(
            rules: rules,
            timeouts: timeouts,
            mode: mode,
            port: port,
            host: host,
            answers: answers,
            connections: connections,
            processes: processes,
            authentication: authentication,
            loops: loops,
            configure: configure
        )
        do {
            try await body(proxy)
        } catch {
            await proxy.server.stop(grace: .zero)
            throw error
        }
        await proxy.server.stop(grace: .zero)
    }

    func connect() async throws -> LoopbackClient { try await LoopbackClient(port: port) }

    /// Asks an origin for a path, and returns the client that waits for the answer.
    func ask(_ origin: LoopbackOrigin, _ path: String = "/") async throws -> LoopbackClient {
        let client = try await connect()
        try await client.send("GET http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: x\r\n\r\n")
        return client
    }
}

/// Keeps what the taps saw.
final class CollectingOutlet: Sendable {
    private struct State {
        var events: [RecordEvent] = []
        var isFull = false
        var onRoom: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())

    func add(_ onRoom: @escaping @Sendable () -> Void) { state.withLock { $0.onRoom.append(onRoom) } }

    func submit(_ events: [RecordEvent], _ cost: Int) -> Bool {
        state.withLock { state in
            state.events += events
            return !state.isFull
        }
    }

    /// Has no room from now on.
    func fill() { state.withLock { $0.isFull = true } }

    /// Has room again, and says so.
    func drain() {
        let listeners = state.withLock { state in
            state.isFull = false
            return state.onRoom
        }
        for listener in listeners { listener() }
    }

    /// How many exchanges have begun.
    var begun: Int {
        state.withLock { state in
            state.events.count { if case .opened = $0 { true } else { false } }
        }
    }

    /// How many bytes of request bodies were received from clients so far.
    var sent: Int {
        state.withLock { state in
            state.events.reduce(0) { sum, event in
                if case .body(_, .requestReceived, let part) = event { sum + part.readableBytes } else { sum }
            }
        }
    }

    /// How many bytes of response bodies were received from servers so far.
    var received: Int {
        state.withLock { state in
            state.events.reduce(0) { sum, event in
                if case .body(_, .responseReceived, let part) = event { sum + part.readableBytes } else { sum }
            }
        }
    }

    /// The connections that were recorded, in order.
    var connections: [ConnectionRecord] {
        state.withLock { state in
            state.events.compactMap { if case .connection(let record) = $0 { record } else { nil } }
        }
    }

    /// The processes that the records of exchanges in flight named, in order; `nil` for none.
    var processesInFlight: [ClientProcess?] {
        state.withLock { state in
            state.events.compactMap { event in
                switch event {
                case .opened(let record, _), .updated(let record, _): .some(record.extras.process)
                default: nil
                }
            }
        }
    }

    /// The exchanges whose clients became known after they had ended, in order.
    var identified: [(id: ExchangeID, process: ClientProcess)] {
        state.withLock { state in
            state.events.compactMap { if case .identified(let id, let process) = $0 { (id, process) } else { nil } }
        }
    }

    /// The exchanges that ended, in order.
    var finished: [(record: ExchangeRecord, messages: ExchangeMessages)] {
        state.withLock { state in
            state.events.compactMap { event in
                if case .finished(let record, let messages) = event { (record, messages) } else { nil }
            }
        }
    }
}

/// A server that answers each request head with what a closure makes of it; `nil` for silence.
final class LoopbackOrigin: Sendable {
    let port: Int
    private let channel: any Channel
    private let log: Log

    final class Log: Sendable {
        let heads = Mutex<[String]>([])
        let connections = Mutex(0)
    }

    init(_ answer: @escaping @Sendable (String) -> String?) async throws {
        let log = Log()
        self.log = log
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                log.connections.withLock { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(log: log, answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    /// The request heads it got.
    var heads: [String] { log.heads.withLock { $0 } }
    /// How many connections were made to it.
    var connections: Int { log.connections.withLock { $0 } }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let log: Log
        private let answer: @Sendable (String) -> String?
        private var text = ""

        init(log: Log, answer: @escaping @Sendable (String) -> String?) {
            self.log = log
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            while let end = text.utf8.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
                let head = String(text[..<end])
                text = String(text[end...])
                log.heads.withLock { $0.append(head) }
                guard let answer = answer(head) else { continue }
                context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// A client that keeps what it is sent.
final class LoopbackClient: Sendable {
    private let channel: any Channel
    private let log = Log()

    private final class Log: Sendable {
        let text = Mutex("")
        let isClosed = Mutex(false)
    }

    init(port: Int, host: String = "127.0.0.1") async throws {
        let log = log
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(log: log))
                }
            }
            .connect(host: host, port: port)
            .get()
    }

    deinit { channel.close(promise: nil) }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }
    func close() async throws { try await channel.close() }

    var text: String { log.text.withLock { $0 } }
    var isClosed: Bool { log.isClosed.withLock { $0 } }

    /// Waits for text.
    func receives(_ ending: String) async throws {
        try await eventually("the client is sent \(ending.debugDescription), not \(text.debugDescription)") {
            self.text.contains(ending)
        }
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let log: Log

        init(log: Log) { self.log = log }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            log.text.withLock { $0 += String(buffer: bytes) }
        }

        func channelInactive(context: ChannelHandlerContext) { log.isClosed.withLock { $0 = true } }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

import HTTPModel
import NIOCore
import NIOPosix
import Wire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A CONNECT on a client's HTTP/2 connection (RFC 9113 §8.5): a connection within a connection.
///
/// What is inside is a client's connection like any other, with TLS to be ended and requests to be read; so it becomes
/// one, over a pair of sockets, and its CONNECT is repeated there in HTTP/1.1.
final class HTTP2ConnectStream: HTTP2ServedStream {
    let exchange: Exchange? = nil
    let isServed = false

    private let driver: HTTP2Driver
    private let id: HTTP2StreamID
    private let carrier: ClientConnection
    /// Our end of the pair; `nil` until it is there, and after it has gone.
    private var inner: (any Channel)?
    private var innerEnd: HTTP2ConnectEnd?
    private var parser = HTTP1ResponseParser()
    private var isOpen = false
    private var waiting: [ByteBuffer] = []
    private var withheld = 0
    private var hasEnded = false
    private var isOver = false
    private var isReading = true
    private var isReadPending = false
    /// The connection that is served at the other end of the pair.
    private weak var served: ClientConnection?
    /// Whether that connection was cut, so that its end is none of its bytes.
    private var isCut = false

    init(_ driver: HTTP2Driver, _ id: HTTP2StreamID, carrier: ClientConnection) {
        self.driver = driver
        self.id = id
        self.carrier = carrier
        parser.expect(method: "CONNECT")
    }

    /// Makes the pair and asks for the tunnel.
    func open(_ tunnel: RequestScope.Tunnel) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, HTTP2ConnectStream.streamType, 0, &ends) == 0 else {
            end(.internalError)
            return
        }
        let loop = carrier.loop
        let boundSelf = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let boundLoop = NIOLoopBound(loop, eventLoop: loop.eventLoop)
        let boundCarrier = NIOLoopBound(carrier, eventLoop: loop.eventLoop)
        ClientBootstrap(group: loop.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let served = ClientConnection(loop: boundLoop.value, channel: channel, inside: boundCarrier.value)
                    boundSelf.value.served = served
                    served.onReset = { [weak stream = boundSelf.value] in stream?.isCut = true }
                    try channel.pipeline.syncOperations.addHandler(served)
                }
            }
            .withConnectedSocket(ends[0])
            .whenFailure { _ in boundSelf.value.end(.internalError) }
        let host = tunnel.rootedName ?? tunnel.host
        let authority = RequestURL(scheme: "tunnel", host: host, port: tunnel.port, path: "").authority
        let handler = HTTP2ConnectEnd(self, limit: loop.configuration.timeouts.idle)
        let boundEnd = NIOLoopBound(handler, eventLoop: loop.eventLoop)
        innerEnd = handler
        ClientBootstrap(group: loop.eventLoop)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(boundEnd.value)
                }
            }
            .withConnectedSocket(ends[1])
            .assumeIsolated()
            .whenComplete { [self] result in
                switch result {
                case .failure: end(.internalError)
                case .success(let channel):
                    inner = channel
                    let request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n"
                    channel.writeAndFlush(ByteBuffer(string: request), promise: nil)
                }
            }
    }

    #if canImport(Glibc)
    private static let streamType = Int32(SOCK_STREAM.rawValue)
    #else
    private static let streamType = SOCK_STREAM
    #endif

    private func end(_ code: HTTP2ErrorCode) {
        guard !isOver else { return }
        isOver = true
        driver.reset(id, code)
        inner?.close(promise: nil)
        inner = nil
        innerEnd = nil
    }

    // MARK: - From the client

    func data(_ bytes: ByteBuffer) {
        guard isOpen, let inner else {
            waiting.append(bytes)
            return
        }
        withheld += bytes.readableBytes
        inner.writeAndFlush(bytes, promise: nil)
        innerBecameWritable()
    }

    func ended(_ trailers: FieldSection?, _ wireBytes: Int64) {
        hasEnded = true
        if isOpen { innerEnd?.closeOutput() }
    }

    func reset(_ code: HTTP2ErrorCode, isLocal: Bool, _ explanation: String) {
        leave(code)
    }

    func drained() {
        setReading(true)
    }

    func connectionClosed() {
        leave(.connectError)
    }

    /// The client is gone, which is no end of its bytes: the pair has no reset of its own that would tell so.
    private func leave(_ code: HTTP2ErrorCode) {
        isOver = true
        served?.streamWasReset(code)
        inner?.close(promise: nil)
        inner = nil
        innerEnd = nil
    }

    // MARK: - From the pair

    var wantsRead: Bool {
        if !isReading { isReadPending = true }
        return isReading
    }

    private func setReading(_ isReading: Bool) {
        self.isReading = isReading
        if isReading, isReadPending {
            isReadPending = false
            inner?.read()
        }
    }

    func innerBecameWritable() {
        guard withheld > 0, inner?.isWritable ?? true else { return }
        driver.consume(withheld, on: id)
        withheld = 0
    }

    func innerReceived(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        if isOpen {
            send(bytes)
        } else {
            parser.receive(bytes)
            readAnswer()
        }
    }

    private func readAnswer() {
        do throws(HTTP1ParseError) {
            while !isOpen, let event = try parser.next() {
                switch event {
                case .head(let head, _): answered(head)
                case .part(let part): send(part)
                case .end, .informational: break
                }
            }
        } catch {
            end(.connectError)
        }
        driver.scheduleFlush()
    }

    private func answered(_ head: ResponseHead) {
        var head = head
        head.fields.removeAll(.connection)
        _ = driver.session.sendResponse(head, on: id, isEnd: false)
        guard (200..<300).contains(head.status) else { return }
        isOpen = true
        if let rest = parser.takeRemaining(), rest.readableBytes > 0 { send(rest) }
        let early = waiting
        waiting = []
        for bytes in early { data(bytes) }
        if hasEnded { innerEnd?.closeOutput() }
    }

    private func send(_ bytes: ByteBuffer) {
        if driver.send(bytes, on: id) >= HTTP2Framing.highMark { setReading(false) }
        driver.scheduleFlush()
    }

    func innerEnded() {
        guard !isOver else { return }
        if isCut {
            isOver = true
            driver.cut(id, .connectError)
            return
        }
        driver.end(id, trailers: nil)
        driver.scheduleFlush()
    }

    func innerClosed() {
        inner = nil
        innerEnd = nil
        innerEnded()
        isOver = true
    }
}

/// The client's end of the pair of sockets of a CONNECT on HTTP/2.
private final class HTTP2ConnectEnd: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let stream: HTTP2ConnectStream
    /// How long the other end may take nothing.
    private let limit: TimeAmount
    private var context: ChannelHandlerContext?
    private var outputEnd = OutputEnd()
    private var hasEnded = false

    init(_ stream: HTTP2ConnectStream, limit: TimeAmount) {
        self.stream = stream
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// The client sends no more.
    func closeOutput() {
        guard let context else { return }
        outputEnd.closeOutput(context, peerHasEnded: hasEnded, limit: limit) { context.close(promise: nil) }
    }

    func read(context: ChannelHandlerContext) {
        if stream.wantsRead { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        stream.innerReceived(unwrapInboundIn(data))
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { stream.innerBecameWritable() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent { ended() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        ended()
        stream.innerClosed()
    }

    private func ended() {
        guard !hasEnded else { return }
        hasEnded = true
        stream.innerEnded()
    }
}

@available(*, unavailable)
extension HTTP2ConnectStream: Sendable {}

@available(*, unavailable)
extension HTTP2ConnectEnd: Sendable {}

import DequeModule
import HTTPModel
import NIOCore
import Wire

/// A CONNECT stream on a client's HTTP/2 connection (RFC 9113 §8.5). It carries a whole client connection with TLS and
/// requests, so it is the core of a channel, like a socket.
final class HTTP2ConnectStream: HTTP2ServedStream, ChannelCore, NIOSynchronousChannelOptions {
    private enum Input {
        /// Successor: `ended`.
        case open
        /// The channel gets the end after earlier bytes. Successor: `delivered`.
        case ended
        case delivered
    }

    private enum Output {
        /// No answer yet. Successors: `open`, `ended`.
        case unanswered
        /// Successor: `ended`.
        case open
        /// The session has the last frame.
        case ended
    }

    let exchange: Exchange? = nil
    var isServed: Bool { !isActive }

    private let driver: HTTP2Driver
    private let id: HTTP2StreamID
    private let parent: any Channel
    private let closePromise: EventLoopPromise<Void>
    private(set) lazy var pipeline = ChannelPipeline(channel: HTTP2ConnectChannel(self, parent: parent, closePromise))
    private var input = Input.open
    private var output = Output.unanswered
    /// Bytes that the channel has not read, and whose window is not returned.
    private var unread: Deque<ByteBuffer> = []
    private var isReadWanted = false
    private var isDelivering = false
    private var isCut = false
    private(set) var isWritable = true
    private(set) var isActive = true

    init(_ driver: HTTP2Driver, _ id: HTTP2StreamID, parent: any Channel) {
        self.driver = driver
        self.id = id
        self.parent = parent
        closePromise = parent.eventLoop.makePromise()
    }

    func serve(_ connection: ClientConnection) throws {
        try pipeline.syncOperations.addHandler(connection)
        pipeline.read()
    }

    func answer(_ head: ResponseHead, _ framing: BodyFraming) -> ByteBuffer {
        guard case .unanswered = output else { return ByteBuffer() }
        output = .open
        var head = head
        HTTP2Framing.settle(&head.fields, as: framing)
        return driver.session.sendResponse(head, on: id, isEnd: false)
    }

    func data(_ bytes: ByteBuffer) {
        if isActive { unread.append(bytes) } else { driver.consume(bytes.readableBytes, on: id) }
        deliver()
    }

    func ended(_ trailers: FieldSection?, _ wireBytes: Int64) {
        input = .ended
        deliver()
    }

    func drained() {
        guard isActive, !isWritable else { return }
        isWritable = true
        pipeline.fireChannelWritabilityChanged()
    }

    /// The client did not end its bytes properly.
    func reset(_ code: HTTP2ErrorCode, isLocal: Bool, _ explanation: String) { end(StreamResetError(code: code)) }

    func connectionClosed(_ failure: ExchangeFailure?) { end(failure ?? StreamResetError(code: .connectError)) }

    private func end(_ error: any Error) {
        output = .ended
        guard isActive else { return }
        pipeline.fireErrorCaught(error)
        close0(error: ChannelError.eof, mode: .all, promise: nil)
    }

    private func deliver() {
        guard !isDelivering else { return }
        isDelivering = true
        defer { isDelivering = false }
        while isActive, isReadWanted, let bytes = unread.popFirst() {
            isReadWanted = false
            driver.consume(bytes.readableBytes, on: id)
            pipeline.fireChannelRead(bytes)
            pipeline.fireChannelReadComplete()
            pipeline.read()
        }
        guard isActive, isReadWanted, unread.isEmpty, case .ended = input else { return }
        input = .delivered
        pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        if case .ended = output { close0(error: ChannelError.eof, mode: .all, promise: nil) }
    }

    func localAddress0() throws -> SocketAddress { try parent._channelCore.localAddress0() }
    func remoteAddress0() throws -> SocketAddress { try parent._channelCore.remoteAddress0() }
    func register0(promise: EventLoopPromise<Void>?) { promise?.succeed() }
    func registerAlreadyConfigured0(promise: EventLoopPromise<Void>?) { promise?.succeed() }
    func bind0(to: SocketAddress, promise: EventLoopPromise<Void>?) { promise?.fail(ChannelError.operationUnsupported) }
    func connect0(to: SocketAddress, promise: EventLoopPromise<Void>?) {
        promise?.fail(ChannelError.operationUnsupported)
    }
    func channelRead0(_ data: NIOAny) {}
    func errorCaught0(error: any Error) {}

    func read0() {
        isReadWanted = true
        deliver()
    }

    /// Queued in the session at once, in order with the end.
    func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard isActive, case .open = output else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let bytes = unwrapData(data, as: ByteBuffer.self)
        let queued = bytes.readableBytes > 0 ? driver.send(bytes, on: id) : 0
        promise?.succeed()
        guard isWritable, queued >= HTTP2Framing.highMark else { return }
        isWritable = false
        pipeline.fireChannelWritabilityChanged()
    }

    func flush0() { driver.scheduleFlush() }

    func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard isActive, mode != .input else {
            promise?.fail(isActive ? ChannelError.operationUnsupported : ChannelError.alreadyClosed)
            return
        }
        switch output {
        case .unanswered: driver.reset(id, .connectError)
        case .open where isCut: driver.cut(id, .connectError)
        case .open: driver.session.sendEnd(nil, on: id)
        case .ended: break
        }
        output = .ended
        driver.scheduleFlush()
        promise?.succeed()
        if mode == .output {
            pipeline.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
            if case .delivered = input { close0(error: error, mode: .all, promise: nil) }
        } else {
            closed()
        }
    }

    private func closed() {
        isActive = false
        let left = unread.reduce(0) { $0 + $1.readableBytes }
        unread = []
        if left > 0 { driver.consume(left, on: id) }
        pipeline.fireChannelInactive()
        // The caller may still be inside a handler.
        parent.eventLoop.assumeIsolated().execute { [self] in
            removeHandlers(pipeline: pipeline)
            closePromise.succeed()
        }
    }

    func triggerUserOutboundEvent0(_ event: Any, promise: EventLoopPromise<Void>?) {
        if event is ResetAtClose { isCut = true }
        promise?.succeed()
    }

    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) throws {
        try parent.syncOptions?.setOption(option, value: value)
    }

    func getOption<Option: ChannelOption>(_ option: Option) throws -> Option.Value {
        if option is ChannelOptions.Types.BufferedWritableBytesOption,
            let queued = driver.session.queuedBytes(on: id) as? Option.Value
        {
            return queued
        }
        throw ChannelError.operationUnsupported
    }
}

private final class HTTP2ConnectChannel: Channel {
    let allocator = ByteBufferAllocator()
    let eventLoop: any EventLoop
    let closeFuture: EventLoopFuture<Void>
    let parent: (any Channel)?
    private let core: NIOLoopBound<HTTP2ConnectStream>

    init(_ stream: HTTP2ConnectStream, parent: any Channel, _ closed: EventLoopPromise<Void>) {
        eventLoop = parent.eventLoop
        closeFuture = closed.futureResult
        self.parent = parent
        core = NIOLoopBound(stream, eventLoop: parent.eventLoop)
    }

    var pipeline: ChannelPipeline { core.value.pipeline }
    var localAddress: SocketAddress? { parent?.localAddress }
    var remoteAddress: SocketAddress? { parent?.remoteAddress }
    var isWritable: Bool { core.value.isWritable }
    var isActive: Bool { core.value.isActive }
    var _channelCore: any ChannelCore { core.value }
    var syncOptions: (any NIOSynchronousChannelOptions)? { core.value }

    func setOption<Option: ChannelOption>(_ option: Option, value: Option.Value) -> EventLoopFuture<Void> {
        eventLoop.makeCompletedFuture { try core.value.setOption(option, value: value) }
    }

    func getOption<Option: ChannelOption>(_ option: Option) -> EventLoopFuture<Option.Value> {
        eventLoop.makeCompletedFuture { try core.value.getOption(option) }
    }
}

import HTTPModel
import NIOCore
import Wire

/// One connection from a client: the end of its channel's pipeline, and the place of the layer that it speaks.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let loop: LoopContext
    private(set) var record: ConnectionRecord
    private var layer: (any ClientLayer)?
    private var context: ChannelHandlerContext?
    private var lastActivity: NIODeadline
    private var gatherer = WriteGatherer()
    /// What was not yet on the wire when time limits were last enforced, in bytes.
    private var lastUnsent = 0
    private var isReadPending = false
    private(set) var isClosed = false
    /// Set when no more will be written: done when what was written before has left.
    private var outputEnd: EventLoopFuture<Void>?
    /// Set when the client sends no more: whether that was a half-close.
    private var inputEnd: Bool?

    init(loop: LoopContext, channel: any Channel) {
        self.loop = loop
        lastActivity = loop.eventLoop.now
        localAddress = channel.localAddress
        localPort = channel.localAddress?.port
        record = ConnectionRecord(
            id: loop.shared.makeConnectionID(),
            leg: .client,
            openedAt: WallClock.now(),
            localAddress: channel.localAddress.map(describe) ?? "",
            peerAddress: channel.remoteAddress.map(describe) ?? ""
        )
    }

    /// The proxy's own place as the client sees it, for records of what named no other.
    func ownURL(scheme: String) -> RequestURL {
        RequestURL(scheme: scheme, host: localAddress?.ipAddress ?? "localhost", port: localPort ?? 0, path: "/")
    }

    var isWritable: Bool { context?.channel.isWritable ?? false }
    let localAddress: SocketAddress?
    let localPort: Int?
    var allocator: ByteBufferAllocator { context?.channel.allocator ?? ByteBufferAllocator() }

    // MARK: - Layers

    /// Speaks another protocol from here on, beginning with bytes that were already received.
    func become(_ layer: any ClientLayer, with bytes: ByteBuffer? = nil) {
        // What was written before this may have shown that the client is gone.
        guard !isClosed else {
            layer.closed()
            return
        }
        self.layer = layer
        if let bytes, bytes.readableBytes > 0 { layer.received(bytes) }
        guard !isClosed else { return }
        if let inputEnd { layer.inputClosed(isHalfClose: inputEnd) }
        readIfWanted()
    }

    /// Puts TLS between the socket and the layer; `early` is what the client has sent of it so far.
    func beginTLS(_ session: TLSSession, early: ByteBuffer) {
        guard let context else { return }
        do {
            try context.pipeline.syncOperations.addHandler(
                TLSChannelHandler(session: session, early: early),
                position: .before(self)
            )
        } catch {
            close()
        }
        readIfWanted()
    }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        loop.add(self)
        loop.recorder.record(.connection(record))
        layer = SniffLayer(connection: self, scope: .proxy)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = loop.eventLoop.now
        layer?.received(unwrapInboundIn(data))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        layer?.readCompleted()
    }

    func read(context: ChannelHandlerContext) {
        if layer?.wantsRead ?? true {
            context.read()
        } else {
            isReadPending = true
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let completed as TLSHandshakeCompleted:
            record.tls = completed.details
            record.handshake = (WallClock.now() - record.openedAt)
            loop.recorder.record(.connection(record))
            layer?.handshakeCompleted(completed.details)
        case ChannelEvent.inputClosed as ChannelEvent: inputClosed(isHalfClose: true)
        case is TLSInputClosed: inputClosed(isHalfClose: false)
        default: break
        }
    }

    private func inputClosed(isHalfClose: Bool) {
        guard inputEnd == nil else { return }
        inputEnd = isHalfClose
        layer?.inputClosed(isHalfClose: isHalfClose)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        layer?.writabilityChanged(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        layer?.failed(error)
        close()
    }

    private func finish() {
        guard !isClosed else { return }
        isClosed = true
        let layer = layer
        self.layer = nil
        layer?.closed()
        record.closedAt = WallClock.now()
        loop.recorder.record(.connection(record))
        loop.remove(self)
        context = nil
    }

    // MARK: - For the layers

    /// Reads where the layer wants to and a read was asked for in vain before.
    func readIfWanted() {
        guard isReadPending, layer?.wantsRead ?? false, let context else { return }
        isReadPending = false
        context.read()
    }

    func write(_ bytes: ByteBuffer) {
        guard let context else { return }
        lastActivity = loop.eventLoop.now
        gatherer.add(bytes) { context.write(wrapOutboundOut($0), promise: nil) }
    }

    func flush() {
        guard let context else { return }
        gatherer.flush { context.write(wrapOutboundOut($0), promise: nil) }
        context.flush()
    }

    func close() {
        guard let context else { return }
        context.close(mode: .all, promise: nil)
        // The pipeline may outlive this call; the layer must not.
        finish()
    }

    /// Closes after what was written has left.
    func closeAfterFlush() {
        guard let context else { return }
        flush()
        let written: EventLoopFuture<Void>
        if let outputEnd {
            written = outputEnd
        } else {
            let promise = context.eventLoop.makePromise(of: Void.self)
            written = promise.futureResult
            outputEnd = written
            context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: promise)
        }
        let eventLoop = loop.eventLoop.assumeIsolated()
        written.assumeIsolated().whenComplete { [weak self] _ in
            // In a later tick: what closing still writes (close_notify) would be lost inside the flush that ends here.
            eventLoop.execute { self?.close() }
        }
    }

    /// Tells the client that no more will come, after what was written.
    func closeOutput() {
        guard let context, outputEnd == nil else { return }
        guard inputEnd == nil else {
            // Half a close on top of the client's would be a whole one, at once, with writes still pending.
            closeAfterFlush()
            return
        }
        flush()
        let promise = context.eventLoop.makePromise(of: Void.self)
        outputEnd = promise.futureResult
        context.close(mode: .output, promise: promise)
    }

    func closeIfIdle() {
        if layer?.isIdle ?? true { close() }
    }

    func enforceTimeout(now: NIODeadline) {
        let unsent = context.flatMap { try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes) } ?? 0
        guard unsent > 0 else {
            layer?.enforceTimeout(lastActivity: lastActivity, now: now)
            return
        }
        // A client that takes its bytes slowly is not idle; only one that takes none at all is given up.
        if unsent != lastUnsent { lastActivity = now }
        lastUnsent = unsent
        if now - lastActivity > loop.configuration.timeouts.idle { close() }
    }

    /// There is room again for what was held back.
    func resume() {
        layer?.resume()
    }
}

@available(*, unavailable)
extension ClientConnection: Sendable {}

/// An address as `host:port`, an IPv6 host in brackets.
func describe(_ address: SocketAddress) -> String {
    guard let host = address.ipAddress, let port = address.port else { return "" }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
}

import ExchangeCore
import Foundation
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Wire

/// One connection from a client: the end of its channel's pipeline, and the holder of the layer that it speaks.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    let loop: LoopContext
    let listener: Listener
    private(set) var record: ConnectionRecord
    let identity: ClientIdentity
    /// What the heads of its exchanges take; one inside another connection shares that one's.
    let heads: HeadAccount
    private var layer: (any ClientLayer)?
    private var context: ChannelHandlerContext?
    private(set) var lastActivity: NIODeadline
    private var output: ConnectionOutput?
    /// What was not yet on the wire when time limits were last enforced, in bytes.
    private var lastUnsent = 0
    private var isReadPending = false
    private(set) var isClosed = false
    private var hasEndedOutput = false
    /// Set when the client sends no more: whether that was a half-close.
    private var inputEnd: Bool?
    /// Whether the client ended TLS only by closing the connection.
    private(set) var lacksCloseNotify = false
    private var hasBoundBuffer = false
    /// Whether the client has ever sent anything.
    private(set) var hasReceived = false
    /// What the client has sent of its TLS while a key for it is being made.
    private var earlyTLS: ByteBuffer?
    /// When the TLS handshake began; the machine's clock may be set during it.
    private var tlsStart: NIODeadline?
    /// Where it was going before it was redirected here.
    private var originalDestination: SocketAddress?
    /// Set while this is a tunnel that is not read because the client refused our certificate.
    private var refusedPair: CertificateRefusals.Pair?

    init(loop: LoopContext, listener: Listener, channel: any Channel, heads: HeadAccount? = nil) {
        self.loop = loop
        let identity = ClientIdentity(channel.remoteAddress)
        self.identity = identity
        self.heads = heads ?? HeadAccount { identity.key }
        self.listener = listener
        recordedMode = listener.mode == .regular ? nil : "\(listener.mode)"
        lastActivity = loop.eventLoop.now
        localAddress = channel.localAddress
        localPort = localAddress?.port
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

    /// How its listener takes traffic, as the session has it; `nil` for a forward proxy.
    let recordedMode: String?
    var channel: (any Channel)? { context?.channel }
    var isWritable: Bool { context?.channel.isWritable ?? false }
    let localAddress: SocketAddress?
    let localPort: Int?
    var allocator: ByteBufferAllocator { context?.channel.allocator ?? ByteBufferAllocator() }

    // MARK: - Refused certificates

    /// The client by its address and program, and the server that it asks for.
    func pair(with tunnel: RequestScope.Tunnel) -> CertificateRefusals.Pair {
        let address = record.peerAddress
        let client = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
        let program = identity.process?.name
        return CertificateRefusals.Pair(client: String(client), program: program, host: tunnel.host, port: tunnel.port)
    }

    /// The connection is a tunnel from now on, since the client refused our certificate.
    func opensTunnel(_ pair: CertificateRefusals.Pair) {
        guard !isClosed else { return }
        refusedPair = pair
        loop.shared.refusals.withLock { $0.opened(pair) }
    }

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

    /// Puts TLS for `host` between the socket and the layer, with a minted certificate; `early` is what the client has
    /// sent of it so far.
    ///
    /// Where the key has to be made first, that is done on another thread.
    func beginTLS(host: String, protocols: [String], key: LeafKey.Kind, early: ByteBuffer) throws {
        if loop.mint.has(key) { return try startTLS(host: host, protocols: protocols, key: key, early: early) }
        earlyTLS = early
        loop.makeKey(key) { [weak self] result in
            guard let self, let early = earlyTLS else { return }
            earlyTLS = nil
            do {
                try result.get()
                try startTLS(host: host, protocols: protocols, key: key, early: early)
            } catch {
                layer?.failed(error as? TLSError ?? TLSError(leg: .client, cause: .resource("\(error)"), host: host))
                close()
            }
        }
    }

    private func startTLS(host: String, protocols: [String], key: LeafKey.Kind, early: ByteBuffer) throws {
        guard let context else { return }
        let certificate = try loop.mint.certificate(for: host, key: key)
        let tls = loop.serverTLS
        let session = try tls.makeSession(certificate: certificate, host: host, applicationProtocols: protocols)
        let handler = TLSChannelHandler(session: session, early: early)
        tlsStart = loop.eventLoop.now
        try context.pipeline.syncOperations.addHandler(handler, position: .before(self))
        readIfWanted()
    }

    // MARK: - Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        output = ConnectionOutput(context, limit: loop.configuration.timeouts.idle) { [weak self] in self?.close() }
        loop.add(self)
        loop.recorder.record(.connection(record))
        if let source = loop.configuration.clientProcesses {
            identity.ask(source, for: context.channel, by: loop.entrance)
        }
        layer = firstLayer(context.channel)
    }

    /// What is spoken at first on a connection to this listener.
    private func firstLayer(_ channel: any Channel) -> any ClientLayer {
        switch listener.mode {
        case .regular: SniffLayer(connection: self, scope: .proxy)
        case .reverse(let target): SniffLayer(connection: self, scope: .reverse(target))
        case .socks5: SOCKS5Layer(connection: self)
        case .transparent: SniffLayer(connection: self, scope: redirectedScope(channel))
        }
    }

    /// Where a connection was going before the kernel redirected it here.
    private func redirectedScope(_ channel: any Channel) -> RequestScope {
        originalDestination = OriginalDestination.of(channel)
        guard let original = originalDestination, let host = original.ipAddress, let port = original.port,
            !loop.shared.isOwnAddress(original)
        else { return .nowhere(OriginalDestination.missing) }
        return .tunnel(RequestScope.Tunnel(scheme: "http", host: host, port: port, isUnnamed: true))
    }

    func channelActive(context: ChannelHandlerContext) {
        // The server may be the one that speaks first.
        guard case .reverse(let target) = listener.mode, target.transport == .tcp else { return }
        (layer as? SniffLayer)?.forwardUnread()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = loop.eventLoop.now
        if !hasReceived {
            hasReceived = true
            _ = endsIfItLeadsBack()
        }
        if earlyTLS != nil {
            earlyTLS?.writeImmutableBuffer(unwrapInboundIn(data))
            return
        }
        layer?.received(unwrapInboundIn(data))
    }

    /// Ends it where its other end is a connection of this proxy to a server: the exchange there fails and closes, and what
    /// it has sent is not a request to be answered here.
    func endsIfItLeadsBack() -> Bool {
        guard let channel, loop.shared.ownConnections.leadsBack(channel, from: originalDestination) else {
            return false
        }
        layer = nil
        return true
    }

    func read(context: ChannelHandlerContext) {
        if earlyTLS == nil, layer?.wantsRead ?? true { context.read() } else { isReadPending = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let completed as TLSHandshakeCompleted:
            record.tls = completed.details
            record.handshake = tlsStart.map { (loop.eventLoop.now - $0).nanoseconds / 1_000 }
            loop.recorder.record(.connection(record))
            layer?.handshakeCompleted(completed.details)
        case ChannelEvent.inputClosed as ChannelEvent: inputClosed(isHalfClose: true)
        case ChannelEvent.outputClosed as ChannelEvent: hasEndedOutput = true
        case let closed as TLSInputClosed:
            lacksCloseNotify = !closed.cleanly
            inputClosed(isHalfClose: false)
        default: break
        }
    }

    private func inputClosed(isHalfClose: Bool) {
        guard inputEnd == nil else { return }
        inputEnd = isHalfClose
        if let layer { layer.inputClosed(isHalfClose: isHalfClose) } else { close() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        layer?.writabilityChanged(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        // A write showed that the client has reset the connection; else its end came before, or follows ours.
        if !isClosed, inputEnd == nil, !hasEndedOutput {
            layer?.failed(IOError(errnoCode: ECONNRESET, reason: "the connection was reset"))
        }
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
        identity.closeBoundConnections()
        record.closedAt = WallClock.now()
        loop.recorder.record(.connection(record))
        loop.remove(self)
        if let refusedPair { loop.shared.refusals.withLock { $0.closed(refusedPair) } }
        context = nil
        output = nil
    }

    // MARK: - For the layers

    /// Reads where the layer wants to and a read was asked for in vain before.
    func readIfWanted() {
        guard isReadPending, earlyTLS == nil, layer?.wantsRead ?? false, let context else { return }
        isReadPending = false
        context.read()
    }

    func write(_ bytes: ByteBuffer) {
        lastActivity = loop.eventLoop.now
        output?.write(bytes)
    }

    func flush() { output?.flush() }

    /// Lets the kernel take in little that the client sends before it is read.
    func limitReceiveBuffer() {
        guard !hasBoundBuffer else { return }
        hasBoundBuffer = true
        context?.channel.setOption(.socketOption(.so_rcvbuf), value: ClientConnection.boundedBuffer)
            .assumeIsolated().whenFailure { [logger = loop.logger] error in
                logger.debug("a client's receive buffer keeps its size: \(error)")
            }
    }

    /// The receive buffer of a client whose bytes are paced, in bytes.
    ///
    /// Not 64 KiB, the size of one segment on Linux's loopback: with room for less than two of them the sender waits for
    /// its persist timer, and an upload over HTTP/2 falls a tenth behind its pace.
    private static let boundedBuffer = ChannelOptions.Types.SocketOption.Value(256 << 10)

    func close() {
        guard let context else { return }
        context.close(mode: .all, promise: nil)
        // The pipeline may outlive this call; the layer must not.
        finish()
    }

    /// Closes it while it is idle.
    func close(for reason: OwnClose) {
        layer?.closing(reason)
        close()
    }

    func closeAfterFlush() { output?.closeAfterWrites() }

    func withholdCloseNotify() { output?.withholdCloseNotify() }

    /// Closes after what was written has left, so that the client sees that more should have come: without close_notify,
    /// and with a reset where nothing else says so.
    func cut(resets: Bool) {
        output?.withholdCloseNotify()
        if resets { output?.resetAfterWrites() } else { output?.closeAfterWrites() }
    }

    /// Ends our side, after what was written.
    func closeOutput() { output?.end(peerHasEnded: inputEnd != nil) }

    /// Takes nothing new: closes at once where nothing is going on, else when that is over.
    func beginStopping() {
        layer?.beginStopping()
        guard layer?.isIdle ?? true else { return }
        layer?.closing(.stopping)
        closeAfterFlush()
    }

    /// Whether something is going on, or has not left yet.
    var isBusy: Bool { layer?.isIdle == false || unsent > 0 }

    /// The bytes that were written and that the client has not taken.
    private var unsent: Int {
        context.flatMap { try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes) } ?? 0
    }

    /// Why it may be closed for another client's sake, and for how long that has been so; `nil` where it may not, as one that is
    /// inside another connection.
    func reasonToGiveWay(now: NIODeadline) -> (reason: GivingWay, time: TimeAmount)? {
        guard channel?.parent?.parent == nil else { return nil }
        let timeouts = loop.configuration.timeouts
        let tunnel = (layer as? TunnelClientLayer)?.exchange
        let stall = unsent > 0 ? now - lastActivity : layer?.stall(now: now)
        let limit = tunnel?.isUnusedTunnel == true ? timeouts.idleForOthers : timeouts.stallForOthers
        if let stall, stall > limit { return (.stalled, stall) }
        guard let silence = tunnel?.silence(now: now) else { return nil }
        return silence > timeouts.tunnelForOthers ? (.silentTunnel, silence) : nil
    }

    /// Closes it for another client's sake.
    func giveWay(_ reason: GivingWay, after time: TimeAmount) {
        let hint = loop.configuration.connections.hint
        layer?.failed(ExchangeFailure(reason.code, reason.text(after: time), hint: hint))
        close()
    }

    func enforceTimeout(now: NIODeadline) {
        let unsent = unsent
        guard unsent > 0 else {
            layer?.enforceTimeout(lastActivity: lastActivity, now: now)
            return
        }
        // A client that takes its bytes slowly is not idle; only one that takes none at all is given up.
        if unsent != lastUnsent { lastActivity = now }
        lastUnsent = unsent
        guard now - lastActivity > loop.configuration.timeouts.idle else { return }
        layer?.failed(ExchangeFailure.stalledClient(loop.configuration.timeouts.idle))
        close()
    }

    /// There is room again for what was held back.
    func resume() { layer?.resume() }

    /// Whether a client that sends no more has closed its end altogether, as far as this machine knows.
    var isAbandoned: Bool {
        guard let source = loop.configuration.clientProcesses, let proxy = localAddress,
            let client = channel?.remoteAddress
        else { return false }
        return source.hasClosed(client: client, proxy: proxy)
    }
}

/// Why a connection is closed where all are taken and another client waits.
enum GivingWay {
    /// Its client neither sends nor takes anything, and nothing else is waited for.
    case stalled
    /// It is a tunnel through which nothing has come.
    case silentTunnel

    var code: ExchangeFailure.Code {
        switch self {
        case .stalled: .clientTimeout
        case .silentTunnel: .timeout
        }
    }

    func text(after time: TimeAmount) -> String {
        let whole = TimeAmount.seconds(time.nanoseconds / 1_000_000_000).inWords
        let what =
            switch self {
            case .stalled: "the client had neither sent nor taken anything for \(whole)"
            case .silentTunnel: "nothing had come through this tunnel for \(whole)"
            }
        return "All connections that clients may have were taken, and \(what), so Sluice closed it for another client."
    }
}

extension ExchangeFailure {
    /// The client took nothing of what there was for it, for longer than it may.
    static func stalledClient(_ limit: TimeAmount) -> ExchangeFailure {
        let text = "The client took nothing of the response for \(limit.inWords), so Sluice ended it."
        return ExchangeFailure(.clientTimeout, text, hint: "A longer limit can be given with --idle-timeout.")
    }

    /// The same, while other requests waited for its stream of the server.
    static func stalledClient(waitedFor limit: TimeAmount) -> ExchangeFailure {
        let text =
            "The client took nothing of the response for \(limit.inWords), while other requests waited for a stream of this "
            + "server, so Sluice ended it."
        let hint = "Read what comes from this server, or ask it for less at a time."
        return ExchangeFailure(.clientTimeout, text, hint: hint)
    }
}

/// The client has reset the stream of HTTP/2 that carries a connection.
struct StreamResetError: Error {
    let code: HTTP2ErrorCode
}

/// An address as `host:port`, an IPv6 host in brackets.
///
/// One of IPv4 stays one where the listener takes both families.
func describe(_ address: SocketAddress) -> String {
    guard var host = address.ipAddress, let port = address.port else { return "" }
    if host.hasPrefix("::ffff:"), host.contains(".") { host.removeFirst(7) }
    return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
}

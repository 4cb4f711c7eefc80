import ExchangeCore
import Foundation
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Wire

/// A client's connection: the end of its channel's pipeline, with the layer for its protocol.
final class ClientConnection: ByteHandler {
    let loop: LoopContext
    let listener: Listener
    private(set) var record: ConnectionRecord
    let identity: ClientIdentity
    /// Counts the heads of all exchanges; a connection inside an HTTP/2 connection shares this account.
    let heads: HeadAccount
    private var layer: (any ClientLayer)?
    private var context: ChannelHandlerContext?
    private(set) var lastActivity: NIODeadline
    private var output: ConnectionOutput?
    private var lastUnsent = 0
    private var isReadPending = false
    private(set) var isClosed = false
    private var hasEndedOutput = false
    /// Set when the client's input ends; `true` for a half-close.
    private var inputEnd: Bool?
    private(set) var lacksCloseNotify = false
    private var hasBoundBuffer = false
    private(set) var hasReceived = false
    /// TLS bytes received while a key is being made.
    private var earlyTLS: ByteBuffer?
    private var tlsStart: NIODeadline?
    private var originalDestination: SocketAddress?
    /// Set for an unread tunnel of a client that refused Sluice's certificate.
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
        record = ConnectionRecord(
            id: loop.shared.makeConnectionID(),
            leg: .client,
            openedAt: WallClock.now(),
            localAddress: channel.localAddress.map(describe) ?? "",
            peerAddress: channel.remoteAddress.map(describe) ?? ""
        )
    }

    func ownURL(scheme: String) -> RequestURL {
        RequestURL(scheme: scheme, host: localAddress?.ipAddress ?? "localhost", port: localPort ?? 0, path: "/")
    }

    /// The recorded mode; `nil` for a forward proxy.
    let recordedMode: String?
    var channel: (any Channel)? { context?.channel }
    var isWritable: Bool { context?.channel.isWritable ?? false }
    let localAddress: SocketAddress?
    var localPort: Int? { localAddress?.port }
    var allocator: ByteBufferAllocator { context?.channel.allocator ?? ByteBufferAllocator() }

    func pair(with tunnel: RequestScope.Tunnel) -> CertificateRefusals.Pair {
        let address = record.peerAddress
        let client = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
        let program = identity.process?.name
        return CertificateRefusals.Pair(client: String(client), program: program, host: tunnel.host, port: tunnel.port)
    }

    func opensTunnel(_ pair: CertificateRefusals.Pair) {
        guard !isClosed else { return }
        refusedPair = pair
        loop.shared.refusals.withLock { $0.opened(pair) }
    }

    // MARK: - Layers

    func become(_ layer: any ClientLayer, with bytes: ByteBuffer? = nil) {
        // An earlier write may have failed and closed the connection.
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

    /// Adds TLS for `host` between socket and layer; `early` has the client's TLS bytes so far. A missing key is made
    /// on another thread.
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

    private func firstLayer(_ channel: any Channel) -> any ClientLayer {
        switch listener.mode {
        case .regular: SniffLayer(connection: self, scope: .proxy)
        case .reverse(let target): SniffLayer(connection: self, scope: .reverse(target))
        case .socks5: SOCKS5Layer(connection: self)
        case .transparent: SniffLayer(connection: self, scope: redirectedScope(channel))
        }
    }

    private func redirectedScope(_ channel: any Channel) -> RequestScope {
        originalDestination = OriginalDestination.of(channel)
        guard let original = originalDestination, let host = original.ipAddress, let port = original.port,
            !loop.shared.isOwnAddress(original)
        else { return .nowhere(OriginalDestination.missing) }
        return .tunnel(RequestScope.Tunnel(scheme: "http", host: host, port: port, isUnnamed: true))
    }

    func channelActive(context: ChannelHandlerContext) {
        // The server may speak first.
        guard case .reverse(let target) = listener.mode, target.transport == .tcp else { return }
        (layer as? SniffLayer)?.forwardUnread()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lastActivity = loop.eventLoop.now
        if !hasReceived {
            hasReceived = true
            _ = endsIfItLeadsBack()
        }
        let bytes = unwrapInboundIn(data)
        if earlyTLS == nil { layer?.received(bytes) } else { earlyTLS?.writeImmutableBuffer(bytes) }
    }

    /// Detaches the layer if the peer is this proxy's own connection to a server; the exchange there fails.
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
        // If no error or end was reported before, the connection was reset.
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

    func limitReceiveBuffer() {
        guard !hasBoundBuffer else { return }
        hasBoundBuffer = true
        context?.channel.setOption(.socketOption(.so_rcvbuf), value: ClientConnection.boundedBuffer)
            .assumeIsolated().whenFailure { [logger = loop.logger] error in
                logger.debug("a client's receive buffer keeps its size: \(error)")
            }
    }

    /// For paced clients. Not 64 KiB, the size of one segment on Linux's loopback: with room for less than two of them
    /// the sender waits for its persist timer, and an upload over HTTP/2 falls a tenth behind its pace.
    private static let boundedBuffer = ChannelOptions.Types.SocketOption.Value(256 << 10)

    func close() {
        guard let context else { return }
        context.close(mode: .all, promise: nil)
        // The channel may close after this call returns, but the layer ends now.
        finish()
    }

    func close(for reason: OwnClose) {
        layer?.closing(reason)
        close()
    }

    func closeAfterFlush() { output?.closeAfterWrites() }

    func withholdCloseNotify() { output?.withholdCloseNotify() }

    /// Closes after earlier writes so that the client sees an incomplete message: without close_notify, or with a
    /// reset.
    func cut(resets: Bool) {
        output?.withholdCloseNotify()
        if resets { output?.resetAfterWrites() } else { output?.closeAfterWrites() }
    }

    func closeOutput() { output?.end(peerHasEnded: inputEnd != nil) }

    func beginStopping() {
        layer?.beginStopping()
        guard layer?.isIdle ?? true else { return }
        layer?.closing(.stopping)
        closeAfterFlush()
    }

    var isBusy: Bool { layer?.isIdle == false || unsent > 0 }

    private var unsent: Int { context.flatMap { try? $0.channel.syncOptions?.getOption(.bufferedWritableBytes) } ?? 0 }

    /// Why this may be closed for another client, and how long that is so; `nil` if not, or inside another connection.
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

    func giveWay(_ reason: GivingWay, after time: TimeAmount) {
        layer?.failed(reason.failure(after: time, hint: loop.configuration.connections.hint))
        close()
    }

    func enforceTimeout(now: NIODeadline) {
        let unsent = unsent
        guard unsent > 0 else {
            layer?.enforceTimeout(lastActivity: lastActivity, now: now)
            return
        }
        // A slow reader is not idle.
        if unsent != lastUnsent { lastActivity = now }
        lastUnsent = unsent
        guard now - lastActivity > loop.configuration.timeouts.idle else { return }
        layer?.failed(ExchangeFailure.stalledClient(loop.configuration.timeouts.idle))
        close()
    }

    func resume() { layer?.resume() }

    /// Whether a client that sends no more has closed both directions of its connection; `false` if unknown.
    var isAbandoned: Bool {
        guard let source = loop.configuration.clientProcesses, let proxy = localAddress,
            let client = channel?.remoteAddress
        else { return false }
        return source.hasClosed(client: client, proxy: proxy)
    }
}

/// Why a connection is closed for another client.
enum GivingWay {
    case stalled, silentTunnel

    func failure(after time: TimeAmount, hint: String) -> ExchangeFailure {
        let (code, what): (ExchangeFailure.Code, String) =
            switch self {
            case .stalled: (.clientTimeout, "the client had neither sent nor read anything for")
            case .silentTunnel: (.timeout, "no bytes had passed through this tunnel for")
            }
        let why = "\(what) \(TimeAmount.seconds(time.nanoseconds / 1_000_000_000).inWords)"
        let text = "The limit of client connections was reached, and \(why), so Sluice closed it for another client."
        return ExchangeFailure(code, text, hint: hint)
    }
}

extension ExchangeFailure {
    static func stalledClient(_ limit: TimeAmount) -> ExchangeFailure {
        let text = "The client read nothing of the response for \(limit.inWords), so Sluice ended it."
        return ExchangeFailure(.clientTimeout, text, hint: "--idle-timeout sets a longer limit.")
    }

    /// The failure if other requests waited for a stream to the same server.
    static func stalledClient(waitedFor limit: TimeAmount) -> ExchangeFailure {
        let why = "while other requests waited for a stream of this server"
        let text = "The client read nothing of the response for \(limit.inWords), \(why), so Sluice ended it."
        let hint = "Read this server's responses faster, or request less at a time."
        return ExchangeFailure(.clientTimeout, text, hint: hint)
    }
}

struct StreamResetError: Error { let code: HTTP2ErrorCode }

/// `host:port`, an IPv6 host in brackets; IPv4 even if the listener accepts both families.
func describe(_ address: SocketAddress) -> String {
    guard var host = address.ipAddress, let port = address.port else { return "" }
    if host.hasPrefix("::ffff:"), host.contains(".") { host.removeFirst(7) }
    return HostAddress.withPort(host, port)
}

enum OwnClose {
    case forOthers(hint: String)
    case stopping

    func failure(inTheMiddleOf beginning: String) -> ExchangeFailure {
        switch self {
        case .forOthers(let hint):
            let text = "Sluice closed the connection in the middle of \(beginning), to make room for another client."
            return ExchangeFailure(.clientTimeout, text, hint: hint)
        case .stopping: return ExchangeFailure(.stopped, "Sluice was stopped in the middle of \(beginning).")
        }
    }
}

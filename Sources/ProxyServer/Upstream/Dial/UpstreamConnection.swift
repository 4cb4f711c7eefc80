import ExchangeCore
import Foundation
import HTTPModel
import NIOCore

/// The protocol of a connection to a server.
protocol UpstreamLayer: AnyObject {
    /// After TCP, and TLS if there is any.
    func begin()
    func received(_ bytes: ByteBuffer)
    func inputClosed()
    /// The connection is gone; `nil` after a failed write, because its error is not known.
    func broke(_ error: (any Error)?)
    func writabilityChanged(_ isWritable: Bool)
}

enum EstablishedUpstream {
    case single(any UpstreamLeg, applicationProtocol: String?)
    case multiplexed(HTTP2UpstreamLayer)
}

/// A connection to a server: the end of its channel's pipeline, with the layer for its protocol.
final class UpstreamConnection: ByteHandler {
    let loop: LoopContext
    let isSecure: Bool
    private let authority: String
    private let proxy: UpstreamProxy?
    /// Whether a handshake with the proxy comes first.
    private let waitsForProxy: Bool
    private let dnsTime: Int64?
    /// The start of the first attempt.
    private let createdAt: NIODeadline
    private var connectedAt: NIODeadline?
    /// Whether TCP is connected, through the proxy if there is one.
    private(set) var isOpen = false
    private(set) var record: ConnectionRecord?
    private var context: ChannelHandlerContext?
    private let makeLayer: (UpstreamConnection, _ applicationProtocol: String?) -> any UpstreamLayer
    private var layer: (any UpstreamLayer)?
    private var output: ConnectionOutput?
    private var isReadPending = false
    /// Set if the server may be this proxy.
    private var ownEnds: OwnConnections.Ends?
    private(set) var hasInputEnded = false
    /// Whether the server ended TLS only by closing the connection.
    private(set) var lacksCloseNotify = false
    /// After Sluice's half-close, the server's end is reported only as an inactive channel; otherwise that is a reset.
    private var hasEndedOutput = false
    var onConnected: (() -> Void)?
    var onReady: ((Result<EstablishedUpstream, any Error>) -> Void)?

    init(
        loop: LoopContext,
        authority: String,
        isSecure: Bool,
        proxy: UpstreamProxy?,
        waitsForProxy: Bool,
        dnsTime: Int64?,
        began: NIODeadline?,
        makeLayer: @escaping (UpstreamConnection, _ applicationProtocol: String?) -> any UpstreamLayer
    ) {
        self.loop = loop
        self.authority = authority
        self.isSecure = isSecure
        self.proxy = proxy
        self.waitsForProxy = waitsForProxy
        self.dnsTime = dnsTime
        self.makeLayer = makeLayer
        createdAt = began ?? loop.eventLoop.now
    }

    var isActive: Bool { context?.channel.isActive ?? false }
    var isWritable: Bool { context?.channel.isWritable ?? false }
    var channel: (any Channel)? { context?.channel }

    var isReading = true {
        didSet {
            guard isReading, isReadPending, let context else { return }
            isReadPending = false
            context.read()
        }
    }

    func facts(_ version: HTTPVersion, isReused: Bool) -> UpstreamFacts {
        var facts = UpstreamFacts(connection: record?.id ?? ConnectionID(0), version: version, isReused: isReused)
        facts.address = record?.peerAddress
        facts.verificationFailure = record?.tls?.verificationFailure
        facts.certificateNote = record?.tls?.clientCertificate.map(note)
        if !isReused { (facts.dns, facts.connect, facts.tls) = (dnsTime, record?.connect, record?.handshake) }
        return facts
    }

    private func note(_ certificate: ClientCertificateDetails) -> String {
        let asked = "the server asked for a client certificate, and was sent"
        let resumed = "the TLS session was resumed;"
        guard let sent = certificate.sent else {
            let nothing = "\(asked) none; the profile's 'client-certificate' sets one"
            return certificate.isResumed ? "\(resumed) when it was made, \(nothing)" : nothing
        }
        let shown = "'\(certificate.name ?? "")': \(sent.subject)"
        return certificate.isResumed ? "\(resumed) the server knows the client by \(shown)" : "\(asked) \(shown)"
    }

    /// Only the first call counts.
    func ready(_ result: Result<EstablishedUpstream, any Error>) {
        guard let onReady else { return }
        self.onReady = nil
        if case .success = result, let record { loop.recorder.record(.connection(record)) }
        onReady(result)
    }

    func ready(single leg: any UpstreamLeg) {
        ready(.success(.single(leg, applicationProtocol: record?.tls?.applicationProtocol)))
    }

    func become(_ layer: any UpstreamLayer) { self.layer = layer }

    func write(_ bytes: ByteBuffer) { output?.write(bytes) }
    func flush() { output?.flush() }
    func close() { context?.close(promise: nil) }
    func withholdCloseNotify() { output?.withholdCloseNotify() }
    func closeAfterWrites() { output?.closeAfterWrites() }

    func endOutput() { output?.end(peerHasEnded: hasInputEnded) }

    func resetAfterWrites() {
        output?.withholdCloseNotify()
        output?.resetAfterWrites()
    }

    /// The middle of a sentence about a broken connection; `nil` after a failed write.
    static func whatBecame(_ error: (any Error)?) -> String {
        guard let error = error as? IOError, error.errnoCode != ECONNRESET, error.errnoCode != EPIPE else {
            return "reset the connection"
        }
        return error.errnoCode == ETIMEDOUT ? "no longer answers" : "could not be heard any more (\(error.systemText))"
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        output = ConnectionOutput(context, limit: loop.configuration.timeouts.idle) { context.close(promise: nil) }
        if context.channel.isActive { opened(context) }
    }

    /// Also called for a channel that was never connected.
    func handlerRemoved(context: ChannelHandlerContext) {
        onConnected = nil
        onReady = nil
        self.context = nil
        output = nil
        layer = nil
        if let ownEnds { loop.shared.ownConnections.remove(ownEnds) }
    }

    func channelActive(context: ChannelHandlerContext) { opened(context) }

    private func opened(_ context: ChannelHandlerContext) {
        guard !isOpen else { return }
        isOpen = true
        if waitsForProxy, connectedAt != nil {
            connectedAt = loop.eventLoop.now
            record?.connect = (loop.eventLoop.now - createdAt).nanoseconds / 1_000
        }
        connected(context)
        if !isSecure { begin(nil) }
    }

    private func connected(_ context: ChannelHandlerContext) {
        guard connectedAt == nil else { return }
        let now = loop.eventLoop.now
        connectedAt = now
        var record = ConnectionRecord(
            id: loop.shared.makeConnectionID(),
            leg: .upstream,
            openedAt: WallClock.now(),
            localAddress: context.localAddress.map(describe) ?? "",
            peerAddress: context.remoteAddress.map(describe) ?? ""
        )
        record.connect = (now - createdAt).nanoseconds / 1_000
        record.dns = dnsTime
        record.proxy = proxy?.description
        self.record = record
        if loop.shared.mayLeadBack(context.remoteAddress?.port) {
            let name = proxy.map { "The upstream proxy \($0)" } ?? authority
            ownEnds = loop.shared.ownConnections.add(context.channel, to: name)
        }
        onConnected?()
        onConnected = nil
    }

    private func begin(_ applicationProtocol: String?) {
        let layer = makeLayer(self, applicationProtocol)
        self.layer = layer
        layer.begin()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { layer?.received(unwrapInboundIn(data)) }

    func read(context: ChannelHandlerContext) {
        if isReading { context.read() } else { isReadPending = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is ProxyReached: connected(context)
        case let completed as TLSHandshakeCompleted:
            record?.tls = completed.details
            if let connectedAt { record?.handshake = (loop.eventLoop.now - connectedAt).nanoseconds / 1_000 }
            begin(completed.details.applicationProtocol)
        case let closed as TLSInputClosed:
            lacksCloseNotify = !closed.cleanly
            inputClosed()
        case ChannelEvent.inputClosed as ChannelEvent: inputClosed()
        case ChannelEvent.outputClosed as ChannelEvent: hasEndedOutput = true
        default: break
        }
    }

    private func inputClosed() {
        guard !hasInputEnded else { return }
        hasInputEnded = true
        layer?.inputClosed()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        layer?.writabilityChanged(context.channel.isWritable)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if hasEndedOutput { inputClosed() }
        layer?.broke(nil)
        self.context = nil
        output = nil
        ready(.failure(ExchangeFailure(.reset, "The server closed the connection before it could be used.")))
        guard var record, record.closedAt == nil else { return }
        record.closedAt = WallClock.now()
        self.record = record
        loop.recorder.record(.connection(record))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        ready(.failure(error))
        layer?.broke(error)
        context.close(promise: nil)
    }
}

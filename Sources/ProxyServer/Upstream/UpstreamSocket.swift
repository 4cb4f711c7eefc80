import ExchangeCore
import HTTPModel
import NIOCore
import Wire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection to a server that is ready for use, by what is spoken on it.
enum EstablishedUpstream {
    /// One exchange has it for itself.
    case single(any UpstreamLeg, UpstreamSocket)
    /// Many exchanges have a stream each.
    case multiplexed(HTTP2UpstreamConnection)
}

/// What every connection to a server has, whatever is spoken on it: its record, how it came about, its reading.
final class UpstreamSocket {
    let loop: LoopContext
    let isSecure: Bool
    private let authority: String
    private let createdAt: NIODeadline
    private var connectedAt: NIODeadline?
    private(set) var record: ConnectionRecord?
    var dnsTime: Int64?
    private(set) var context: ChannelHandlerContext?
    private var isReadPending = false
    /// Set where this may turn out to be a connection to this proxy.
    private var ownEnds: OwnConnections.Ends?
    /// Called once TCP is there.
    var onConnected: (() -> Void)?
    /// Called once it is ready for use, or failed before.
    var onReady: ((Result<EstablishedUpstream, any Error>) -> Void)?

    init(loop: LoopContext, authority: String, isSecure: Bool) {
        self.loop = loop
        self.authority = authority
        self.isSecure = isSecure
        createdAt = loop.eventLoop.now
    }

    var isReading = true {
        didSet {
            guard isReading, isReadPending, let context else { return }
            isReadPending = false
            context.read()
        }
    }

    func facts(_ version: HTTPVersion, isReused: Bool) -> UpstreamFacts {
        UpstreamFacts(
            connection: record?.id ?? ConnectionID(0),
            address: record?.peerAddress,
            version: version,
            isReused: isReused,
            dns: isReused ? nil : dnsTime,
            connect: isReused ? nil : record?.connect,
            tls: isReused ? nil : record?.handshake,
            verificationFailure: record?.tls?.verificationFailure
        )
    }

    // MARK: - The end

    /// Whether the server sends no more.
    var hasInputEnded = false
    /// Whether the server ended TLS only by closing the connection.
    private(set) var lacksCloseNotify = false
    private var outputEnd = OutputEnd()

    /// Whether the server has ended, too, when the connection is gone.
    ///
    /// After our half of the close its end is not told before that; otherwise it is, and one that is just gone was reset.
    private(set) var hasEndedOutput = false

    /// Whether an event says that the server sends no more; takes note of what it says besides.
    func isInputEnd(_ event: Any) -> Bool {
        switch event {
        case ChannelEvent.outputClosed as ChannelEvent:
            hasEndedOutput = true
            return false
        case let closed as TLSInputClosed:
            lacksCloseNotify = !closed.cleanly
            return true
        case ChannelEvent.inputClosed as ChannelEvent: return true
        default: return false
        }
    }

    /// TLS is to be closed without close_notify; means nothing to a connection without TLS.
    func withholdCloseNotify() {
        context?.triggerUserOutboundEvent(TLSCloseNotifyWithheld(), promise: nil)
    }

    /// Resets the connection once what was written is out.
    func resetAfterWrites() {
        guard let context else { return }
        withholdCloseNotify()
        context.flush()
        outputEnd.resetAfterWrites(context, limit: loop.configuration.timeouts.idle) { context.close(promise: nil) }
    }

    /// What became of a connection that broke, as the middle of a sentence; without an error it was found in writing.
    static func whatBecame(_ error: (any Error)?) -> String {
        guard let error = error as? IOError, error.errnoCode != ECONNRESET, error.errnoCode != EPIPE else {
            return "reset the connection"
        }
        return error.errnoCode == ETIMEDOUT ? "no longer answers" : "could not be heard any more (\(error))"
    }

    /// Tells the server that no more will come, after what was written.
    func endOutput() {
        guard let context else { return }
        outputEnd.closeOutput(context, peerHasEnded: hasInputEnded, limit: loop.configuration.timeouts.idle) {
            context.close(promise: nil)
        }
    }

    /// Closes once what was written is out; a server that takes nothing is given up after the idle limit.
    func closeAfterWrites() {
        guard let context else { return }
        outputEnd.closeAfterWrites(context, limit: loop.configuration.timeouts.idle) { context.close(promise: nil) }
    }

    // MARK: - From the handler

    /// The handler left its channel, whether or not that was ever connected; nothing may keep it alive.
    func removed() {
        onConnected = nil
        onReady = nil
        context = nil
        if let ownEnds { loop.shared.ownConnections.remove(ownEnds) }
    }

    func added(_ context: ChannelHandlerContext) {
        self.context = context
    }

    /// TCP is there; told once more where another handler takes over.
    func activated(_ context: ChannelHandlerContext) {
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
        self.record = record
        if loop.shared.isOwnPort(context.remoteAddress?.port) {
            ownEnds = loop.shared.ownConnections.add(context.channel, to: authority)
        }
        onConnected?()
        onConnected = nil
    }

    func handshakeCompleted(_ details: TLSDetails) {
        record?.tls = details
        if let connectedAt { record?.handshake = (loop.eventLoop.now - connectedAt).nanoseconds / 1_000 }
    }

    func ready(_ result: Result<EstablishedUpstream, any Error>) {
        guard let onReady else { return }
        self.onReady = nil
        if case .success = result, let record { loop.recorder.record(.connection(record)) }
        onReady(result)
    }

    func read(_ context: ChannelHandlerContext) {
        if isReading { context.read() } else { isReadPending = true }
    }

    func closed() {
        context = nil
        ready(
            .failure(ExchangeFailure(.reset, "The server closed the connection before it could be used."))
        )
        guard var record, record.closedAt == nil else { return }
        record.closedAt = WallClock.now()
        self.record = record
        loop.recorder.record(.connection(record))
    }
}

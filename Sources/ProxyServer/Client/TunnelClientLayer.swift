import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A client's connection whose bytes are passed through: after CONNECT, after an upgrade, or of an unknown protocol.
final class TunnelClientLayer: ClientLayer, ClientLeg {
    private let connection: ClientConnection
    var exchange: Exchange?
    /// Whether bytes may have passed.
    var isEstablished = false
    /// Called when the server is there, before any byte passes; for TLS that is to be ended on both legs.
    var onEstablished: ((TunnelClientLayer) -> Void)?
    /// Set where it may turn out that the connection is to be read: nothing of the tunnel is recorded then, and the
    /// connection is taken back with the client's first bytes.
    var guess: (sink: TentativeSink, takeBack: (ByteBuffer) -> Void)?
    /// The first bytes, until it is known whether they are TLS; `nil` once it is.
    private var sniffed: ByteBuffer?
    private var timer: Scheduled<Void>?
    private var isMachineReading = true
    private var hasInputEnded = false
    private var hasOutputEnded = false

    init(connection: ClientConnection, sniffsTLS: Bool) {
        self.connection = connection
        sniffed = sniffsTLS ? ByteBuffer() : nil
    }

    // MARK: - ClientLayer

    var wantsRead: Bool { isMachineReading && !hasInputEnded }
    var isIdle: Bool { exchange == nil }
    var isWritable: Bool { connection.isWritable }

    func received(_ bytes: ByteBuffer) {
        guard var first = sniffed else {
            exchange?.requestPart(bytes)
            return
        }
        first.writeImmutableBuffer(bytes)
        sniffed = first
        let hello = ClientHello.parse(first)
        if mayBeRead(first, hello), handBack(first) { return }
        switch hello {
        case .needMoreData:
            waitForRest()
            return
        case .notTLS: break
        case .hello(let hello):
            let name = hello.serverName.map { "server name \($0)" } ?? "no server name"
            let protocols = hello.alpnProtocols.map { ", ALPN \($0.joined(separator: ", "))" } ?? ""
            exchange?.tunnelIsTLS("the tunnel carries TLS that is not decrypted: \(name)\(protocols)")
        }
        passSniffed()
    }

    /// Whether the client's first bytes begin, or may begin, something that is read.
    private func mayBeRead(_ first: ByteBuffer, _ hello: ClientHello.ParseResult) -> Bool {
        if case .notTLS = hello { return HTTP1Sniffer.looksLikeHTTP(first) != .no }
        return true
    }

    /// Ends the tunnel and lets the connection be sniffed again, if that is still possible.
    func handBack(_ first: ByteBuffer) -> Bool {
        guard let guess, let exchange else { return false }
        self.guess = nil
        self.exchange = nil
        timer?.cancel()
        guess.sink.discard()
        exchange.tunnelIsRead()
        guess.takeBack(first)
        return true
    }

    /// What only looks like the beginning of TLS must not be held back for ever.
    private func waitForRest() {
        guard timer == nil else { return }
        timer = connection.loop.eventLoop.assumeIsolated().scheduleTask(in: SniffLayer.partialLimit) { [weak self] in
            self?.passSniffed()
            self?.connection.flush()
        }
    }

    private func passSniffed() {
        timer?.cancel()
        guard let first = sniffed else { return }
        sniffed = nil
        if first.readableBytes > 0 { exchange?.requestPart(first) }
    }

    func inputClosed(isHalfClose: Bool) {
        guard !hasInputEnded else { return }
        hasInputEnded = true
        passSniffed()
        exchange?.requestEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify)
    }

    func closed() {
        timer?.cancel()
        // After our half of the close the client's ends the connection; what it sent before is still to be passed on.
        if hasOutputEnded { inputClosed(isHalfClose: true) }
        exchange?.clientGone()
    }

    func failed(_ error: any Error) {
        passSniffed()
        exchange?.clientGone((error as? StreamReset)?.code ?? .connectError)
    }

    func writabilityChanged(_ isWritable: Bool) { exchange?.clientBecameWritable(isWritable) }
    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {}

    // MARK: - ClientLeg

    func sendInterim(_ head: ResponseHead) {}

    /// A tunnel that has no CONNECT to answer any more can only be cut when it fails.
    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer {
        hasOutputEnded = true
        return ByteBuffer()
    }

    func sendResponsePart(_ part: ByteBuffer) {
        guard !hasOutputEnded, exchange != nil else { return }
        guess = nil
        connection.write(part)
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        // What comes after the connection was handed back is not the client's.
        guard exchange != nil else { return }
        if hasOutputEnded { connection.close() } else { connection.closeOutput() }
        hasOutputEnded = true
    }

    func withholdCloseNotify() { connection.withholdCloseNotify() }

    func becomeTunnel() {
        isEstablished = true
        let onEstablished = onEstablished
        self.onEstablished = nil
        onEstablished?(self)
    }

    func setReading(_ isReading: Bool) {
        isMachineReading = isReading
        if isReading { connection.readIfWanted() }
    }

    func flush() { connection.flush() }

    func boundBuffer() {
        connection.boundBuffer()
    }

    func abort(_ code: HTTP2ErrorCode) {
        guard exchange != nil else { return }
        exchange = nil
        if isEstablished, code != .noError { connection.cut(resets: true) } else { connection.close() }
    }

    func exchangeFinished() {
        guard exchange != nil else { return }
        exchange = nil
        connection.closeAfterFlush()
    }
}

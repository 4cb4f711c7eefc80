import HTTPModel
import NIOCore
import Wire

/// A client's connection whose bytes pass through: after CONNECT, after an upgrade, or in an unknown protocol.
final class TunnelClientLayer: ClientLayer, ClientLeg {
    struct Answer {
        /// Writes the answer, with the failure that it reports; returns the bytes of its head.
        let write: (ResponseHead, BodyFraming, ExchangeFailure?) -> ByteBuffer
        var hasBody = true
    }

    enum Input {
        /// A CONNECT without an answer yet, with the bytes after it. Successors: all.
        case unanswered(Answer, early: ByteBuffer)
        /// The first bytes, until it is known whether they are TLS. Successors: `passing`, `ended`.
        case sniffing(ByteBuffer)
        /// Successor: `ended`.
        case passing
        case ended
    }

    let connection: ClientConnection
    var exchange: Exchange?
    var tunnel: RequestScope.Tunnel?
    private var input: Input
    private var isEstablished: Bool
    /// Called when the server is connected, before any byte passes.
    var onEstablished: ((TunnelClientLayer) -> Void)?
    /// Set if the client's bytes may turn out to be readable. Then the tunnel is not recorded, and `takeBack` gets the
    /// client's first bytes; with `mustBeRead` also unreadable bytes.
    var guess: (sink: TentativeSink, mustBeRead: Bool, takeBack: (ByteBuffer) -> Void)?
    private var timer: Scheduled<Void>?
    private var isMachineReading = true
    private var hasOutputEnded = false
    private var isBodyWanted = true

    init(connection: ClientConnection, _ input: Input, isEstablished: Bool = false) {
        self.connection = connection
        self.input = input
        self.isEstablished = isEstablished
    }

    var wantsRead: Bool {
        switch input {
        case .unanswered(_, let early): isMachineReading && early.readableBytes == 0
        case .sniffing, .passing: isMachineReading
        case .ended: false
        }
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        switch input {
        case .unanswered(let answer, var early):
            early.writeImmutableBuffer(bytes)
            input = .unanswered(answer, early: early)
        case .sniffing(var first):
            first.writeImmutableBuffer(bytes)
            input = .sniffing(first)
            sniff(first)
        case .passing, .ended: exchange?.requestPart(bytes)
        }
    }

    private func sniff(_ first: ByteBuffer) {
        let hello = ClientHello.parse(HTTP1Sniffer.content(of: first))
        if guess?.mustBeRead == true || mayBeRead(first, hello), handBack(first) { return }
        switch hello {
        case .needMoreData: return waitForRest()
        case .notTLS: break
        case .hello(let hello):
            let name = hello.serverName.map { "server name \($0)" } ?? "no server name"
            let protocols = hello.alpnProtocols.map { ", ALPN \($0.joined(separator: ", "))" } ?? ""
            exchange?.tunnelIsTLS("the tunnel carries TLS that is not decrypted: \(name)\(protocols)")
            for remark in tunnel?.remarks(onServerName: hello.serverName) ?? [] { exchange?.note(remark) }
        }
        passSniffed()
    }

    /// Whether the client's first bytes are readable, or may become so.
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

    /// How long a possible beginning of TLS is held back in an unread tunnel.
    private static let partialLimit = TimeAmount.seconds(3)

    /// Bytes that only look like the beginning of TLS must not be held back forever.
    private func waitForRest() {
        guard timer == nil else { return }
        timer = connection.loop.eventLoop.assumeIsolated().scheduleTask(in: Self.partialLimit) { [weak self] in
            self?.passSniffed()
            self?.connection.flush()
        }
    }

    private func passSniffed() {
        timer?.cancel()
        guard case .sniffing(let first) = input else { return }
        input = .passing
        if first.readableBytes > 0 { exchange?.requestPart(first) }
    }

    func inputClosed(isHalfClose: Bool) {
        switch input {
        case .unanswered: exchange?.clientGone()
        case .sniffing, .passing:
            passSniffed()
            input = .ended
            exchange?.requestEnd(trailers: nil, wireBytes: 0, isClean: !connection.lacksCloseNotify)
        case .ended: break
        }
    }

    func closed() {
        timer?.cancel()
        // After our half-close the client's end closes the connection; its earlier bytes must still pass.
        if hasOutputEnded { inputClosed(isHalfClose: true) }
        exchange?.clientGone()
    }

    func failed(_ error: any Error) {
        passSniffed()
        if let failure = error as? ExchangeFailure { exchange?.interrupt(failure) }
        exchange?.clientGone((error as? StreamResetError)?.code ?? .connectError)
    }

    func stall(now: NIODeadline) -> TimeAmount? { exchange?.stall(now: now) }

    func writabilityChanged(_ isWritable: Bool) { exchange?.clientBecameWritable(isWritable) }

    func sendInterim(_ head: ResponseHead) {}

    /// A tunnel whose CONNECT was already answered can only be cut when it fails.
    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer {
        guard case .unanswered(let answer, _) = input else {
            hasOutputEnded = true
            return ByteBuffer()
        }
        isBodyWanted = answer.hasBody || (200..<300).contains(head.status)
        return answer.write(head, framing, exchange?.failure)
    }

    func sendResponsePart(_ part: ByteBuffer) {
        guard !hasOutputEnded, isBodyWanted, exchange != nil else { return }
        guess = nil
        connection.write(part)
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        // After the connection was handed back, this end is no longer for the client.
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
        guard case .unanswered(_, let early) = input else { return }
        input = .sniffing(ByteBuffer())
        connection.flush()
        if early.readableBytes > 0 { received(early) }
        connection.readIfWanted()
    }

    func setReading(_ isReading: Bool) {
        isMachineReading = isReading
        if isReading { connection.readIfWanted() }
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

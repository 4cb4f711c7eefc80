import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization
import Wire

/// A client's connection that speaks HTTP/1: reads requests, one exchange at a time, and writes their responses.
///
/// Pipelined requests wait in the parser until the exchange before them is over, so that they are answered in order
/// (RFC 9112 §9.3.2).
final class HTTP1ClientLayer: ClientLayer, ClientLeg {
    private let connection: ClientConnection
    private let scope: RequestScope
    private var parser = HTTP1RequestParser()
    private var exchange: Exchange?
    /// The exchange whose bytes are being read just now.
    private var reading: Exchange?
    private var isMachineReading = true
    private var isProcessing = false
    private var isClosing = false
    private var hasInputEnded = false
    private var isParserDone = false

    // Of the exchange that is going on:
    private var keepsAlive = true
    private var clientVersion = HTTPVersion.http11
    private var requestMethod = ""
    private var responseFraming = BodyFraming.none
    private var connectTarget: RequestScope.Tunnel?
    /// What arrived of a request whose head is not read yet, to be recorded where it turns out to be none.
    private var messageStart: ByteBuffer?
    /// When the head that is being read began; `nil` where none is.
    private var headBegan: NIODeadline?
    /// Whether the request was read to its end, so that another may follow.
    private var isRequestRead = true

    /// Begins to read requests, the first of which may have begun before.
    init(connection: ClientConnection, scope: RequestScope, headBegan: NIODeadline? = nil) {
        self.connection = connection
        self.scope = scope
        self.headBegan = headBegan
    }

    private var loop: LoopContext { connection.loop }

    // MARK: - ClientLayer

    var wantsRead: Bool {
        guard !hasInputEnded else { return false }
        guard let exchange else { return mayBegin || !parser.hasUnparsedBytes }
        // Behind a whole request only one read's worth of further ones is taken in.
        return exchange.isRequestComplete ? !parser.hasUnparsedBytes : isMachineReading
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        guard !isClosing else { return }
        if parser.isIdle { messageStart = bytes }
        parser.receive(bytes)
        process()
    }

    func inputClosed(isHalfClose: Bool) {
        hasInputEnded = true
        if let exchange {
            // A client may close its sending side after its last request and still wait for the response; one that has
            // really gone is noticed at the next write. Who ends TLS does not mean to read on. While a message is held
            // nothing is written, and a client that was stopped is far more likely than one that closes one side. So it is
            // with a stream of messages, which may have nothing to write for hours.
            let mayReadOn = isHalfClose && exchange.isRequestComplete && !exchange.isHeld && !exchange.isStream
            if !mayReadOn { exchange.clientGone() }
        } else {
            let isCut = !isClosing && !isParserDone && (parser.hasUnparsedBytes || !parser.isIdle)
            if isCut {
                refuse(status: 400, "The client closed the connection in the middle of a request head.", hint: "")
            } else if !isClosing {
                connection.close()
            }
        }
    }

    func closed() {
        exchange?.clientGone()
    }

    func failed(_ error: any Error) {
        exchange?.clientGone()
    }

    func writabilityChanged(_ isWritable: Bool) {
        exchange?.clientBecameWritable(isWritable)
        if isWritable { resume() }
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        guard exchange == nil else { return }
        let timeouts = loop.configuration.timeouts
        if isClosing {
            if now - lastActivity > timeouts.requestHead { connection.close() }
            return
        }
        if let headBegan {
            // What is not read because nothing can be written or recorded is not the client's fault.
            guard mayBegin else {
                self.headBegan = now
                return
            }
            guard now - headBegan > timeouts.requestHead else { return }
            let text = "The request head was not complete \(timeouts.requestHead.inSeconds) s after its first byte."
            refuse(status: 408, text, hint: "")
        } else if now - lastActivity > timeouts.keepAlive {
            connection.close()
        }
    }

    // MARK: - Requests

    /// Reads as many events as can be dealt with now.
    private func process() {
        guard !isProcessing else { return }
        isProcessing = true
        beginReading(exchange)
        defer {
            isProcessing = false
            beginReading(nil)
            noteHead()
            closeIfServed()
            connection.readIfWanted()
        }
        do throws(HTTP1ParseError) {
            while !isClosing, !isParserDone, exchange != nil || mayBegin, !connection.isClosed,
                exchange.map({ !$0.isRequestComplete }) ?? true
            {
                guard let event = try parser.next() else { return }
                switch event {
                case .head(let head, let framing): begin(head, framing)
                case .part(let part): exchange?.requestPart(part)
                case .end(let trailers): end(trailers)
                }
            }
        } catch {
            requestFailed(error)
        }
    }

    /// Takes note of whether a head is being read, and since when.
    private func noteHead() {
        if exchange != nil || isClosing || isParserDone || parser.isIdle {
            headBegan = nil
        } else if headBegan == nil {
            headBegan = loop.eventLoop.now
        }
    }

    /// Whether another request may begin: not while answers pile up that the client does not take, or records.
    private var mayBegin: Bool { connection.isWritable && !loop.isRecorderFull }

    func resume() {
        if exchange == nil { process() }
    }

    /// Closes once a client that sends no more has all its answers.
    private func closeIfServed() {
        guard hasInputEnded, exchange == nil, !isClosing, !isParserDone, mayBegin else { return }
        isClosing = true
        connection.closeAfterFlush()
    }

    /// Ends the read cycle of the exchange before, if there is one, and begins that of another.
    private func beginReading(_ next: Exchange?) {
        let previous = reading
        reading = next
        next?.readBegan()
        previous?.readCompleted()
    }

    private func end(_ trailers: FieldSection?) {
        let size = parser.wireSize
        isRequestRead = true
        if let exchange {
            exchange.requestEnd(trailers: trailers, wireBytes: Int64(size.head) + size.body)
        } else if let target = connectTarget {
            connectTarget = nil
            openTunnel(to: target)
        }
    }

    private func begin(_ head: RequestHead, _ framing: BodyFraming) {
        isRequestRead = false
        messageStart = nil
        requestMethod = head.method
        clientVersion = head.version
        keepsAlive = Persistence.keepsAlive(head) && !loop.isStopping
        responseFraming = .none
        switch intake.admit(arrival(head, notes: parser.tolerances.explanations), for: self) {
        case .exchange(let exchange, let head, let notes): start(exchange, head, framing, notes)
        case .connect(let tunnel): connectTarget = tunnel
        case .refused(let status, let explanation): refuse(status: status, explanation, hint: "", head: head)
        }
    }

    private var intake: RequestIntake { RequestIntake(connection: connection, scope: scope) }

    private func arrival(_ head: RequestHead, notes: [String]) -> RequestIntake.Arrival {
        RequestIntake.Arrival(head: head, method: requestMethod, version: clientVersion, notes: notes)
    }

    private func start(_ exchange: Exchange, _ head: RequestHead, _ framing: BodyFraming, _ notes: [String]) {
        isMachineReading = true
        self.exchange = exchange
        beginReading(exchange)
        if !connection.isWritable { exchange.clientBecameWritable(false) }
        exchange.requestHead(head, framing: framing, notes: notes)
    }

    // MARK: - CONNECT

    private func openTunnel(to target: RequestScope.Tunnel) {
        isParserDone = true
        let rest = parser.takeRemaining()
        let isOwn = target.host == OwnPages.host
        let isWanted = loop.rules.decrypts(target.host, target.port)
        let pair = connection.pair(with: target)
        let refusal = loop.shared.refusals.withLock { $0.remaining(pair, now: loop.eventLoop.now) }
        if isOwn || isWanted && refusal == nil {
            connection.write(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"))
            connection.flush()
            connection.become(SniffLayer(connection: connection, scope: .tunnel(target)), with: rest)
            return
        }
        let authority = target.url.authority
        let head = RequestHead(
            method: "CONNECT",
            target: authority,
            version: clientVersion,
            fields: [("Host", authority)]
        )
        pendingTunnelBytes = rest
        refusedPair = isWanted ? pair : nil
        let notes = isWanted ? [Undecrypted.note(pair, remaining: refusal ?? .zero)] : []
        let exchange = intake.tunnel(
            target,
            arrival(head, notes: notes),
            because: isWanted ? .certificateRefused : .notIntercepted,
            for: self
        )
        start(exchange, head, .none, notes)
    }

    private var pendingTunnelBytes: ByteBuffer?
    /// Set for a tunnel that is not read because its client refused our certificate.
    private var refusedPair: CertificateRefusals.Pair?

    func becomeTunnel() {
        guard let exchange else { return }
        let rest = isParserDone ? pendingTunnelBytes : parser.takeRemaining()
        pendingTunnelBytes = nil
        isParserDone = true
        self.exchange = nil
        connection.flush()
        let layer = TunnelClientLayer(connection: connection, sniffsTLS: requestMethod == "CONNECT")
        layer.isEstablished = true
        layer.exchange = exchange
        if requestMethod == "CONNECT", let refusedPair { connection.opensTunnel(refusedPair) }
        exchange.hand(over: layer)
        connection.become(layer, with: rest)
    }

    // MARK: - Faults

    private func requestFailed(_ error: HTTP1ParseError) {
        if let exchange {
            isClosing = true
            keepsAlive = false
            exchange.requestFailed(
                ExchangeFailure(.badRequest, "The request's body is malformed: \(error.explanation)")
            )
        } else {
            refuse(status: error.status, error.explanation, hint: hint(for: error))
        }
    }

    /// What a client most likely meant that does not speak HTTP/1.
    private func hint(for error: HTTP1ParseError) -> String {
        guard error.code == .notHTTP || error.code == .unsupportedVersion, let first = messageStart?.readableBytesView
        else { return "" }
        if first.starts(with: "PRI ".utf8) {
            return connection.record.tls?.applicationProtocol == "http/1.1"
                ? " The client agreed on http/1.1 by ALPN, and then spoke HTTP/2."
                : " HTTP/2 from clients is turned off (--http2); make the client use HTTP/1.1."
        }
        if first.first == 4 || first.first == 5 {
            return " It looks like SOCKS: set this address as an HTTP proxy instead."
        }
        return ""
    }

    /// Answers something that is no acceptable request, records it, and closes.
    private func refuse(status: Int, _ text: String, hint: String, head: RequestHead? = nil) {
        let bytes =
            head?.received
            ?? messageStart.flatMap { $0.getSlice(at: $0.readerIndex, length: min($0.readableBytes, 65_536)) }
        intake.recordMalformed(text, status: status, method: head?.method ?? "", head: bytes)
        isClosing = true
        let title = status == 408 ? "The request took too long" : "The request was not understood"
        var answer = LocalAnswer.explanation(status: status, title: title, text: text + hint, html: false)
        answer.head.fields.append("Connection", "close")
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(answer.head, into: &output)
        output.writeImmutableBuffer(answer.body)
        connection.write(output)
        lingeringClose()
    }

    /// Closes our side and reads on for a moment: a client that is still sending would otherwise be told of a reset
    /// before it has read the answer (RFC 9112 §9.6).
    private func lingeringClose() {
        connection.flush()
        connection.become(LingeringLayer(connection: connection))
    }

    // MARK: - ClientLeg

    var isWritable: Bool { connection.isWritable }

    func setReading(_ isReading: Bool) {
        isMachineReading = isReading
        if isReading { connection.readIfWanted() }
    }

    func sendInterim(_ head: ResponseHead) {
        // RFC 9110 §15.2: never to an HTTP/1.0 client.
        guard clientVersion != .http10 else { return }
        var head = head
        if head.version != .http11 { makeOurs(&head) }
        var bytes = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
    }

    func sendResponseHead(_ head: ResponseHead, _ framing: BodyFraming, requestIsOpen: Bool) -> ByteBuffer {
        var head = head
        var framing = framing
        if head.version != .http11 { makeOurs(&head) }
        if framing == .chunked, clientVersion == .http10 { framing = .untilClose }
        framing = SentFraming.settle(&head, as: framing, requestMethod: requestMethod)
        responseFraming = framing
        // A client that waits for 100 may or may not send its body after this answer (RFC 9110 §10.1.1).
        if framing == .untilClose || exchange?.awaitsContinue == true || isClosing { keepsAlive = false }
        // Nobody will read the rest of the request, so what follows it cannot be found.
        if !requestIsOpen, !isRequestRead { keepsAlive = false }
        if head.status == 101 {
            // The upgrade's own Connection field stands.
        } else if !keepsAlive {
            head.fields.set("Connection", "close")
        } else if clientVersion == .http10 {
            head.fields.set("Connection", "keep-alive")
        }
        var bytes = connection.allocator.buffer(capacity: 512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
        return bytes
    }

    /// What goes to the client is our own message, so it has our version; and HTTP/2 has no reason phrases.
    private func makeOurs(_ head: inout ResponseHead) {
        if head.version == .http2, head.reason.isEmpty { head.reason = ResponseHead.standardReason(head.status) }
        head.version = .http11
    }

    func sendResponsePart(_ part: ByteBuffer) {
        if responseFraming == .none { return }
        if let prefix = HTTP1Encoder.partPrefix(count: part.readableBytes, framing: responseFraming) {
            connection.write(prefix)
        }
        connection.write(part)
        if let suffix = HTTP1Encoder.partSuffix(framing: responseFraming) { connection.write(suffix) }
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        if let end = HTTP1Encoder.end(framing: responseFraming, trailers: trailers) { connection.write(end) }
    }

    func flush() {
        connection.flush()
    }

    func boundBuffer() {
        connection.boundBuffer()
    }

    /// A body that ends with the connection is whole to a client that is not told otherwise.
    func withholdCloseNotify() {
        if responseFraming == .untilClose { connection.withholdCloseNotify() }
    }

    func abort(_ code: HTTP2ErrorCode) {
        isClosing = true
        exchange = nil
        if responseFraming == .none {
            connection.close()
        } else {
            connection.cut(resets: responseFraming == .untilClose)
        }
    }

    func exchangeFinished() {
        guard exchange != nil else { return }
        exchange = nil
        if !isClosing, keepsAlive, isRequestRead {
            process()
        } else {
            isClosing = true
            if isParserDone || isRequestRead && parser.isIdle {
                connection.closeAfterFlush()
            } else {
                lingeringClose()
            }
        }
    }
}

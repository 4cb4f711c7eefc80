import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Reads requests of HTTP/1, one exchange at a time, and writes their responses. Pipelined requests wait in the parser
/// (RFC 9112 §9.3.2).
final class HTTP1ClientLayer: ClientLayer, ClientLeg {
    private enum State {
        /// No request yet, or an incomplete head that began at this time. Successors: all.
        case awaiting(headBegan: NIODeadline?)
        /// After the head of a CONNECT. Successor: `closing`.
        indirect case connecting(RequestScope.Tunnel, AuthenticationCheck?)
        /// Successors: `awaiting`, `closing`.
        case serving(Exchange)
        /// The connection is closing, or another layer has it.
        case closing
    }

    private struct Message {
        var method = ""
        var version = HTTPVersion.http11
        var body = Body.arriving
        var keepsAlive = true
        var responseFraming = BodyFraming.none
        var isWanted = true
    }

    /// The next request is read only after a `whole` body.
    private enum Body { case arriving, whole, malformed }

    let connection: ClientConnection
    private let scope: RequestScope
    private var parser = HTTP1RequestParser()
    private var state: State
    private var message = Message()
    private var reading: Exchange?
    private var isProcessing = false
    private var hasInputEnded = false
    /// The first bytes of a message, recorded if they are not a request.
    private var messageStart: ByteBuffer?
    /// Why invalid first bytes do not pass unread.
    private let unreadHint: String

    init(connection: ClientConnection, scope: RequestScope, headBegan: NIODeadline? = nil, unreadHint: String = "") {
        self.connection = connection
        self.scope = scope
        self.unreadHint = unreadHint
        state = .awaiting(headBegan: headBegan)
    }

    private var intake: RequestIntake { RequestIntake(connection: connection, scope: scope) }

    private var exchange: Exchange? { if case .serving(let exchange) = state { exchange } else { nil } }

    private var isClosing: Bool { if case .closing = state { true } else { false } }

    // MARK: - ClientLayer

    var wantsRead: Bool {
        guard !hasInputEnded else { return false }
        guard let exchange else { return mayBegin || !parser.hasUnparsedBytes }
        // Reads pipelined requests ahead at most once.
        return exchange.isRequestComplete ? !parser.hasUnparsedBytes : message.isWanted
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        guard !isClosing else { return }
        noteStart(bytes)
        parser.receive(bytes)
        process()
    }

    private func noteStart(_ bytes: ByteBuffer) {
        if parser.isIdle {
            messageStart = bytes
        } else if case .awaiting = state, let size = messageStart?.readableBytes, size < Self.mostFirstBytes {
            messageStart?.writeImmutableBuffer(bytes)
        }
    }

    func inputClosed(isHalfClose: Bool) {
        hasInputEnded = true
        switch state {
        case .serving(let exchange):
            // A client may half-close after its last request and still read the response. If it has really gone, a time
            // limit finds out on this machine; elsewhere the next write fails. A client that ends TLS reads no more.
            // While Sluice writes nothing (the message is held, or is a stream), the client has probably stopped.
            let mayReadOn = isHalfClose && exchange.isRequestComplete && !exchange.isHeld && !exchange.isStream
            if !mayReadOn { exchange.clientGone() }
        case .awaiting, .connecting:
            if parser.hasUnparsedBytes || !parser.isIdle {
                refuse(status: 400, "The client closed the connection in the middle of a request head.")
            } else {
                connection.close()
            }
        case .closing: break
        }
    }

    func closed() { exchange?.clientGone() }

    func failed(_ error: any Error) {
        if let failure = error as? ExchangeFailure { exchange?.interrupt(failure) }
        exchange?.clientGone()
        guard case .awaiting(.some) = state, !(error is ExchangeFailure) else { return }
        state = .closing
        let text = "The client's connection broke in the middle of a request head."
        intake.recordMalformed(ExchangeFailure(.clientGone, text), head: firstBytes)
    }

    func closing(_ reason: OwnClose) {
        // Unread bytes may complete the head.
        guard case .awaiting(.some) = state, mayBegin else { return }
        state = .closing
        intake.recordMalformed(reason.failure(inTheMiddleOf: "a request head"), head: firstBytes)
    }

    func writabilityChanged(_ isWritable: Bool) {
        exchange?.clientBecameWritable(isWritable)
        if isWritable { resume() }
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        let timeouts = loop.configuration.timeouts
        switch state {
        case .serving(let exchange): if hasInputEnded, connection.isAbandoned { exchange.clientGone() }
        case .closing: if now - lastActivity > timeouts.requestHead { connection.close() }
        case .awaiting(.some) where !mayBegin:
            // The client is not at fault while Sluice does not read.
            state = .awaiting(headBegan: now)
        case .awaiting(let began?):
            guard now - began > timeouts.requestHead else { return }
            let limit = timeouts.requestHead.inSeconds
            refuse(status: 408, "The request head was not complete \(limit) s after its first byte.")
        case .awaiting, .connecting: if now - lastActivity > timeouts.keepAlive { connection.close() }
        }
    }

    func stall(now: NIODeadline) -> TimeAmount? { exchange?.stall(now: now) }

    // MARK: - Requests

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
            while mayParse, let event = try nextEvent() {
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

    private func nextEvent() throws(HTTP1ParseError) -> HTTP1RequestParser.Event? {
        // The request came in the same read as the one before.
        if messageStart == nil, case .awaiting = state { messageStart = parser.nextBytes }
        return try parser.next()
    }

    private var mayParse: Bool {
        switch state {
        case .awaiting, .connecting: mayBegin && !connection.isClosed
        case .serving(let exchange): message.body != .malformed && !exchange.isRequestComplete && !connection.isClosed
        case .closing: false
        }
    }

    private func noteHead() {
        guard case .awaiting(let began) = state else { return }
        if parser.isIdle {
            state = .awaiting(headBegan: nil)
        } else if began == nil {
            state = .awaiting(headBegan: loop.eventLoop.now)
        }
    }

    /// `false` while unsent answers or records pile up.
    private var mayBegin: Bool { connection.isWritable && !loop.isRecorderFull }

    func resume() {
        if exchange == nil { process() }
    }

    /// Closes after the last answer to a client that sends no more.
    private func closeIfServed() {
        guard hasInputEnded, exchange == nil, !isClosing, mayBegin else { return }
        state = .closing
        connection.closeAfterFlush()
    }

    private func beginReading(_ next: Exchange?) {
        let previous = reading
        reading = next
        next?.readBegan()
        previous?.readCompleted()
    }

    private func begin(_ head: RequestHead, _ framing: BodyFraming) {
        messageStart = nil
        message = Message(method: head.method, version: head.version)
        message.keepsAlive = Persistence.keepsAlive(head) && !loop.isStopping
        let notes = parser.tolerances.explanations
        let arrival = RequestIntake.Arrival(head: head, method: message.method, version: head.version, notes: notes)
        switch intake.admit(arrival, for: self) {
        case .exchange(let exchange, let head, let notes):
            state = .serving(exchange)
            beginReading(exchange)
            if !connection.isWritable { exchange.clientBecameWritable(false) }
            exchange.requestHead(head, framing: framing, notes: notes)
        case .connect(let tunnel, let check): state = .connecting(tunnel, check)
        case .refused(let status, let explanation): refuse(status: status, explanation, head: head)
        }
    }

    private func end(_ trailers: FieldSection?) {
        message.body = .whole
        switch state {
        case .serving(let exchange):
            let size = parser.wireSize
            exchange.requestEnd(trailers: trailers, wireBytes: Int64(size.head) + size.body)
        case .connecting(let tunnel, let check):
            state = .closing
            let early = parser.takeRemaining()
            let answer = TunnelClientLayer.Answer { [connection] head, framing, _ in
                HTTP1ClientLayer.answerConnect(head, framing, on: connection)
            }
            let version = message.version
            let pending = PendingTunnel(tunnel: tunnel, connection: connection, version: version, answer: answer)
            pending.open(check, early: early)
        case .awaiting, .closing: break
        }
    }

    /// Answers a CONNECT; no further request follows, whatever the status.
    private static func answerConnect(
        _ head: ResponseHead,
        _ framing: BodyFraming,
        on connection: ClientConnection
    ) -> ByteBuffer {
        var head = head
        let framing = framing == .chunked ? .untilClose : framing
        SentFraming.settle(&head, as: framing, requestMethod: "CONNECT")
        if !(200..<300).contains(head.status) { head.fields.set("Connection", "close") }
        var bytes = ByteBuffer()
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
        return bytes
    }

    func becomeTunnel() {
        guard let exchange else { return }
        state = .closing
        connection.flush()
        let layer = TunnelClientLayer(connection: connection, .passing, isEstablished: true)
        layer.exchange = exchange
        exchange.hand(over: layer)
        connection.become(layer, with: parser.takeRemaining())
    }

    // MARK: - Faults

    private func requestFailed(_ error: HTTP1ParseError) {
        if let exchange {
            message.body = .malformed
            message.keepsAlive = false
            let text = "The request's body is malformed: \(error.explanation)"
            exchange.interrupt(ExchangeFailure(.badRequest, text))
        } else {
            refuse(status: error.status, error.explanation, hint: hint(for: error))
        }
    }

    private func hint(for error: HTTP1ParseError) -> String {
        guard error.code == .notHTTP || error.code == .unsupportedVersion, let first = messageStart?.readableBytesView
        else { return unreadHint }
        if first.starts(with: "PRI ".utf8) {
            if connection.record.tls?.applicationProtocol == "http/1.1" {
                return "The client agreed on http/1.1 by ALPN, but spoke HTTP/2."
            }
            return loop.configuration.http2.contains(.client)
                ? "It begins like the preface of HTTP/2, but differs later."
                : "HTTP/2 from clients is turned off (--http2); make the client use HTTP/1.1."
        }
        if first.first == 4 || first.first == 5 {
            return
                "It looks like SOCKS: set this address as an HTTP proxy instead, or listen with --mode socks5 as well."
        }
        return unreadHint
    }

    private static let mostFirstBytes = 65_536

    private var firstBytes: ByteBuffer? { (messageStart ?? parser.nextBytes)?.beginning(Self.mostFirstBytes) }

    private func refuse(status: Int, _ text: String, hint: String = "", head: RequestHead? = nil) {
        let failure = ExchangeFailure(.badRequest, text, hint: hint)
        let bytes = head?.received ?? firstBytes
        intake.recordMalformed(failure, status: status, method: head?.method ?? "", head: bytes)
        state = .closing
        let title = status == 408 ? "The request took too long" : "The request was not understood"
        let whole = hint.isEmpty ? text : "\(text) \(hint)"
        var answer = LocalAnswer.explanation(status: status, title: title, text: whole)
        answer.head.fields.append("Connection", "close")
        var output = ByteBuffer()
        HTTP1Encoder.writeHead(answer.head, into: &output)
        output.writeImmutableBuffer(answer.body)
        connection.write(output)
        lingeringClose()
    }

    /// Reads on for a moment: a client that is still sending would otherwise get a reset before it reads the answer
    /// (RFC 9112 §9.6).
    private func lingeringClose() {
        connection.flush()
        connection.become(LingeringLayer(connection: connection))
    }

    // MARK: - ClientLeg

    func setReading(_ isReading: Bool) {
        message.isWanted = isReading
        if isReading { connection.readIfWanted() }
    }

    func sendInterim(_ head: ResponseHead) {
        // RFC 9110 §15.2: never to an HTTP/1.0 client.
        guard message.version != .http10 else { return }
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
        if framing == .chunked, message.version == .http10 { framing = .untilClose }
        framing = SentFraming.settle(&head, as: framing, requestMethod: message.method)
        message.responseFraming = framing
        // After this answer the client may or may not send its body (RFC 9110 §10.1.1).
        if framing == .untilClose || exchange?.awaitsContinue == true { message.keepsAlive = false }
        // The next request cannot be found after unread bytes.
        if !requestIsOpen, message.body != .whole { message.keepsAlive = false }
        if head.status == 101 {
            // The upgrade's own Connection field stays.
        } else if !message.keepsAlive {
            head.fields.set("Connection", "close")
        } else if message.version == .http10 {
            head.fields.set("Connection", "keep-alive")
        }
        var bytes = connection.allocator.buffer(capacity: 512)
        HTTP1Encoder.writeHead(head, into: &bytes)
        connection.write(bytes)
        return bytes
    }

    /// HTTP/2 has no reason phrases.
    private func makeOurs(_ head: inout ResponseHead) {
        if head.version == .http2, head.reason.isEmpty { head.reason = ResponseHead.standardReason(head.status) }
        head.version = .http11
    }

    func sendResponsePart(_ part: ByteBuffer) {
        if message.responseFraming == .none { return }
        if let prefix = HTTP1Encoder.partPrefix(count: part.readableBytes, framing: message.responseFraming) {
            connection.write(prefix)
        }
        connection.write(part)
        if let suffix = HTTP1Encoder.partSuffix(framing: message.responseFraming) { connection.write(suffix) }
    }

    func sendResponseEnd(_ trailers: FieldSection?) {
        if let end = HTTP1Encoder.end(framing: message.responseFraming, trailers: trailers) { connection.write(end) }
    }

    /// With close_notify, a body that ends with the connection would look complete.
    func withholdCloseNotify() {
        if message.responseFraming == .untilClose { connection.withholdCloseNotify() }
    }

    func abort(_ code: HTTP2ErrorCode) {
        // A server's reset is passed on. Sluice's own abort shows by an unmet length; without a length, by a reset.
        let failure = exchange?.failure
        let isReset = failure.map { $0.isReset || $0.resetCode != nil } == true
        state = .closing
        // Before an answer a server's reset only ends the connection; a rule's is passed on.
        if message.responseFraming == .none, !isReset || failure?.code != .aborted {
            connection.close()
        } else {
            connection.cut(resets: isReset || message.responseFraming == .untilClose)
        }
    }

    func exchangeFinished() {
        guard exchange != nil else { return }
        if message.keepsAlive, message.body == .whole {
            state = .awaiting(headBegan: nil)
            return process()
        }
        state = .closing
        if message.body == .whole, parser.isIdle { connection.closeAfterFlush() } else { lingeringClose() }
    }
}

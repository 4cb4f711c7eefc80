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
    private enum State {
        /// No request is under way, or its head is being read, which began then. Successors: all.
        case awaiting(headBegan: NIODeadline?)
        /// The head of a CONNECT is read, and its end is to come. Successors: `closing`.
        indirect case connecting(RequestScope.Tunnel, AuthenticationCheck?)
        /// A request is answered. Successors: `awaiting`, `closing`.
        case serving(Exchange)
        /// No further request is read: the connection is to be closed, or another layer has it.
        case closing
    }

    /// The request that is under way, and its response.
    private struct Message {
        var method = ""
        var version = HTTPVersion.http11
        var body = Body.arriving
        /// Whether the connection may carry another request afterwards.
        var keepsAlive = true
        var responseFraming = BodyFraming.none
        /// Whether the exchange wants more of the request.
        var isWanted = true
    }

    /// The request's body: only behind one that is `whole` the next request begins.
    private enum Body {
        case arriving, whole, malformed
    }

    private let connection: ClientConnection
    private let scope: RequestScope
    private var parser = HTTP1RequestParser()
    private var state: State
    private var message = Message()
    /// The exchange whose bytes are being read just now.
    private var reading: Exchange?
    private var isProcessing = false
    private var hasInputEnded = false
    /// What arrived of a request whose head is not read yet, to be recorded where it turns out to be none.
    private var messageStart: ByteBuffer?

    /// Why the first bytes are not passed on unread, where they are no request.
    private let unreadHint: String

    /// Begins to read requests, the first of which may have begun before.
    init(connection: ClientConnection, scope: RequestScope, headBegan: NIODeadline? = nil, unreadHint: String = "") {
        self.connection = connection
        self.scope = scope
        self.unreadHint = unreadHint
        state = .awaiting(headBegan: headBegan)
    }

    private var loop: LoopContext { connection.loop }
    private var intake: RequestIntake { RequestIntake(connection: connection, scope: scope) }

    private var exchange: Exchange? {
        if case .serving(let exchange) = state { exchange } else { nil }
    }

    private var isClosing: Bool {
        if case .closing = state { true } else { false }
    }

    // MARK: - ClientLayer

    var wantsRead: Bool {
        guard !hasInputEnded else { return false }
        guard let exchange else { return mayBegin || !parser.hasUnparsedBytes }
        // Behind a whole request only one read's worth of further ones is taken in.
        return exchange.isRequestComplete ? !parser.hasUnparsedBytes : message.isWanted
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        guard !isClosing else { return }
        noteStart(bytes)
        parser.receive(bytes)
        process()
    }

    /// Keeps what arrives of a head, as far as it is recorded.
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
            // A client may close its sending side after its last request and still wait for the response; one that has
            // really gone is noticed when time limits are enforced, if it is of this machine, or at the next write. Who ends TLS does not mean to read on. While a message is held
            // nothing is written, and a client that was stopped is far more likely than one that closes one side. So it is
            // with a stream of messages, which may have nothing to write for hours.
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
        let text = "The client's connection broke off in the middle of a request head."
        intake.recordMalformed(text, .clientGone, status: 0, method: "", head: firstBytes)
    }

    func closing(_ reason: OwnClose) {
        // What is not read, because nothing can be written or recorded, may be whole.
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
            // What is not read because nothing can be written or recorded is not the client's fault.
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
        // A request may begin behind another one, in what was read with it.
        if messageStart == nil, case .awaiting = state { messageStart = parser.nextBytes }
        return try parser.next()
    }

    private var mayParse: Bool {
        switch state {
        case .awaiting, .connecting: mayBegin && !connection.isClosed
        case .serving(let exchange):
            message.body != .malformed && !exchange.isRequestComplete && !connection.isClosed
        case .closing: false
        }
    }

    /// Notes whether a head is being read, and since when.
    private func noteHead() {
        guard case .awaiting(let began) = state else { return }
        if parser.isIdle {
            state = .awaiting(headBegan: nil)
        } else if began == nil {
            state = .awaiting(headBegan: loop.eventLoop.now)
        }
    }

    /// Whether another request may begin: not while answers pile up that the client does not take, or records.
    private var mayBegin: Bool { connection.isWritable && !loop.isRecorderFull }

    func resume() {
        if exchange == nil { process() }
    }

    /// Closes once a client that sends no more has all its answers.
    private func closeIfServed() {
        guard hasInputEnded, exchange == nil, !isClosing, mayBegin else { return }
        state = .closing
        connection.closeAfterFlush()
    }

    /// Ends the read cycle of the exchange before, if there is one, and begins that of another.
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
            SniffLayer.open(tunnel, check, on: connection, version: message.version, early: early, answer: answer)
        case .awaiting, .closing: break
        }
    }

    /// Behind the answer to a CONNECT there are no further requests, whatever it says.
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

    /// What a client most likely meant that does not speak HTTP/1.
    private func hint(for error: HTTP1ParseError) -> String {
        guard error.code == .notHTTP || error.code == .unsupportedVersion, let first = messageStart?.readableBytesView
        else { return unreadHint }
        if first.starts(with: "PRI ".utf8) {
            if connection.record.tls?.applicationProtocol == "http/1.1" {
                return "The client agreed on http/1.1 by ALPN, and then spoke HTTP/2."
            }
            return loop.configuration.http2.contains(.client)
                ? "It begins as the preface of HTTP/2, which then goes on otherwise."
                : "HTTP/2 from clients is turned off (--http2); make the client use HTTP/1.1."
        }
        if first.first == 4 || first.first == 5 {
            return
                "It looks like SOCKS: set this address as an HTTP proxy instead, or listen with --mode socks5 as well."
        }
        return unreadHint
    }

    /// The most that is recorded of what is no request, in bytes.
    private static let mostFirstBytes = 65_536

    /// How the message that is being read begins, for its record.
    private var firstBytes: ByteBuffer? {
        (messageStart ?? parser.nextBytes).flatMap {
            $0.getSlice(at: $0.readerIndex, length: min($0.readableBytes, Self.mostFirstBytes))
        }
    }

    /// Answers what cannot be accepted as a request, records it, and closes.
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

    /// Closes our side and reads on for a moment: a client that is still sending would otherwise get a reset before it has
    /// read the answer (RFC 9112 §9.6).
    private func lingeringClose() {
        connection.flush()
        connection.become(LingeringLayer(connection: connection))
    }

    // MARK: - ClientLeg

    var isWritable: Bool { connection.isWritable }

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
        // A client that waits for 100 may or may not send its body after this answer (RFC 9110 §10.1.1).
        if framing == .untilClose || exchange?.awaitsContinue == true { message.keepsAlive = false }
        // Nobody will read the rest of the request, so what follows it cannot be found.
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

    /// What goes to the client is our own message, so it has our version; and HTTP/2 has no reason phrases.
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

    func flush() { connection.flush() }

    func limitReceiveBuffer() { connection.limitReceiveBuffer() }

    /// A body that ends with the connection is whole to a client that sees nothing to the contrary.
    func withholdCloseNotify() {
        if message.responseFraming == .untilClose { connection.withholdCloseNotify() }
    }

    func abort(_ code: HTTP2ErrorCode) {
        // The server's end is passed on as it was; one of ours is told by a length that is not met, where there is one.
        let isReset = exchange?.failure.map { $0.isReset || $0.resetCode != nil } == true
        state = .closing
        if message.responseFraming == .none {
            connection.close()
        } else {
            connection.cut(resets: isReset || message.responseFraming == .untilClose)
        }
    }

    func exchangeFinished() {
        guard exchange != nil else { return }
        if message.keepsAlive, message.body == .whole {
            state = .awaiting(headBegan: nil)
            process()
            return
        }
        state = .closing
        if message.body == .whole, parser.isIdle { connection.closeAfterFlush() } else { lingeringClose() }
    }
}

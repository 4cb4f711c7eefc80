import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization
import Wire

/// A client's connection that speaks HTTP/1: reads requests, one exchange at a time, and writes their responses.
///
/// Pipelined requests wait in the parser until the exchange before them ends, so that they are answered in order (RFC
/// 9112 §9.3.2).
final class HTTP1ClientLayer: ClientLayer, ClientLeg {
    private enum State {
        /// No request, or its head is being read, which began then. Successors: all.
        case awaiting(headBegan: NIODeadline?)
        /// The head of a CONNECT was read, but not its end. Successors: `closing`.
        indirect case connecting(RequestScope.Tunnel, AuthenticationCheck?)
        /// A request is answered. Successors: `awaiting`, `closing`.
        case serving(Exchange)
        /// No further request is read: the connection is closing, or another layer has it.
        case closing
    }

    /// The current request and its response.
    private struct Message {
        var method = ""
        var version = HTTPVersion.http11
        var body = Body.arriving
        /// Whether the connection may carry another request afterwards.
        var keepsAlive = true
        var responseFraming = BodyFraming.none
        /// Whether the exchange still reads the request.
        var isWanted = true
    }

    /// The request's body: the next request begins only after a `whole` one.
    private enum Body {
        case arriving, whole, malformed
    }

    private let connection: ClientConnection
    private let scope: RequestScope
    private var parser = HTTP1RequestParser()
    private var state: State
    private var message = Message()
    /// The exchange whose bytes are being read.
    private var reading: Exchange?
    private var isProcessing = false
    private var hasInputEnded = false
    /// The first bytes of a request without a complete head, recorded if it is not a request.
    private var messageStart: ByteBuffer?

    /// Why the first bytes do not pass unread if they are not a request.
    private let unreadHint: String

    /// The first request may have begun before.
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
        // After a complete request only one read of further requests is accepted.
        return exchange.isRequestComplete ? !parser.hasUnparsedBytes : message.isWanted
    }

    var isIdle: Bool { exchange == nil }

    func received(_ bytes: ByteBuffer) {
        guard !isClosing else { return }
        noteStart(bytes)
        parser.receive(bytes)
        process()
    }

    /// Keeps the bytes of a head, as far as they are recorded.
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
            // really gone is noticed when time limits are enforced, if it is on this machine, or at the next write. A
            // client that ends TLS will not read on. While a message is held nothing is written, and a stopped client
            // is far more likely than a half-close. The same holds for a stream of messages, which may write nothing
            // for hours.
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
        intake.recordMalformed(text, .clientGone, status: 0, method: "", head: firstBytes)
    }

    func closing(_ reason: OwnClose) {
        // Bytes that are not read because of a full client or recorder may complete the head.
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
            // If nothing is read because of a full client or recorder, the client is not at fault.
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

    /// Handles as many events as possible now.
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
        // A request may begin after another one in the same read.
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

    /// Whether another request may begin: not while unsent answers or records pile up.
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

    /// Ends the read cycle of the previous exchange, and begins that of `next`.
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

    /// No requests follow the answer to a CONNECT, whatever its status.
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

    /// What a client that does not speak HTTP/1 probably meant.
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

    /// The most recorded bytes of an invalid request.
    private static let mostFirstBytes = 65_536

    /// The first bytes of the current message, for its record.
    private var firstBytes: ByteBuffer? {
        (messageStart ?? parser.nextBytes).flatMap {
            $0.getSlice(at: $0.readerIndex, length: min($0.readableBytes, Self.mostFirstBytes))
        }
    }

    /// Answers an invalid request, records it, and closes.
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

    /// Closes our side and reads on for a moment: a client that is still sending would otherwise get a reset before it
    /// has read the answer (RFC 9112 §9.6).
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
        // Nobody will read the rest of the request, so the next one cannot be found.
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

    /// The response to the client has our version; HTTP/2 has no reason phrases.
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

    /// A body that ends with the connection looks complete to the client otherwise.
    func withholdCloseNotify() {
        if message.responseFraming == .untilClose { connection.withholdCloseNotify() }
    }

    func abort(_ code: HTTP2ErrorCode) {
        // The server's end is passed on as it was; one of ours shows by an unmet length, if there is one.
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

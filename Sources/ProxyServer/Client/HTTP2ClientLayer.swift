import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A client's HTTP/2 connection, with an exchange for each stream.
final class HTTP2ClientLayer: ClientLayer, HTTP2Carrier {
    let connection: ClientConnection
    private let scope: RequestScope
    private let driver: HTTP2Driver
    private var streams: [HTTP2StreamID: any HTTP2ServedStream] = [:]
    /// Streams that the client does not read: their sent bytes, and since when.
    private var stalls: [HTTP2StreamID: (sent: Int64, since: NIODeadline)] = [:]
    private var isStopping = false
    private var lastStreamEnd: NIODeadline

    init(connection: ClientConnection, scope: RequestScope) {
        self.connection = connection
        self.scope = scope
        lastStreamEnd = connection.loop.eventLoop.now
        driver = HTTP2Driver(HTTP2Session(.server), on: connection.loop.eventLoop)
        driver.carrier = self
    }

    private var session: HTTP2Session { driver.session }

    /// A paused stream does not stop reading; it withholds its own window.
    var wantsRead: Bool { !loop.isRecorderFull }
    var isIdle: Bool { streams.isEmpty && !session.hasEvents }

    func received(_ bytes: ByteBuffer) { driver.receive(bytes) }

    func resume() {
        driver.process()
        connection.readIfWanted()
    }

    func inputClosed(isHalfClose: Bool) {
        // Streams need WINDOW_UPDATE and RST_STREAM of the client.
        connection.close()
    }

    func closed() { end(nil) }

    private func end(_ failure: ExchangeFailure?) {
        guard !driver.isStopped else { return }
        driver.stop()
        closeStreams(failure)
    }

    private func closeStreams(_ failure: ExchangeFailure? = nil) {
        let open = Array(streams.values)
        streams = [:]
        for stream in open { stream.connectionClosed(failure) }
    }

    func failed(_ error: any Error) { end(error as? ExchangeFailure) }

    func writabilityChanged(_ isWritable: Bool) {
        if isWritable { driver.process() }
    }

    func beginStopping() {
        isStopping = true
        session.goAway(.noError)
        driver.pump()
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        let timeouts = loop.configuration.timeouts
        // The client is not at fault while nothing is read.
        if let since = session.incompleteSince, now - since > timeouts.requestHead, wantsRead {
            let limit = "\(timeouts.requestHead.inSeconds) s after its first byte"
            let failure = HTTP2Error(.enhanceYourCalm, "A head or frame was not complete \(limit).")
            session.goAway(failure.code, text: failure.explanation)
            return failed(failure)
        }
        if !streams.isEmpty {
            endStalls(now: now)
            // The same limit as for a slow HTTP/1 client.
            let isOver = now - lastActivity > timeouts.idle && streams.values.allSatisfy(\.isServed)
            if isOver, stalls.isEmpty { connection.close() }
            return
        }
        guard now - max(lastActivity, lastStreamEnd) > timeouts.keepAlive else { return }
        session.goAway(.noError)
        driver.pump()
        connection.closeAfterFlush()
    }

    func stall(now: NIODeadline) -> TimeAmount? {
        let stalls = streams.map { id, stream in
            stream.isServed ? self.stalls[id].map { now - $0.since } : stream.exchange?.stall(now: now)
        }
        return stalls.contains(nil) ? nil : stalls.compactMap(\.self).min()
    }

    private func endStalls(now: NIODeadline) {
        let last = stalls
        stalls = [:]
        for (id, stream) in streams where stream.isServed {
            guard let sent = session.sentBytesOfBlocked(id) else { continue }
            let since = last[id].flatMap { $0.sent == sent ? $0.since : nil } ?? now
            stalls[id] = (sent, since)
            if now - since > loop.configuration.timeouts.idle { driver.cutAtOnce(id, .cancel) }
        }
    }

    var takesOutput: Bool { connection.isWritable }
    /// One read may bring many requests.
    var takesEvents: Bool { !loop.isRecorderFull }
    func writeOutput(_ bytes: ByteBuffer) { connection.write(bytes) }
    func flushOutput() { connection.flush() }

    func outputWasMade() {
        if session.isOver || isStopping && streams.isEmpty { connection.closeAfterFlush() }
    }

    private func stream(_ id: HTTP2StreamID) -> (any HTTP2ServedStream)? {
        guard let stream = streams[id] else { return nil }
        driver.beginReading(stream.exchange)
        return stream
    }

    func handle(_ event: HTTP2Event) {
        switch event {
        case .requestHead(let id, let head, let framing, let scheme, let connectProtocol):
            loop.recorder.flushIfLarge()
            begin(id, head, framing, scheme: scheme, connectProtocol: connectProtocol)
        case .data(let id, let bytes):
            if let stream = stream(id) { stream.data(bytes) } else { session.consume(bytes.readableBytes, on: id) }
        case .end(let id, let trailers, let wireBytes): stream(id)?.ended(trailers, wireBytes)
        case .reset(let id, let code, let isLocal, let explanation):
            stream(id)?.reset(code, isLocal: isLocal, explanation)
        case .closed(let id):
            guard streams.removeValue(forKey: id) != nil else { return }
            if streams.isEmpty { lastStreamEnd = loop.eventLoop.now }
        case .drained(let id): streams[id]?.drained()
        case .failed(let failure): failed(failure)
        case .malformedRequest(_, let status, let explanation, let head):
            let method = StoredHead.request(head)?.method ?? ""
            intake.recordMalformed(.init(.badRequest, explanation), status: status, method: method, head: head)
        case .settings, .goAway, .interim, .responseHead, .refused: break
        }
    }

    private var intake: RequestIntake { RequestIntake(connection: connection, scope: scope) }

    private func begin(
        _ id: HTTP2StreamID,
        _ received: RequestHead,
        _ framing: BodyFraming,
        scheme: String,
        connectProtocol: String?
    ) {
        let stream = HTTP2ClientStream(driver, id, on: connection)
        var arrival = RequestIntake.Arrival(head: received, method: received.method, version: .http2)
        arrival.takesResets = true
        arrival.notes = HTTP2Framing.notes(on: received.fields)
        if let connectProtocol {
            stream.upgrade = WebSocketBridge(connectProtocol, makingUpgrade: &arrival.head)
            arrival.method = "GET"
            arrival.purpose = .extendedConnect
            arrival.notes.append(WebSocketBridge.clientNote)
        } else {
            // A client uses HTTP/2 without TLS only if it knows that its server speaks HTTP/2.
            let isCleartext = connection.record.tls == nil
            let isGRPC = received.fields.withValue(of: .contentType) { $0.starts(with: "application/grpc".utf8) }
            arrival.purpose = .http(expectsHTTP2: isCleartext || isGRPC == true)
        }
        makeAbsolute(&arrival.head, scheme: scheme)
        switch intake.admit(arrival, for: stream) {
        case .exchange(let exchange, let head, let notes):
            streams[id] = stream
            stream.exchange = exchange
            driver.beginReading(exchange)
            exchange.requestHead(head, framing: stream.upgrade == nil ? framing : .none, notes: notes)
            if stream.upgrade != nil { exchange.requestEnd(trailers: nil, wireBytes: 0) }
        case .connect(let tunnel, let check): open(tunnel, check, on: id)
        case .refused(let status, let explanation): refuse(id, status: status, explanation, received)
        }
    }

    /// Serves the inside of a CONNECT like a client's connection.
    private func open(_ tunnel: RequestScope.Tunnel, _ check: AuthenticationCheck?, on id: HTTP2StreamID) {
        guard let channel = connection.channel else { return }
        let stream = HTTP2ConnectStream(driver, id, parent: channel)
        streams[id] = stream
        let (listener, heads) = (connection.listener, connection.heads)
        let inside = ClientConnection(loop: loop, listener: listener, channel: channel, heads: heads)
        do {
            try stream.serve(inside)
        } catch {
            stream.reset(.internalError, isLocal: true, "\(error)")
            return driver.reset(id, .internalError)
        }
        let answer = TunnelClientLayer.Answer { head, framing, _ in stream.answer(head, framing) }
        PendingTunnel(tunnel: tunnel, connection: inside, version: .http2, answer: answer).open(check, early: nil)
    }

    /// On the proxy's own port, only the absolute form can express `https`.
    private func makeAbsolute(_ head: inout RequestHead, scheme: String) {
        guard case .proxy = scope, scheme == "https", let host = head.fields.value(of: .host) else { return }
        let target = head.target
        if target.hasPrefix("/") { head.target = "https://\(host)\(target)" }
    }

    private func refuse(_ id: HTTP2StreamID, status: Int, _ text: String, _ head: RequestHead) {
        intake.recordMalformed(.init(.badRequest, text), status: status, method: head.method, head: head.received)
        let answer = LocalAnswer.explanation(status: status, title: "The request was not understood", text: text)
        _ = session.sendResponse(answer.head, on: id, isEnd: false)
        session.sendData(answer.body, on: id)
        session.sendEnd(nil, on: id)
    }

    /// Ends all exchanges; GOAWAY reports the reason.
    private func failed(_ failure: HTTP2Error) {
        let text = "The client broke the rules of HTTP/2 (\(failure.code)): \(failure.explanation)"
        intake.recordMalformed(ExchangeFailure(.badRequest, text), head: nil)
        driver.sendRest()
        closeStreams()
        // After an immediate close the client may get a reset before it reads GOAWAY.
        connection.become(LingeringLayer(connection: connection))
    }
}

protocol HTTP2ServedStream: AnyObject {
    var exchange: Exchange? { get }
    /// Whether the client only has to read the rest.
    var isServed: Bool { get }
    func data(_ bytes: ByteBuffer)
    func ended(_ trailers: FieldSection?, _ wireBytes: Int64)
    func reset(_ code: HTTP2ErrorCode, isLocal: Bool, _ explanation: String)
    func drained()
    /// With a failure if Sluice ended the connection.
    func connectionClosed(_ failure: ExchangeFailure?)
}

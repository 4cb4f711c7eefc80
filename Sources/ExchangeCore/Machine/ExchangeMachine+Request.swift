package import HTTPModel
package import NIOCore

extension ExchangeMachine {
    /// The client sent the request's head.
    ///
    /// - Parameters:
    ///   - head: the head, hop-by-hop fields removed.
    ///   - framing: how its body ends.
    ///   - notes: what the client's adapter changed or tolerated, one sentence each.
    ///   - now: the present moment.
    package mutating func requestHeadReceived(
        _ head: RequestHead,
        framing: BodyFraming,
        notes: [String] = [],
        now: NIODeadline
    ) {
        exchange.now = now
        for note in notes { exchange.note(note) }
        messages.requestHead = head.received ?? head.serialized()
        record.sizes.requestHead = Int64(messages.requestHead?.readableBytes ?? 0)
        takesInterim = head.version >= .http11
        beginRequestStream(head)
        awaitsContinue = takesInterim && framing != .none && head.fields.contains(.expect, token: "100-continue")
        sink.record(.opened(record, messages))
        askStages(head)
        requestFlow.accept(.head(headForStages(head), framing))
        pumpRequest()
    }

    /// The head with its cookies in one line, as HTTP/1 has them, where a stage may look at them (RFC 9113 §8.2.3).
    private mutating func headForStages(_ head: RequestHead) -> RequestHead {
        guard !links.isEmpty, head.version == .http2, head.fields.hasCookieCrumbs else { return head }
        crumbledHead = head
        var head = head
        head.fields.joinCookies()
        return head
    }

    /// The head as it is to be sent: cookies that no stage changed are in the crumbs that they came in.
    private func headWithCrumbs(_ head: RequestHead) -> RequestHead {
        guard let received = crumbledHead else { return head }
        guard requestFlow.isChanged else { return received }
        var head = head
        head.fields.splitCookies(as: received.fields)
        return head
    }

    private mutating func askStages(_ head: RequestHead) {
        switch chain.candidates(for: record.url) {
        case .none: return
        case let candidates:
            var url = record.url
            // Rules may name the protocol that is asked for; a WebSocket begins as HTTP.
            if head.fields.contains(.upgrade, token: "websocket") { url.scheme = url.scheme == "https" ? "wss" : "ws" }
            let opening = ExchangeOpening(id: record.id, url: url, head: head, clientAddress: clientAddress)
            links = chain.links(of: candidates, for: opening)
        }
    }

    /// The client sent bytes of the request's body.
    package mutating func requestPartReceived(_ part: ByteBuffer, now: NIODeadline) {
        guard !isFinished, requestState == .receiving else { return }
        exchange.now = now
        awaitsContinue = false
        tapRequest(part)
        guard !discardsRequest else { return }
        requestFlow.accept(.part(part))
        pumpRequest()
    }

    /// The client sent the request whole; in a tunnel, it sends no more bytes.
    ///
    /// - Parameters:
    ///   - trailers: the trailer section, if there was one.
    ///   - wireBytes: what the request took on the client's connection, framing included.
    ///   - isClean: `false` when the bytes of a tunnel ended without TLS close_notify.
    ///   - now: the present moment.
    package mutating func requestEndReceived(
        trailers: FieldSection?,
        wireBytes: Int64,
        isClean: Bool = true,
        now: NIODeadline
    ) {
        guard !isFinished, requestState == .receiving else { return }
        exchange.now = now
        if !isClean, !hasClosedWebSocket {
            requestLacksCloseNotify = true
            note("the client ended TLS without close_notify: what it sent may be cut")
        }
        requestState = .ended
        record.sizes.requestWire += wireBytes
        if let trailers, !trailers.isEmpty {
            var bytes = ByteBuffer()
            trailers.write(into: &bytes)
            messages.requestTrailers = bytes
        }
        if discardsRequest {
            finishIfDone()
            return
        }
        requestFlow.accept(.end(trailers))
        pumpRequest()
    }

    /// The client went away: nothing can be sent to it any more.
    ///
    /// - Parameters:
    ///   - resetCode: what the client said, where it ended just this exchange and not its connection; CONNECT_ERROR where
    ///     the connection of a tunnel was reset (RFC 9113 §8.5).
    ///   - now: the present moment.
    package mutating func clientGone(resetCode: HTTP2ErrorCode? = nil, now: NIODeadline) {
        guard !isFinished else { return }
        exchange.now = now
        // Nothing is owed to a client that has everything and has sent everything; what a stage still holds of that is let
        // out first.
        let isServed = requestState == .ended && responseState == .ended
        if isServed, resetCode == nil, !discardsRequest, !requestFlow.isEmpty { return }
        if isTunnel || responseState == .ended {
            let isCut = isTunnel && resetCode == .connectError && !hasClosedWebSocket
            if isCut, requestState == .receiving, responseState != .ended {
                record.failure = ExchangeFailure(.clientGone, "The client reset the tunnel.")
                record.state = .failed
            } else if let resetCode {
                note(isCut ? "the client reset the tunnel" : "the client reset its stream (\(resetCode))")
            }
            abandonUpstream(resetCode ?? .cancel)
            finish()
            return
        }
        if responseState == .sending, responseLeft == 0, requestState == .ended, resetCode == nil {
            // All of the body is there; only the word that it was all is not.
            note("the client left as soon as it had the whole body, before the server ended the response")
            abandonUpstream(.cancel)
            responseState = .ended
            finish()
            return
        }
        let text =
            resetCode.map { "The client reset its stream (\($0)) before it had the whole response." }
            ?? "The client closed its connection before it had the whole response."
        fail(ExchangeFailure(.clientGone, text, resetCode: resetCode), cutClient: true)
    }

    /// The client sent something that is no valid request after a valid head, for example a bad chunk.
    package mutating func requestFailed(_ failure: ExchangeFailure, now: NIODeadline) {
        interrupted(failure, now: now)
    }

    /// Sluice is stopping, or something took longer than its limit.
    package mutating func interrupted(_ failure: ExchangeFailure, now: NIODeadline) {
        guard !isFinished else { return }
        exchange.now = now
        requestState = .ended
        fail(failure, cutClient: false)
    }

    // MARK: - Flow

    mutating func pumpRequest() {
        while !isFinished, !discardsRequest, !requestPauses.contains(.upstreamPending) {
            switch requestFlow.step(links, &exchange) {
            case .idle:
                continueIfGathering()
                return
            case .emit(let item): emitRequest(item)
            case .paused(let pause):
                beginPause(pause, .request)
                return
            case .working(let work):
                beginWork(work, .request)
                return
            case .respond(let answer, _):
                if record.kind == .http {
                    self.answer = answer
                    exchange.isAnswered = true
                } else {
                    exchange.note("a tunnel cannot be answered with a message; it went on")
                }
            case .refuse(let answer):
                record.state = .blocked
                answerDirectly(answer)
                return
            case .drop:
                record.state = .blocked
                emit(.abortClient(.cancel))
                finish()
                return
            case .fail(let failure):
                cut(failure)
                return
            }
        }
    }

    /// The server will not be asked before the body is here, so the client must be told to send it (RFC 9110 §10.1.1).
    private mutating func continueIfGathering() {
        guard requestFlow.isGathering, awaitsContinue else { return }
        awaitsContinue = false
        saidContinue = true
        emit(.sendInterim(ResponseHead(status: 100)))
    }

    private mutating func emitRequest(_ item: MessageFlow<RequestHead>.Item) {
        switch item {
        case .head(let head, let framing): emitRequestHead(head, framing)
        case .part(let part):
            if requestFlow.bodyMayChange { sink.record(.body(record.id, .requestSent, part)) }
            outgoing?.keep(part)
            emit(.sendRequestPart(part))
        case .end(let trailers):
            outgoing?.isEnded = true
            outgoing?.trailers = trailers
            if !isTunnel { marks.requestSent = exchange.now }
            if upstream == .answered, !isTunnel { upstream = .done }
            if requestLacksCloseNotify { emit(.withholdCloseNotify(.request)) }
            emit(.sendRequestEnd(trailers))
            finishIfDone()
        }
    }

    private mutating func emitRequestHead(_ head: RequestHead, _ framing: BodyFraming) {
        if requestFlow.isChanged { record.flags.insert(.requestChanged) }
        if requestFlow.bodyMayChange {
            record.flags.insert(.requestBodyChanged)
            // An empty beginning, since what is sent may be no body at all.
            sink.record(.body(record.id, .requestSent, ByteBuffer()))
        }
        method = head.method
        if requestFlow.isPaced, framing != .none { boundClientBuffer() }
        if let answer {
            // The stage's answer takes the place of the server; the response chain still runs.
            discardsRequest = true
            record.flags.insert(.answeredLocally)
            receiveAnswer(answer)
            return
        }
        noteSentURL(head)
        outgoing = OutgoingRequest(head: headWithCrumbs(head), framing: framing)
        crumbledHead = nil
        connect(fresh: false)
    }

    private mutating func noteSentURL(_ head: RequestHead) {
        let destination = exchange.destination
        var sent = record.url
        if destination != originalDestination {
            record.flags.insert(.requestChanged)
            (sent.scheme, sent.host, sent.port) = (destination.scheme, destination.host, destination.port)
        }
        if requestFlow.isChanged, record.kind == .http { sent.setPathAndQuery(head.target) }
        if sent != record.url { record.sentURL = sent }
    }

    private mutating func connect(fresh: Bool) {
        upstream = .connecting
        if marks.connectAsked == nil { marks.connectAsked = exchange.now }
        // What was between us and the connection before this one is of no more interest.
        unpause(.request, .peerFull)
        readsUpstream = true
        pause(.request, .upstreamPending)
        emit(.connect(exchange.destination, fresh: fresh))
    }

    // MARK: - The server's connection

    /// The request has to wait, since the server has as many streams open as it allows.
    package mutating func upstreamQueued(now: NIODeadline) {
        guard !isFinished, upstream == .connecting, !requestPauses.contains(.streamLimit) else { return }
        exchange.now = now
        exchange.stage = "sluice"
        exchange.note("waited for a free stream: the server allows no more at a time")
        pause(.request, .streamLimit)
    }

    /// There is a connection for the request.
    package mutating func upstreamReady(_ facts: UpstreamFacts, now: NIODeadline) {
        guard !isFinished, upstream == .connecting else { return }
        exchange.now = now
        upstream = .ready
        marks.ready = now
        noteFacts(facts)
        if let outgoing {
            if record.kind == .tunnel || record.kind == .decryptedTunnel {
                beginTunnel()
            } else {
                emit(.sendRequestHead(outgoing.head, outgoing.framing))
            }
            for part in outgoing.parts { emit(.sendRequestPart(part)) }
            if outgoing.isEnded {
                marks.requestSent = now
                emit(.sendRequestEnd(outgoing.trailers))
            }
        }
        unpause(.request, [.upstreamPending, .streamLimit])
        pumpRequest()
    }

    private mutating func noteFacts(_ facts: UpstreamFacts) {
        record.upstreamConnection = facts.connection
        record.serverAddress = facts.address
        record.upstreamVersion = facts.version
        if facts.isReused { record.flags.insert(.upstreamReused) } else { record.flags.remove(.upstreamReused) }
        record.timings.dns = facts.dns
        record.timings.connect = facts.connect
        record.timings.tls = facts.tls
        let spent = (facts.dns ?? 0) + (facts.connect ?? 0) + (facts.tls ?? 0)
        record.timings.blocked = max(0, microseconds(from: openedAt, to: exchange.now) - spent)
        if let failure = facts.verificationFailure {
            exchange.stage = "sluice"
            exchange.note("the server's certificate was not verified, as you allowed: \(failure)")
        }
    }

    /// No connection could be made, or the request could not be sent.
    package mutating func upstreamFailed(_ failure: ExchangeFailure, now: NIODeadline) {
        guard !isFinished else { return }
        exchange.now = now
        switch upstream {
        case .connecting, .ready: fail(failure, cutClient: false)
        case .answered: if isTunnel { tunnelCut(failure) } else { discardRest(failure) }
        case .none, .done: return
        }
    }

    /// The server closed its connection.
    ///
    /// A response that is whole stays so: just the rest of the request, if there is one, goes nowhere then. A tunnel is
    /// over. Before the response has ended it is a failure, with one exception.
    ///
    /// On a connection that was reused this may only mean that it had been idle too long, so a request that is safe
    /// to repeat and that is still here whole is sent once more on a fresh one (RFC 9110 §9.2.2). So is any request of
    /// which the server said that it did nothing about it (RFC 9113 §8.7).
    ///
    /// - Parameters:
    ///   - failure: what there is to say if the exchange ends with it.
    ///   - wasProcessed: `false` where the server said that it has not processed the request.
    ///   - now: the present moment.
    package mutating func upstreamClosed(_ failure: ExchangeFailure, wasProcessed: Bool = true, now: NIODeadline) {
        guard !isFinished, upstream == .ready || upstream == .answered else { return }
        exchange.now = now
        if isTunnel {
            tunnelCut(failure)
            return
        }
        guard upstream == .ready else {
            discardRest(failure)
            return
        }
        // A stream that was reset is no connection that had been idle too long: the server means this request.
        let isRepeatable =
            failure.resetCode == nil && record.flags.contains(.upstreamReused) && ExchangeMachine.isIdempotent(method)
        guard var outgoing, outgoing.isWhole,
            wasProcessed ? isRepeatable && outgoing.retries == 0 : outgoing.retries < OutgoingRequest.unprocessedLimit
        else {
            fail(failure, cutClient: false)
            return
        }
        outgoing.retries += 1
        self.outgoing = outgoing
        record.flags.insert(.retried)
        exchange.stage = "sluice"
        exchange.note(
            wasProcessed
                ? "the reused connection was closed before an answer; the request was sent again on a fresh one"
                : "the server did not process the request, so it was sent again: \(failure.message)"
        )
        connect(fresh: true)
    }

    /// The server is gone but its response is whole: what the client still sends goes nowhere.
    private mutating func discardRest(_ failure: ExchangeFailure) {
        exchange.stage = "sluice"
        exchange.note("the rest of the request was not sent, since the server had answered already: \(failure.message)")
        abandonUpstream()
        discardsRequest = true
        unpause(.request, [.peerFull, .paced, .working])
        finishIfDone()
    }

    /// RFC 9110 §9.2.2.
    static func isIdempotent(_ method: String) -> Bool {
        switch method {
        case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// The request head that was written to the server, where it differs from what was received (tap B).
    package mutating func requestHeadWritten(_ bytes: ByteBuffer) {
        messages.requestHeadSent = bytes == messages.requestHead ? nil : bytes
    }
}

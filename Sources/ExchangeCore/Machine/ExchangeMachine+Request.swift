package import HTTPModel
package import NIOCore

extension ExchangeMachine {
    /// The client sent the request's head. The caller has removed hop-by-hop fields. `notes` are the changes that the
    /// client's adapter made and the faults that it tolerated, one sentence each.
    package mutating func requestHeadReceived(
        _ head: RequestHead,
        framing: BodyFraming,
        notes: [String] = [],
        now: NIODeadline
    ) {
        exchange.now = now
        for text in notes { note(text) }
        messages.requestHead = head.fields.received ?? head.serialized()
        record.sizes.requestHead = Int64(messages.requestHead?.readableBytes ?? 0)
        guard addHead(messages.requestHead) else { return refuseWithoutRoom() }
        beginRequestStream(head)
        if head.version < .http11 {
            continuation = .unsupported
        } else if framing != .none, head.fields.contains(.expect, token: "100-continue") {
            continuation = .awaited
        }
        sink.record(.opened(record, messages))
        if case .length(let length) = framing { request.announced = length }
        askStages(head)
        request.flow.accept(.head(headForStages(head), framing))
        if let claim = exchange.claim, !claim.isVerified,
            claim.isNeeded || links.contains(where: { $0.handler.needsVerifiedName })
        {
            awaitsName = true
            pause(.request, .working)
            emit(.lookUp(name: record.url.host, address: claim.address))
        }
        pumpRequest()
    }

    /// The client's name for the address of its tunnel was looked up: `isVerified` if the name has that address.
    package mutating func nameLookedUp(isVerified: Bool, now: NIODeadline) {
        guard !isOver, awaitsName, let claim = exchange.claim else { return }
        exchange.now = now
        awaitsName = false
        exchange.claim?.isVerified = isVerified
        let claimed = "the client names \(record.url.host) in a tunnel to \(claim.address)"
        let doubt = "this is not verified, because a look-up of the name does not give the address"
        note(isVerified ? "\(claimed), which is the address of that name" : "\(claimed); \(doubt)")
        pause(.request, .working, false)
        pumpRequest()
    }

    /// The head for stages: its cookies are joined in one line, as in HTTP/1 (RFC 9113 §8.2.3).
    private mutating func headForStages(_ head: RequestHead) -> RequestHead {
        guard !links.isEmpty, head.version == .http2, head.fields.hasCookieCrumbs else { return head }
        crumbledHead = head
        var head = head
        head.fields.joinCookies()
        return head
    }

    /// The head to send: cookies that no stage changed are split into the fields in which they arrived.
    private func headWithCrumbs(_ head: RequestHead) -> RequestHead {
        guard let received = crumbledHead else { return head }
        guard request.flow.isChanged else { return received }
        var head = head
        head.fields.splitCookies(as: received.fields)
        return head
    }

    private mutating func askStages(_ head: RequestHead) {
        let candidates = candidates
        if candidates == 0 { return }
        var url = record.url
        // A WebSocket begins as HTTP, but rules may name its protocol `ws` or `wss`.
        if head.fields.contains(.upgrade, token: "websocket") { url.scheme = url.scheme == "https" ? "wss" : "ws" }
        let (id, claim) = (record.id, exchange.claim)
        var opening = ExchangeOpening(id: id, url: url, head: head, clientAddress: clientAddress, claim: claim)
        opening.listeningMode = record.extras.listeningMode
        opening.process = record.extras.process
        links = chain.links(of: candidates, for: opening)
    }

    /// The stages that may match the URL with its host, or with the address of its tunnel.
    private var candidates: UInt64? {
        let candidates = chain.candidates(for: record.url)
        guard let claim = exchange.claim, let candidates else { return candidates }
        var url = record.url
        url.host = claim.address
        return chain.candidates(for: url).map { candidates | $0 }
    }

    /// The client sent bytes of the request's body.
    package mutating func requestPartReceived(_ part: ByteBuffer, now: NIODeadline) {
        guard !isOver, !isRequestComplete else { return }
        exchange.now = now
        if continuation == .awaited { continuation = .notAwaited }
        tapRequest(part)
        guard requestState == .receiving else { return }
        request.flow.accept(.part(part))
        pumpRequest()
    }

    /// The client sent the complete request; in a tunnel, it sends no more bytes. `wireBytes` is the request's size on
    /// the client's connection with framing; `isClean` is `false` if a tunnel's bytes ended without TLS close_notify.
    package mutating func requestEndReceived(
        trailers: FieldSection?,
        wireBytes: Int64,
        isClean: Bool = true,
        now: NIODeadline
    ) {
        guard !isOver, !isRequestComplete else { return }
        exchange.now = now
        let isClean = isClean || hasClosedWebSocket
        if !isClean { note("the client ended TLS without close_notify: its data may be incomplete") }
        record.sizes.requestWire += wireBytes
        messages.requestTrailers = ExchangeMachine.stored(trailers)
        guard addHead(messages.requestTrailers) else {
            requestState = .discarding(isWhole: true)
            return failWithoutRoom(\.requestTrailers)
        }
        guard requestState == .receiving else {
            requestState = .discarding(isWhole: true)
            return finishIfDone()
        }
        if state.isTunnel { marks.tunnelInputEnded = now }
        requestState = .ended(isClean: isClean)
        request.flow.accept(.end(trailers))
        pumpRequest()
    }

    /// The client is gone; nothing can be sent to it. `resetCode` is set if the client ended only this exchange, not
    /// its connection. It is CONNECT_ERROR if the connection of a tunnel was reset (RFC 9113 §8.5).
    package mutating func clientGone(resetCode: HTTP2ErrorCode? = nil, now: NIODeadline) {
        guard !isOver else { return }
        exchange.now = now
        // The client has sent and received everything. Bytes that a stage still holds are released first.
        if case .ended = requestState, responseState == .ended, resetCode == nil, !request.flow.isEmpty { return }
        let isTunnel = state.isTunnel
        if isTunnel || responseState == .ended {
            let isCut = isTunnel && resetCode == .connectError && !hasClosedWebSocket
            if isCut, requestState == .receiving, responseState != .ended {
                record.failure = ExchangeFailure(.clientGone, "The client reset the tunnel.")
                record.state = .failed
            } else if let resetCode {
                note(isCut ? "the client reset the tunnel" : "the client reset its stream (\(resetCode))")
            }
            abandonUpstream(resetCode ?? .cancel)
            return finish()
        }
        if responseState == .sending(.bytes(0)), isRequestComplete, resetCode == nil {
            // The client got the whole body; only the end of the response is missing.
            note("the client closed after the whole body, before the server ended the response")
            abandonUpstream(.cancel)
            responseState = .ended
            return finish()
        }
        let text =
            resetCode.map { "The client reset its stream (\($0)) before it had the whole response." }
            ?? "The client closed its connection before it had the whole response."
        fail(ExchangeFailure(.clientGone, text + requestPlace + responsePlace, resetCode: resetCode), cutClient: true)
    }

    /// Sluice is stopping, a limit was exceeded, or the bytes after a valid head are not a request.
    package mutating func interrupted(_ failure: ExchangeFailure, now: NIODeadline) {
        guard !isOver else { return }
        exchange.now = now
        var failure = failure
        switch failure.code {
        case .clientTimeout, .badRequest: failure.message += requestPlace
        case .timeout: failure.message += responsePlace
        default: break
        }
        requestState = .discarding(isWhole: true)
        fail(failure, cutClient: false)
    }

    // MARK: - Flow

    mutating func pumpRequest() {
        while !isOver, !awaitsName, !request.reading.pauses.contains(.upstreamPending) {
            if case .discarding = requestState { return }
            switch request.flow.step(links, &exchange) {
            case .idle: return continueIfGathering()
            case .emit(let item): emitRequest(item)
            case .verdict(.respond(let answer), _):
                if record.kind == .http {
                    exchange.answer = answer
                } else {
                    exchange.note("a tunnel cannot be answered with a message; it continued")
                }
            case .verdict(let verdict, _): return obey(verdict, .request)
            }
        }
    }

    /// A stage waits for the body before a server can send 100, so Sluice sends it (RFC 9110 §10.1.1).
    private mutating func continueIfGathering() {
        guard request.flow.isGathering, continuation == .awaited else { return }
        continuation = .continued
        emit(.sendInterim(ResponseHead(status: 100)))
    }

    private mutating func emitRequest(_ item: MessageFlow<RequestHead>.Item) {
        switch item {
        case .head(let head, let framing): emitRequestHead(head, framing)
        case .part(let part):
            if request.flow.bodyMayChange { sink.record(.body(record.id, .requestSent, part)) }
            outgoing?.keep(part, request.flow.budget, for: exchange.client)
            emit(.sendRequestPart(part))
        case .end(let trailers):
            outgoing?.isEnded = true
            outgoing?.trailers = trailers
            if !state.isTunnel { marks.requestSent = exchange.now }
            if state == .relaying(.responded) { state = .relaying(.done) }
            if requestState == .ended(isClean: false) { emit(.withholdCloseNotify(.request)) }
            emit(.sendRequestEnd(trailers))
            finishIfDone()
        }
    }

    private mutating func emitRequestHead(_ head: RequestHead, _ framing: BodyFraming) {
        if request.flow.isChanged { record.flags.insert(.requestChanged) }
        if request.flow.bodyMayChange {
            record.flags.insert(.requestBodyChanged)
            // An empty beginning, because the sent body may be empty.
            sink.record(.body(record.id, .requestSent, ByteBuffer()))
        }
        if request.flow.isPaced, framing != .none { emit(.boundClientBuffer) }
        if let answer = exchange.answer {
            // The stage's answer replaces the server's; the response chain still runs.
            discardRequest()
            record.flags.insert(.answeredLocally)
            return receiveAnswer(answer)
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
        if request.flow.isChanged, record.kind == .http { sent.setPathAndQuery(head.target) }
        if sent != record.url { record.sentURL = sent }
    }

    private mutating func connect(fresh: Bool) {
        state = .relaying(.connecting)
        if marks.connectAsked == nil { marks.connectAsked = exchange.now }
        // The state of an earlier connection does not count for the new one.
        pause(.request, .peerFull, false)
        response.reading.isOn = true
        pause(.request, .upstreamPending)
        emit(.connect(exchange.destination, fresh: fresh))
    }

    // MARK: - The server's connection

    /// The request has to wait, because the server's limit of open streams is reached.
    package mutating func upstreamQueued(now: NIODeadline) {
        guard state == .relaying(.connecting), !request.reading.pauses.contains(.streamLimit) else { return }
        exchange.now = now
        note("waited for a free stream: the server's limit of streams was reached")
        pause(.request, .streamLimit)
    }

    /// There is a connection for the request.
    package mutating func upstreamReady(_ facts: UpstreamFacts, now: NIODeadline) {
        guard state == .relaying(.connecting) else { return }
        exchange.now = now
        state = .relaying(.asked(interims: 0))
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
            let isNeverRepeated = outgoing.framing != .none && facts.version < .http2 && !outgoing.head.isIdempotent
            if isNeverRepeated || facts.isBound { self.outgoing?.forget() }
        }
        pause(.request, [.upstreamPending, .streamLimit], false)
        pumpRequest()
    }

    private mutating func noteFacts(_ facts: UpstreamFacts) {
        record.upstreamConnection = facts.connection
        record.serverAddress = facts.address
        record.upstreamVersion = facts.version
        if facts.isReused { record.flags.insert(.upstreamReused) } else { record.flags.remove(.upstreamReused) }
        noteTimes(dns: facts.dns, connect: facts.connect, tls: facts.tls)
        if let failure = facts.verificationFailure {
            note("the server's certificate was not verified, as you allowed: \(failure)")
        }
        if let text = facts.certificateNote { note(text) }
    }

    private mutating func noteTimes(dns: Int64?, connect: Int64?, tls: Int64?) {
        (record.timings.dns, record.timings.connect, record.timings.tls) = (dns, connect, tls)
        let spent = (dns ?? 0) + (connect ?? 0) + (tls ?? 0)
        record.timings.blocked = max(0, microseconds(from: openedAt, to: exchange.now) - spent)
    }

    /// No connection to the server was made. `dns`, `connect` and `tls` are the durations, in microseconds, of the
    /// phases that began. The failure follows. `proxy` is a proxy that opened no tunnel to the server.
    package mutating func upstreamNotReached(
        dns: Int64?,
        connect: Int64?,
        tls: Int64?,
        proxy: (connection: ConnectionID, address: String)? = nil,
        now: NIODeadline
    ) {
        guard state == .relaying(.connecting) else { return }
        exchange.now = now
        if let proxy { (record.upstreamConnection, record.serverAddress) = (proxy.connection, proxy.address) }
        noteTimes(dns: dns, connect: connect, tls: tls)
    }

    /// No connection could be made, or the request could not be sent.
    package mutating func upstreamFailed(_ failure: ExchangeFailure, now: NIODeadline) {
        guard state.hasPeer || state == .relaying(.connecting) else { return }
        exchange.now = now
        switch state {
        case .relaying(.responded): discardRest(failure)
        case .tunnel(.ended): tunnelCut(failure)
        case .relaying, .answering, .tunnel, .over: fail(failure, cutClient: false)
        }
    }

    /// The server closed its connection. The exchange fails unless its response is complete, or it is a tunnel. A
    /// request that is stored whole is sent again if it is safe to repeat and its connection was reused (RFC 9110
    /// §9.2.2), because the connection may have been idle too long; or if the server did not process it (RFC 9113
    /// §8.7). For other requests on a reused connection, the client's connection closes without an answer, so the
    /// client decides. `wasProcessed` is `false` if the server said that it did not process the request.
    package mutating func upstreamClosed(_ failure: ExchangeFailure, wasProcessed: Bool = true, now: NIODeadline) {
        guard state.hasPeer else { return }
        exchange.now = now
        switch state {
        case .tunnel: tunnelCut(failure)
        case .relaying(.responded): discardRest(failure)
        case .relaying(.asked) where mayAskAgain(failure, wasProcessed):
            outgoing?.retries += 1
            record.flags.insert(.retried)
            let unprocessed = "the server did not process the request, so it was sent again: \(failure.message)"
            let closed = "the reused connection was closed before an answer; the request was sent again on a new one"
            note(wasProcessed ? closed : unprocessed)
            connect(fresh: true)
        case .relaying(.asked(interims: 0)) where isForClientToRepeat(failure, wasProcessed):
            note(
                "no answer: the reused connection to the server was closed before one, and the request is not "
                    + "safe to repeat; the client may repeat it"
            )
            fail(failure, cutClient: true)
        case .relaying:
            var failure = failure
            failure.message += responsePlace
            fail(failure, cutClient: false)
        case .answering, .over: fail(failure, cutClient: false)
        }
    }

    private func mayAskAgain(_ failure: ExchangeFailure, _ wasProcessed: Bool) -> Bool {
        guard let outgoing, outgoing.isWhole else { return false }
        guard wasProcessed else { return outgoing.retries < OutgoingRequest.unprocessedLimit }
        // A reset stream is not a connection that was idle too long: the server rejected this request.
        return outgoing.retries == 0 && failure.resetCode == nil && record.flags.contains(.upstreamReused)
            && outgoing.head.isIdempotent
    }

    /// Whether a reused connection closed before an answer, so that the client decides whether to repeat the request.
    private func isForClientToRepeat(_ failure: ExchangeFailure, _ wasProcessed: Bool) -> Bool {
        guard outgoing?.retries == 0, record.flags.contains(.upstreamReused) else { return false }
        let isGone = failure.code == .reset || failure.code == .upstreamProxy
        return isGone && (failure.resetCode == nil || !wasProcessed)
    }

    /// Whether the request could be sent again if its connection closed before an answer.
    package var mayBeRepeated: Bool {
        guard let outgoing, outgoing.head.isIdempotent else { return false }
        return switch outgoing.framing {
        case .none: true
        case .length(let length): length <= OutgoingRequest.limit
        case .chunked, .untilClose: outgoing.isEnded && outgoing.isWhole
        }
    }

    package var outgoingHead: RequestHead? { outgoing?.head }

    /// The server is gone after a complete response, so the client's further bytes are dropped. After NO_ERROR (RFC
    /// 9113 §8.1) they are not waited for, unless they are within the 65,535 bytes that may be in flight.
    private mutating func discardRest(_ failure: ExchangeFailure) {
        note("the rest of the request was not sent, because the server had already answered: \(failure.message)")
        abandonUpstream()
        discardRequest()
        let rest = request.announced.map { $0 - record.sizes.requestBody }
        if failure.resetCode == .noError, rest ?? .max > 65_535 { requestState = .discarding(isWhole: true) }
        finishIfDone()
    }

    /// The request head that was written to the server, if it differs from the received one (tap B).
    package mutating func requestHeadWritten(_ bytes: ByteBuffer) {
        messages.requestHeadSent = bytes == messages.requestHead ? nil : bytes
    }
}

import Content
public import HTTPModel
public import NIOCore

extension ExchangeMachine {
    /// The server sent an interim response other than 101 (RFC 9110 §15.2).
    public mutating func interimReceived(_ head: ResponseHead, now: NIODeadline) {
        guard !isFinished, upstream == .ready, responseState == .none, marks.responseBegan == nil else { return }
        exchange.now = now
        outgoing?.forget()
        interimCount += 1
        guard interimCount <= ExchangeMachine.interimLimit else {
            fail(
                ExchangeFailure(
                    .badResponse,
                    "\(record.url.authority) sent more than \(ExchangeMachine.interimLimit) interim responses."
                ),
                cutClient: false
            )
            return
        }
        messages.interimHeads.append(head.received ?? head.serialized())
        // A client that was told to continue already need not hear it twice.
        guard takesInterim, !(head.status == 100 && saidContinue) else { return }
        if head.status == 100 { awaitsContinue = false }
        emit(.sendInterim(head))
    }

    /// The server sent the response's head.
    ///
    /// - Parameters:
    ///   - head: the head, hop-by-hop fields removed.
    ///   - framing: how its body ends.
    ///   - notes: what the server's adapter changed or tolerated, one sentence each.
    ///   - now: the present moment.
    public mutating func responseHeadReceived(
        _ head: ResponseHead,
        framing: BodyFraming,
        notes: [String] = [],
        now: NIODeadline
    ) {
        guard !isFinished, upstream == .ready, marks.responseBegan == nil else { return }
        exchange.now = now
        marks.responseBegan = now
        if head.status == 101, let fault = upgradeFault() {
            fail(
                ExchangeFailure(.badResponse, "\(record.url.authority) switched protocols \(fault)."),
                cutClient: false
            )
            return
        }
        outgoing?.forget()
        isUpgrading = head.status == 101
        exchange.stage = "sluice"
        for note in notes { exchange.note(note) }
        messages.responseHead = head.received ?? head.serialized()
        record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
        record.status = head.status
        // A server may answer in an older version than the one it was asked in.
        record.upstreamVersion = head.version
        record.mediaType = mediaType(head)
        beginResponseStream(head, framing)
        var head = head
        if record.url.scheme == "https" || record.url.scheme == "wss", head.fields.removeAll(.altSvc) > 0 {
            exchange.note("Alt-Svc was removed, else the client would leave for a protocol that bypasses the proxy")
        }
        responseFlow.accept(.head(head, framing))
        pumpResponse()
    }

    /// What is wrong with a 101 (RFC 9110 §7.8), if anything is.
    private func upgradeFault() -> String? {
        if requestState != .ended || marks.requestSent == nil { return "before it had the request" }
        return outgoing?.head.fields.contains(.upgrade) == true ? nil : "without being asked to"
    }

    /// The server sent bytes of the response's body.
    public mutating func responsePartReceived(_ part: ByteBuffer, now: NIODeadline) {
        guard !isFinished, upstream == .ready else { return }
        exchange.now = now
        if isTunnel, marks.responseBegan == nil { marks.responseBegan = now }
        tapResponse(part)
        responseFlow.accept(.part(part))
        pumpResponse()
    }

    /// The server sent the response whole; in a tunnel, it sends no more bytes.
    ///
    /// - Parameters:
    ///   - trailers: the trailer section, if there was one.
    ///   - wireBytes: what the response took on the server's connection, framing included.
    ///   - isClean: `false` when a close-delimited body ended without TLS close_notify, so that nobody can know
    ///     whether it is complete.
    ///   - now: the present moment.
    public mutating func responseEndReceived(
        trailers: FieldSection?,
        wireBytes: Int64,
        isClean: Bool = true,
        now: NIODeadline
    ) {
        guard !isFinished, upstream == .ready else { return }
        exchange.now = now
        upstream = isTunnel || marks.requestSent == nil ? .answered : .done
        marks.responseEnded = now
        record.sizes.responseWire += wireBytes
        if !isClean {
            record.flags.insert(.endedWithoutCloseNotify)
            exchange.stage = "sluice"
            exchange.note("the response ended with the connection but without TLS close_notify; it may be incomplete")
        }
        if let trailers, !trailers.isEmpty {
            var bytes = ByteBuffer()
            trailers.write(into: &bytes)
            messages.responseTrailers = bytes
        }
        endResponseStream(trailers)
        responseFlow.accept(.end(trailers))
        pumpResponse()
    }

    /// The response head that was written to the client, where it differs from what was received (tap B).
    public mutating func responseHeadWritten(_ bytes: ByteBuffer) {
        messages.responseHeadSent = bytes == messages.responseHead ? nil : bytes
    }

    /// A read cycle is over: what became known in it is recorded, unless the exchange ended with it anyway.
    public mutating func readCompleted() {
        guard hasNews || hasProgress else { return }
        if !isFinished {
            sink.record(hasNews ? .updated(record, messages) : .progress(record.id, record.tally, record.sizes))
        }
        hasNews = false
        hasProgress = false
    }

    // MARK: - Flow

    mutating func pumpResponse() {
        while !isFinished, responseState != .ended {
            switch responseFlow.step(links, &exchange) {
            case .idle: return
            case .emit(let item): emitResponse(item)
            case .paused(let pause):
                beginPause(pause, .response)
                return
            case .respond(let answer, let next):
                if upstream == .ready {
                    abandonUpstream()
                    discardsRequest = true
                    unpause(.request, [.peerFull, .paced])
                }
                isUpgrading = false
                record.flags.insert(.answeredLocally)
                responseFlow.replace(with: items(of: answer), next: next)
            case .refuse(let answer):
                record.state = .blocked
                abandonUpstream()
                answerDirectly(answer)
                return
            case .drop:
                record.state = .blocked
                emit(.abortClient(.cancel))
                finish()
                return
            }
        }
    }

    private mutating func emitResponse(_ item: MessageFlow<ResponseHead>.Item) {
        switch item {
        case .head(var head, var framing):
            if responseFlow.isChanged { record.flags.insert(.responseChanged) }
            if responseFlow.bodyMayChange { record.flags.insert(.responseBodyChanged) }
            record.status = head.status
            responseState = .sending
            fitToClient(&head, &framing)
            emit(.sendResponseHead(head, framing))
            if isUpgrading, head.status == 101 {
                upgrade(to: head)
                return
            }
            hasNews = true
            if isUpgrading {
                // A stage made another response of it, so the protocol stays.
                abandonUpstream()
                responseFlow.accept(.end(nil))
            }
        case .part(let part):
            guard !dropsResponseBody else { return }
            if responseFlow.bodyMayChange { sink.record(.body(record.id, .responseSent, part)) }
            emit(.sendResponsePart(part))
        case .end(let trailers):
            emit(.sendResponseEnd(dropsResponseBody ? nil : trailers))
            responseState = .ended
            finishIfDone()
        }
    }

    /// Makes the framing that of a response to what the client asked, where a stage changed method or status.
    private mutating func fitToClient(_ head: inout ResponseHead, _ framing: inout BodyFraming) {
        guard head.status != 101 else { return }
        if forbidsBody(head.status) {
            dropsResponseBody = true
            if head.status == 204, framing != .none { head.fields.removeAll(.contentLength) }
            framing = .none
        } else if framing == .none {
            framing = .length(0)
        }
    }

    /// RFC 9112 §6.3: no body after HEAD, nor with 204 and 304.
    private func forbidsBody(_ status: Int) -> Bool {
        record.method == "HEAD" || status == 204 || status == 304
    }

    /// The most interim responses that one response may have before it.
    static let interimLimit = 100

    // MARK: - Answers of our own

    /// Takes a stage's answer as though a server had sent it, so that the response chain runs.
    mutating func receiveAnswer(_ answer: LocalAnswer) {
        upstream = .done
        marks.responseBegan = exchange.now
        marks.responseEnded = exchange.now
        recordAnswer(answer)
        for item in items(of: answer) { responseFlow.accept(item) }
        pumpResponse()
    }

    /// Gives the client an answer past the response chain.
    mutating func answerDirectly(_ answer: LocalAnswer) {
        releaseHold()
        abandonUpstream()
        upstream = .done
        discardsRequest = true
        unpause(.request, [.upstreamPending, .peerFull, .held, .paced])
        unpause(.response, [.held, .paced])
        guard responseState == .none else {
            // A tunnel whose CONNECT was answered already.
            emit(.abortClient(.connectError))
            finish()
            return
        }
        record.flags.insert(.answeredLocally)
        recordAnswer(answer)
        responseState = .ended
        for item in items(of: answer) {
            switch item {
            case .head(let head, let framing): emit(.sendResponseHead(head, framing))
            case .part(let part): emit(.sendResponsePart(part))
            case .end: emit(.sendResponseEnd(nil))
            }
        }
        finishIfDone()
    }

    /// Records an answer as received, or, where a server's response was received before, as what was sent instead.
    private mutating func recordAnswer(_ answer: LocalAnswer) {
        record.status = answer.head.status
        if record.flags.contains(.grpc) { record.grpc = GRPCOutcome(answer.head.fields) }
        let body = forbidsBody(answer.head.status) ? ByteBuffer() : answer.body
        if messages.responseHead == nil {
            messages.responseHead = answer.head.serialized()
            record.mediaType = mediaType(answer.head)
            record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
            record.sizes.responseBody = Int64(body.readableBytes)
        } else {
            messages.responseHeadSent = answer.head.serialized()
            record.flags.formUnion([.responseChanged, .responseBodyChanged])
        }
        if body.readableBytes > 0 {
            let side: BodySide = messages.responseHeadSent == nil ? .responseReceived : .responseSent
            sink.record(.body(record.id, side, body))
        }
    }

    private func items(of answer: LocalAnswer) -> [MessageFlow<ResponseHead>.Item] {
        guard !forbidsBody(answer.head.status) else { return [.head(answer.head, .none), .end(nil)] }
        let head = MessageFlow<ResponseHead>.Item.head(answer.head, .length(Int64(answer.body.readableBytes)))
        return answer.body.readableBytes > 0 ? [head, .part(answer.body), .end(nil)] : [head, .end(nil)]
    }

    private func mediaType(_ head: ResponseHead) -> String {
        head.fields.withValue(of: .contentType) { bytes in
            var essence = bytes.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",") }
            while let last = essence.last, last == 0x20 || last == 0x09 { essence.removeLast() }
            let text = String(fieldBytes: UnsafeRawBufferPointer(rebasing: essence))
            return essence.contains { $0 &- 0x41 < 26 || $0 >= 0x80 } ? text.lowercased() : text
        } ?? ""
    }

    // MARK: - The end

    /// Ends the exchange with a failure: with a page where the client has no head yet, else by cutting it off.
    ///
    /// What goes wrong after the client has its response whole is only noted.
    mutating func fail(_ failure: ExchangeFailure, cutClient: Bool) {
        guard responseState != .ended else {
            exchange.stage = "sluice"
            exchange.note("after the response: \(failure.message)")
            finish()
            return
        }
        record.failure = failure
        record.state = .failed
        abandonUpstream(failure.resetCode ?? .cancel)
        // A server that resets a stream means to say so; a client that can be told the same is.
        let isPassedOn = clientTakesResets && failure.resetCode != nil
        if cutClient || isPassedOn || responseState != .none || isTunnelEstablished {
            emit(.abortClient(failure.resetCode ?? (failure.code == .aborted ? .cancel : .internalError)))
            finish()
        } else {
            answerDirectly(page(for: failure))
        }
    }

    /// The answer that tells a client of a failure, in a form that it can show.
    private func page(for failure: ExchangeFailure) -> LocalAnswer {
        let fields = messages.requestHead.flatMap { StoredHead.request($0)?.fields }
        if record.flags.contains(.grpc) {
            return .callFailure(failure, contentType: fields?.value(of: .contentType) ?? "application/grpc")
        }
        return .failure(failure, html: fields?.value(of: "accept")?.contains("text/html") ?? false)
    }

    /// Gives up a connection that was asked for, or whose request or response is not whole.
    mutating func abandonUpstream(_ code: HTTP2ErrorCode = .cancel) {
        switch upstream {
        case .connecting, .ready, .answered: emit(.abandonUpstream(code))
        case .none, .done: break
        }
        upstream = .done
    }

    /// The exchange is over when the client has its response whole and its request was read whole.
    mutating func finishIfDone() {
        guard responseState == .ended, requestState == .ended else { return }
        // A tunnel of which both halves have ended leaves nothing to give up.
        if isTunnel { upstream = .done }
        finish()
    }

    mutating func finish() {
        guard !isFinished else { return }
        isFinished = true
        abandonUpstream()
        releaseHold()
        if record.kind == .webSocket { noteMissingClose() }
        if record.state == .inFlight { record.state = .complete }
        noteTimings()
        messages.trace = exchange.trace
        for link in links { link.handler.ended() }
        links = []
        emit(.finished)
    }

    private mutating func noteTimings() {
        let now = exchange.now
        if record.kind == .tunnel || record.kind == .decryptedTunnel {
            // Whose turn it is to speak in a tunnel is not known, so there is nothing that waits.
            record.timings.wait = nil
        } else if let sentAt = marks.requestSent {
            record.timings.send = marks.ready.map { microseconds(from: $0, to: sentAt) }
            record.timings.wait = marks.responseBegan.map { microseconds(from: sentAt, to: $0) }
        } else if let ready = marks.ready {
            record.timings.wait = marks.responseBegan.map { microseconds(from: ready, to: $0) }
        }
        if let began = marks.responseBegan {
            record.timings.receive = microseconds(from: began, to: marks.responseEnded ?? now)
        }
        record.timings.total = microseconds(from: openedAt, to: now)
    }

    func microseconds(from start: NIODeadline, to end: NIODeadline) -> Int64 {
        max(0, (end - start).nanoseconds / 1_000)
    }
}

extension ByteBuffer? {
    /// Appends bytes in place; the buffer must not be shared meanwhile, or it would be copied each time.
    fileprivate mutating func append(_ bytes: ByteBuffer) {
        var buffer = self ?? ByteBuffer()
        self = nil
        buffer.writeImmutableBuffer(bytes)
        self = buffer
    }
}

import Content
package import HTTPModel
package import NIOCore

extension ExchangeMachine {
    /// The server sent an interim response other than 101 (RFC 9110 §15.2).
    package mutating func interimReceived(_ head: ResponseHead, now: NIODeadline) {
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
        var head = head
        for link in links {
            exchange.stage = link.name
            link.handler.interimHead(&head, &exchange)
        }
        emit(.sendInterim(head))
    }

    /// The server sent the response's head.
    ///
    /// - Parameters:
    ///   - head: the head, hop-by-hop fields removed.
    ///   - framing: how its body ends.
    ///   - notes: what the server's adapter changed or tolerated, one sentence each.
    ///   - now: the present moment.
    package mutating func responseHeadReceived(
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
    package mutating func responsePartReceived(_ part: ByteBuffer, now: NIODeadline) {
        guard !isFinished, upstream == .ready else { return }
        exchange.now = now
        if isTunnel, marks.responseBegan == nil { marks.responseBegan = now }
        if fileRole != .sent { tapResponse(part) }
        responseFlow.accept(.part(part))
        pumpResponse()
    }

    /// The server sent the response whole; in a tunnel, it sends no more bytes.
    ///
    /// - Parameters:
    ///   - trailers: the trailer section, if there was one.
    ///   - wireBytes: what the response took on the server's connection, framing included.
    ///   - isClean: `false` when what ends with its connection ended without TLS close_notify, so that nobody can know
    ///     whether it is complete (RFC 9112 §9.8).
    ///   - now: the present moment.
    package mutating func responseEndReceived(
        trailers: FieldSection?,
        wireBytes: Int64,
        isClean: Bool = true,
        now: NIODeadline
    ) {
        guard !isFinished, upstream == .ready else { return }
        exchange.now = now
        let awaitsRequest = isTunnel || marks.requestSent == nil
        upstream = awaitsRequest && fileRole == nil ? .answered : .done
        marks.responseEnded = now
        record.sizes.responseWire += wireBytes
        if !isClean, !hasClosedWebSocket {
            record.flags.insert(.endedWithoutCloseNotify)
            note("the server ended TLS without close_notify: \(isTunnel ? "what it sent" : "the body") may be cut")
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
    package mutating func responseHeadWritten(_ bytes: ByteBuffer) {
        messages.responseHeadSent = bytes == messages.responseHead ? nil : bytes
    }

    /// A read cycle is over: what became known in it is recorded, unless the exchange ended with it anyway.
    package mutating func readCompleted() {
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
            case .working(let work):
                beginWork(work, .response)
                return
            case .respond(let answer, let next):
                replaceResponse(with: answer, next: next)
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
            case .fail(let failure):
                cut(failure)
                return
            }
        }
    }

    private mutating func emitResponse(_ item: MessageFlow<ResponseHead>.Item) {
        switch item {
        case .head(var head, var framing):
            if responseFlow.isChanged { record.flags.insert(.responseChanged) }
            if responseFlow.bodyMayChange {
                record.flags.insert(.responseBodyChanged)
                sink.record(.body(record.id, .responseSent, ByteBuffer()))
            }
            record.status = head.status
            responseState = .sending
            fitToClient(&head, &framing)
            if case .length(let length) = framing { responseLeft = length }
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
            responseLeft? -= Int64(part.readableBytes)
            emit(.sendResponsePart(part))
        case .end(let trailers):
            if record.flags.contains(.endedWithoutCloseNotify) { emit(.withholdCloseNotify(.response)) }
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
    func forbidsBody(_ status: Int) -> Bool {
        record.method == "HEAD" || status == 204 || status == 304
    }

    /// The most interim responses that one response may have before it.
    static let interimLimit = 100
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

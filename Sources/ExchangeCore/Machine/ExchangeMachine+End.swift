import HTTPModel
import NIOCore

extension ExchangeMachine {
    /// Ends the exchange with a failure: the client gets a page if it has no head yet; otherwise its connection closes.
    /// Errors after the complete response are only noted.
    mutating func fail(_ failure: ExchangeFailure, cutClient: Bool) {
        guard responseState != .ended else {
            note("after the response: \(failure.message)")
            return finish()
        }
        record.failure = failure
        record.state = .failed
        abandonUpstream(failure.resetCode ?? .cancel)
        // A server resets a stream on purpose, so the reset is passed on if the client's connection can carry it.
        let isPassedOn = clientTakesResets && failure.resetCode != nil
        if cutClient || isPassedOn || responseState != .none {
            let isOwnWish = failure.code == .aborted || failure.code == .clientTimeout
            emit(.abortClient(failure.resetCode ?? (isOwnWish ? .cancel : .internalError)))
            finish()
        } else {
            answerDirectly(page(for: failure))
        }
    }

    /// Ends the exchange with a failure that a stage requests; the client's connection is cut.
    mutating func cut(_ failure: ExchangeFailure) {
        guard state.isTunnel, responseState == .ended else { return fail(failure, cutClient: true) }
        // The server's half of the tunnel has ended, but the client's half can still fail.
        record.failure = failure
        record.state = .failed
        abandonUpstream()
        emit(.abortClient(.internalError))
        finish()
    }

    /// How much of the request's body the client had sent, as a sentence to append to a failure; empty if complete.
    var requestPlace: String {
        guard !state.isTunnel, requestState == .receiving, request.announced != 0, responseState != .ended else {
            return ""
        }
        return Self.came(record.sizes.requestBody, of: request.announced, in: "request")
    }

    /// How much of the response's body had arrived.
    var responsePlace: String {
        guard !state.isTunnel, marks.responseBegan != nil, marks.responseEnded == nil,
            !forbidsBody(record.status)
        else { return "" }
        return Self.came(record.sizes.responseBody, of: response.announced, in: "response")
    }

    private static func came(_ count: Int64, of announced: Int64?, in message: String) -> String {
        let bytes = announced.map { "\(count) of \($0) bytes" } ?? (count == 1 ? "1 byte" : "\(count) bytes")
        return " Of the \(message)'s body, \(bytes) had come."
    }

    /// The answer that explains a failure to a client, in a format that the client can show.
    private func page(for failure: ExchangeFailure) -> LocalAnswer {
        let fields = messages.requestHead.flatMap { StoredHead.request($0)?.fields }
        if record.flags.contains(.grpc) {
            return .callFailure(failure, contentType: fields?.value(of: .contentType) ?? "application/grpc")
        }
        return .failure(failure, html: fields?.value(of: "accept")?.contains("text/html") ?? false)
    }

    /// Gives up a requested connection, or a connection with an incomplete request or response.
    mutating func abandonUpstream(_ code: HTTP2ErrorCode = .cancel) {
        if state.hasPeer || state == .relaying(.connecting) { emit(.abandonUpstream(code)) }
        state = state.abandoned
    }

    /// Discards what the client still sends; only a full recorder can still pause reading.
    mutating func discardRequest() {
        requestState = .discarding(isWhole: isRequestComplete)
        request.reading.pauses.formIntersection(.recorderFull)
    }

    /// Whether the whole request was read, and sent unless it is discarded.
    var isRequestDone: Bool {
        switch requestState {
        case .receiving: false
        case .ended: request.flow.isEmpty
        case .discarding(let isWhole): isWhole
        }
    }

    /// Ends the exchange if the client has the whole response and nothing is left to do for its request.
    mutating func finishIfDone() {
        guard responseState == .ended, isRequestDone else { return }
        // A tunnel whose halves have both ended has nothing to abort.
        if state.isTunnel { state = .tunnel(.closed) }
        finish()
    }

    mutating func finish() {
        guard !isOver else { return }
        abandonUpstream()
        state = .over
        heads.remove(headSize)
        releaseHold()
        if record.kind == .webSocket { noteMissingClose() }
        if record.state == .inFlight { record.state = .complete }
        noteTimings()
        let isComplete = record.state == .complete && responseState == .ended
        for link in links {
            exchange.enter(link)
            if let work = link.handler.ended(isComplete: isComplete, &exchange) { emit(.performAfterwards(work)) }
        }
        messages.trace = exchange.trace
        links = []
        emit(.finished)
    }

    private mutating func noteTimings() {
        let now = exchange.now
        if record.kind == .tunnel || record.kind == .decryptedTunnel {
            // In a tunnel Sluice does not know which side waits for the other, so no waiting time is recorded.
            record.timings.wait = nil
        } else if let sentAt = marks.requestSent {
            // A response may begin before its whole request is sent, but the phases must not overlap.
            let end = marks.responseBegan.map { min($0, sentAt) } ?? sentAt
            record.timings.send = marks.ready.map { microseconds(from: $0, to: end) }
            record.timings.wait = marks.responseBegan.map { microseconds(from: end, to: $0) }
        } else if let ready = marks.ready {
            record.timings.wait = marks.responseBegan.map { microseconds(from: ready, to: $0) }
        }
        if let began = marks.responseBegan {
            record.timings.receive = microseconds(from: began, to: marks.responseEnded ?? now)
            // No server was contacted.
            if marks.connectAsked == nil, record.timings.blocked == nil {
                record.timings.blocked = microseconds(from: openedAt, to: began)
            }
        }
        record.timings.total = microseconds(from: openedAt, to: now)
    }

    func microseconds(from start: NIODeadline, to end: NIODeadline) -> Int64 {
        max(0, (end - start).nanoseconds / 1_000)
    }
}

import Content
package import HTTPModel
package import NIOCore

extension ExchangeMachine {
    /// The server sent an interim response other than 101 (RFC 9110 §15.2).
    package mutating func interimReceived(_ head: ResponseHead, now: NIODeadline) {
        guard case .relaying(.asked(let count)) = state else { return }
        exchange.now = now
        outgoing?.forget()
        state = .relaying(.asked(interims: count + 1))
        guard count < ExchangeMachine.interimLimit else {
            let text = "\(record.url.authority) sent more than \(ExchangeMachine.interimLimit) interim responses."
            return fail(ExchangeFailure(.badResponse, text), cutClient: false)
        }
        guard addInterim(head) else { return }
        // HTTP/1.0 clients get no interim response; a client that got 100 from Sluice does not get it again.
        guard continuation != .unsupported, head.status != 100 || continuation != .continued else { return }
        if head.status == 100 { continuation = .notAwaited }
        var head = head
        for link in links {
            exchange.enter(link)
            link.handler.interimHead(&head, &exchange)
        }
        emit(.sendInterim(head))
    }

    /// The server sent the response's head. The caller has removed hop-by-hop fields. `notes` are the changes that the
    /// server's adapter made and the faults that it tolerated, one sentence each.
    package mutating func responseHeadReceived(
        _ head: ResponseHead,
        framing: BodyFraming,
        notes: [String] = [],
        now: NIODeadline
    ) {
        guard case .relaying(.asked) = state else { return }
        exchange.now = now
        marks.responseBegan = now
        if head.status == 101, let fault = upgradeFault(head) {
            let text = "\(record.url.authority) switched protocols \(fault)."
            return fail(ExchangeFailure(.badResponse, text), cutClient: false)
        }
        outgoing?.forget()
        state = .relaying(head.status == 101 ? .switching(isOpen: true) : .responding)
        for text in notes { note(text) }
        messages.responseHead = head.fields.received ?? head.serialized()
        record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
        guard addHead(messages.responseHead) else { return failWithoutRoom(\.responseHead) }
        record.status = head.status
        // A server may answer in an older version of HTTP than the request's.
        record.upstreamVersion = head.version
        record.mediaType = mediaType(head)
        beginResponseStream(head, framing)
        if case .length(let length) = framing { response.announced = length }
        var head = head
        let isSecure = record.url.scheme == "https" || record.url.scheme == "wss"
        if isSecure, let offer = head.fields.value(of: .altSvc) {
            _ = head.fields.removeAll(.altSvc)
            let what = offer.contains("h3") ? " (the server offers HTTP/3)" : ""
            note("Alt-Svc was removed\(what), because HTTP/3 would bypass the proxy")
        }
        response.flow.accept(.head(head, framing))
        pumpResponse()
    }

    /// Why a 101 is invalid; `nil` if it is valid (RFC 9110 §7.8).
    private func upgradeFault(_ head: ResponseHead) -> String? {
        guard isRequestDone else { return "before it had the request" }
        let asked = ExchangeMachine.protocols(outgoing?.head.fields.values(of: .upgrade) ?? [])
        guard !asked.isEmpty else { return "without being asked to" }
        // If `Upgrade` has several protocols, the first is the next one to be spoken (RFC 9110 §7.8).
        guard let agreed = ExchangeMachine.protocols(head.fields.values(of: .upgrade)).first else {
            return "without naming the new one"
        }
        return asked.contains(agreed) ? nil : "to \(agreed), for which it was not asked"
    }

    /// The names of the protocols in values of `Upgrade`, in lower case and without their versions.
    private static func protocols(_ values: [String]) -> [String] {
        values.flatMap { $0.split(separator: ",") }.compactMap { member in
            let name = member.prefix { $0 != "/" }.filter { $0 != " " && $0 != "\t" }
            return name.isEmpty ? nil : name.lowercased()
        }
    }

    /// The server sent bytes of the response's body.
    package mutating func responsePartReceived(_ part: ByteBuffer, now: NIODeadline) {
        guard state.hasSource else { return }
        exchange.now = now
        if state.isTunnel, marks.responseBegan == nil { marks.responseBegan = now }
        if state != .answering(.file(.sent)) { tapResponse(part) }
        response.flow.accept(.part(part))
        pumpResponse()
    }

    /// The server sent the complete response; in a tunnel, it sends no more bytes. `wireBytes` is the response's size
    /// on the server's connection with framing; `isClean` is `false` if a body that ends with its connection ended
    /// without TLS close_notify, so that it may be incomplete (RFC 9112 §9.8).
    package mutating func responseEndReceived(
        trailers: FieldSection?,
        wireBytes: Int64,
        isClean: Bool = true,
        now: NIODeadline
    ) {
        guard state.hasSource else { return }
        exchange.now = now
        switch state {
        case .tunnel: state = .tunnel(.ended)
        case .relaying(.switching): state = .relaying(.switching(isOpen: false))
        case .relaying where !isRequestDone: state = .relaying(.responded)
        case .relaying, .answering, .over: state = state.abandoned
        }
        marks.responseEnded = now
        record.sizes.responseWire += wireBytes
        if !isClean, !hasClosedWebSocket {
            record.flags.insert(.endedWithoutCloseNotify)
            let what = state.isTunnel ? "what it sent" : "the body"
            note("the server ended TLS without close_notify: \(what) may be cut")
        }
        messages.responseTrailers = ExchangeMachine.stored(trailers)
        guard addHead(messages.responseTrailers) else { return failWithoutRoom(\.responseTrailers) }
        endResponseStream(trailers)
        response.flow.accept(.end(trailers))
        pumpResponse()
    }

    /// The response head that was written to the client, if it differs from the received one (tap B).
    package mutating func responseHeadWritten(_ bytes: ByteBuffer) {
        messages.responseHeadSent = bytes == messages.responseHead ? nil : bytes
    }

    /// A read cycle is over: its changes are recorded, unless the exchange is over and recorded anyway.
    package mutating func readCompleted() {
        if !isOver {
            switch unrecorded {
            case .nothing: return
            case .progress: sink.record(.progress(record.id, record.tally, record.sizes))
            case .news: sink.record(.updated(record, messages))
            }
        }
        unrecorded = .nothing
    }

    mutating func pumpResponse() {
        while !isOver, responseState != .ended {
            if let ending, isReached(ending) { return endAnswer(ending) }
            switch response.flow.step(links, &exchange) {
            case .idle: return
            case .emit(let item): emitResponse(item)
            case .verdict(.respond(let answer), let next): replaceResponse(with: answer, next: next)
            case .verdict(let verdict, _): return obey(verdict, .response)
            }
        }
    }

    private func isReached(_ end: AnswerEnd) -> Bool {
        guard let after = end.after else { return true }
        return after <= 0 && responseState != .none
    }

    private mutating func emitResponse(_ item: MessageFlow<ResponseHead>.Item) {
        switch item {
        case .head(var head, var framing):
            if response.flow.isChanged { record.flags.insert(.responseChanged) }
            if response.flow.bodyMayChange {
                record.flags.insert(.responseBodyChanged)
                sink.record(.body(record.id, .responseSent, ByteBuffer()))
            }
            record.status = head.status
            responseState = .sending(fitToClient(&head, &framing))
            emit(.sendResponseHead(head, framing))
            guard case .relaying(.switching) = state else {
                unrecorded = .news
                return
            }
            if head.status == 101 { return upgrade(to: head) }
            // A stage replaced the 101, so the protocol does not change.
            unrecorded = .news
            abandonUpstream()
            response.flow.accept(.end(nil))
        case .part(var part):
            guard responseState != .sending(.nothing) else { return }
            if let after = ending?.after {
                part = part.readSlice(length: min(part.readableBytes, Int(clamping: after))) ?? part
                ending?.after = after - Int64(part.readableBytes)
            }
            if response.flow.bodyMayChange { sink.record(.body(record.id, .responseSent, part)) }
            if case .sending(.bytes(let count)) = responseState {
                responseState = .sending(.bytes(count - Int64(part.readableBytes)))
            }
            emit(.sendResponsePart(part))
        case .end(let trailers):
            // There is no body, or it is shorter than `end-at`.
            if ending != nil {
                ending?.after = 0
                return
            }
            if record.flags.contains(.endedWithoutCloseNotify), !state.isAnswering {
                emit(.withholdCloseNotify(.response))
            }
            emit(.sendResponseEnd(responseState == .sending(.nothing) ? nil : trailers))
            responseState = .ended
            finishIfDone()
        }
    }

    /// Fits the framing to the client's own method and the final status: stages may have changed both.
    private func fitToClient(_ head: inout ResponseHead, _ framing: inout BodyFraming) -> Remainder {
        if head.status == 101 { return .unknown }
        if forbidsBody(head.status) {
            if head.status == 204, framing != .none { head.fields.removeAll(.contentLength) }
            framing = .none
            return .nothing
        }
        if framing == .none { framing = .length(0) }
        if case .length(let length) = framing { return .bytes(length) }
        return .unknown
    }

    /// RFC 9112 §6.3: no body after HEAD, nor with 204 and 304.
    func forbidsBody(_ status: Int) -> Bool { record.method == "HEAD" || status == 204 || status == 304 }

    /// The maximum number of interim responses before a response.
    package static let interimLimit = 100
}

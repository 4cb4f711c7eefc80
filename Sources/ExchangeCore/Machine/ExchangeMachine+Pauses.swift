import HTTPModel
package import NIOCore

/// Why the client or the server is not read, and when reading continues.
extension ExchangeMachine {
    subscript(direction: FlowDirection) -> Reading {
        get { direction == .request ? request.reading : response.reading }
        set {
            switch direction {
            case .request: request.reading = newValue
            case .response: response.reading = newValue
            }
        }
    }

    mutating func pause(_ direction: FlowDirection, _ reason: PauseReasons, _ isPaused: Bool = true) {
        if isPaused { self[direction].pauses.insert(reason) } else { self[direction].pauses.subtract(reason) }
    }

    /// The client accepts bytes again, or no more for now.
    package mutating func clientBecameWritable(_ isWritable: Bool) {
        guard !isOver else { return }
        pause(.response, .peerFull, !isWritable)
    }

    /// The server accepts bytes again, or no more for now.
    package mutating func upstreamBecameWritable(_ isWritable: Bool) {
        guard state.hasPeer else { return }
        pause(.request, .peerFull, !isWritable)
    }

    /// The recorder has no room, or has room again.
    package mutating func recorderBecameFull(_ isFull: Bool) {
        guard !isOver else { return }
        pause(.request, .recorderFull, isFull)
        pause(.response, .recorderFull, isFull)
    }

    /// Carries out a hook's decision that stops its direction, temporarily or for good.
    mutating func obey(_ verdict: Verdict, _ direction: FlowDirection) {
        switch verdict {
        case .pause(.again(let moment)):
            pause(direction, .paced)
            emit(.wake(at: moment, direction, generation: nextGeneration(direction)))
        case .pause(.decision(let limit)): beginHold(limit, direction)
        case .perform(let work):
            pause(direction, .working)
            emit(.perform(work, direction, generation: nextGeneration(direction)))
        case .refuse(let answer):
            record.state = .blocked
            answerDirectly(answer)
        case .drop:
            record.state = .blocked
            emit(.abortClient(.cancel))
            finish()
        case .fail(let failure): cut(failure)
        case .forward, .respond: break
        }
    }

    /// Numbers the direction's new wait; the ends of earlier waits are then ignored.
    private mutating func nextGeneration(_ direction: FlowDirection) -> Int {
        generation += 1
        self[direction].generation = generation
        return generation
    }

    private func isCurrent(_ generation: Int, _ direction: FlowDirection) -> Bool {
        generation == self[direction].generation
    }

    /// The time of a `wake` has come; a wake of an older generation is ignored.
    package mutating func pauseElapsed(_ direction: FlowDirection, generation: Int, now: NIODeadline) {
        guard !isOver, isCurrent(generation, direction) else { return }
        exchange.now = now
        if let hold = expiringHold(direction, generation: generation) {
            expire(hold)
        } else if self[direction].pauses.contains(.paced) {
            goOn(direction, .paced, .forward)
        }
    }

    /// Ends a direction's wait.
    private mutating func goOn(_ direction: FlowDirection, _ reason: PauseReasons, _ outcome: Verdict) {
        pause(direction, reason, false)
        switch direction {
        case .request:
            request.flow.release(outcome)
            pumpRequest()
        case .response:
            response.flow.release(outcome)
            pumpResponse()
        }
    }

    /// The work of a `perform` is done; ignored if the exchange has continued without it.
    package mutating func workDone(
        _ direction: FlowDirection,
        generation: Int,
        _ outcome: WorkOutcome,
        now: NIODeadline
    ) {
        guard !isOver, isCurrent(generation, direction), self[direction].pauses.contains(.working) else { return }
        exchange.now = now
        exchange.trace.append(contentsOf: outcome.trace)
        goOn(direction, .working, outcome.verdict)
    }

    private mutating func beginHold(_ limit: HoldLimit?, _ direction: FlowDirection) {
        let message: HeldMessage? =
            switch direction {
            case .request: request.flow.held.map { .request($0, body: $1, destination: exchange.destination) }
            case .response: response.flow.held.map { .response($0, body: $1) }
            }
        guard let message else { return }
        holdCount += 1
        let id = HoldID(exchange: record.id, ordinal: holdCount)
        hold = Hold(id: id, direction: direction, limit: limit, stage: exchange.stage)
        record.flags.insert(.held)
        pause(direction, .held)
        // Recorded now, so that users can see the held message and why it is held.
        messages.trace = exchange.trace
        sink.record(.updated(record, messages))
        unrecorded = .nothing
        emit(.hold(id, message, limit))
        if let limit {
            emit(.wake(at: exchange.now + limit.after, direction, generation: nextGeneration(direction)))
        }
    }

    /// The hold that a `wake` would expire. A decision that is already on its way counts first: the owner must check.
    package func expiringHoldID(_ direction: FlowDirection, generation: Int) -> HoldID? {
        expiringHold(direction, generation: generation)?.id
    }

    private func expiringHold(_ direction: FlowDirection, generation: Int) -> Hold? {
        guard let hold, hold.direction == direction, hold.limit != nil else { return nil }
        return isCurrent(generation, direction) ? hold : nil
    }

    /// Applies the limit's resolution, because nobody decided in time.
    private mutating func expire(_ hold: Hold) {
        guard let limit = hold.limit else { return }
        emit(.releaseHold(hold.id))
        let time = ExchangeMachine.text(limit.after)
        let outcome =
            switch limit.resolution {
            case .abort: "aborted"
            case .cancel: "cancelled"
            case .execute: "executed"
            }
        note("no decision within \(time): \(outcome)", as: hold.stage)
        resolve(hold, limit.resolution)
    }

    /// For users: `30 s` or `500 ms`.
    private static func text(_ time: TimeAmount) -> String {
        let milliseconds = time.nanoseconds / 1_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    /// A user decided about a held message. Returns `false` for a late or repeated decision, which is ignored.
    @discardableResult
    package mutating func decided(_ id: HoldID, _ resolution: HoldResolution, now: NIODeadline) -> Bool {
        guard !isOver, let hold, hold.id == id else { return false }
        exchange.now = now
        if case .abort = resolution { note("aborted", as: hold.stage) }
        resolve(hold, resolution)
        return true
    }

    private mutating func resolve(_ hold: Hold, _ resolution: HoldResolution) {
        self.hold = nil
        switch resolution {
        case .abort: return fail(ExchangeFailure(.aborted, "The held message was aborted."), cutClient: true)
        case .cancel: note("sent unedited", as: hold.stage)
        case .execute(let edited): apply(edited, to: hold)
        }
        goOn(hold.direction, .held, .forward)
    }

    /// Withdraws a held message, because the exchange continues without a decision.
    mutating func releaseHold() {
        guard let hold else { return }
        emit(.releaseHold(hold.id))
        self.hold = nil
        pause(hold.direction, .held, false)
    }

    private mutating func apply(_ edited: HeldMessage?, to hold: Hold) {
        switch edited {
        case nil: note("sent unedited", as: hold.stage)
        case .request(let head, let body, let destination):
            let held = request.flow.held.map { HeldMessage.request($0, body: $1, destination: destination) }
            noteEdit("request", held, edited, hold)
            if destination != exchange.destination {
                noteFired("the request goes to \(destination.scheme)://\(destination.authority)", hold)
                exchange.destination = destination
            }
            request.flow.replaceHeld(head: head, body: body)
        case .response(let head, let body):
            noteEdit("response", response.flow.held.map { .response($0, body: $1) }, edited, hold)
            response.flow.replaceHeld(head: head, body: body)
        }
    }

    private mutating func noteEdit(_ what: String, _ held: HeldMessage?, _ edited: HeldMessage?, _ hold: Hold) {
        let changes = edited.flatMap { held?.changes(in: $0) } ?? ""
        noteFired("the \(what) was edited\(changes.isEmpty ? "" : ": \(changes)")", hold)
    }

    private mutating func noteFired(_ text: String, _ hold: Hold) {
        exchange.trace.append(TraceEntry(stage: hold.stage, outcome: .fired, text: text))
    }
}

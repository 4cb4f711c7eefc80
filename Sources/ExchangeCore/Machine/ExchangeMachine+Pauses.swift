import HTTPModel
package import NIOCore

/// Why the legs are not read, and what ends that.
extension ExchangeMachine {
    mutating func pause(_ direction: FlowDirection, _ reason: PauseReasons) {
        switch direction {
        case .request: requestPauses.insert(reason)
        case .response: responsePauses.insert(reason)
        }
    }

    mutating func unpause(_ direction: FlowDirection, _ reason: PauseReasons) {
        switch direction {
        case .request: requestPauses.subtract(reason)
        case .response: responsePauses.subtract(reason)
        }
    }

    private mutating func set(_ direction: FlowDirection, _ reason: PauseReasons, _ isSet: Bool) {
        if isSet { pause(direction, reason) } else { unpause(direction, reason) }
    }

    private func pauses(_ direction: FlowDirection) -> PauseReasons {
        direction == .request ? requestPauses : responsePauses
    }

    /// The client takes bytes again, or takes no more for now.
    package mutating func clientBecameWritable(_ isWritable: Bool) {
        guard !isFinished else { return }
        set(.response, .peerFull, !isWritable)
    }

    /// The server takes bytes again, or takes no more for now.
    package mutating func upstreamBecameWritable(_ isWritable: Bool) {
        guard !isFinished, upstream == .ready || upstream == .answered else { return }
        set(.request, .peerFull, !isWritable)
    }

    /// The recorder has no room, or has room again.
    package mutating func recorderBecameFull(_ isFull: Bool) {
        guard !isFinished else { return }
        set(.request, .recorderFull, isFull)
        set(.response, .recorderFull, isFull)
    }

    // MARK: - Time

    /// A stage holds a message, or paces its bytes.
    mutating func beginPause(_ pause: Pause, _ direction: FlowDirection) {
        switch pause {
        case .until(let moment), .again(at: let moment):
            self.pause(direction, .paced)
            emit(.wake(at: moment, direction, generation: nextGeneration(direction)))
        case .decision(let limit): beginHold(limit, direction)
        }
    }

    /// From here on the direction waits for something else than before.
    private mutating func nextGeneration(_ direction: FlowDirection) -> Int {
        generation += 1
        if direction == .request { requestGeneration = generation } else { responseGeneration = generation }
        return generation
    }

    private func isCurrent(_ generation: Int, _ direction: FlowDirection) -> Bool {
        generation == (direction == .request ? requestGeneration : responseGeneration)
    }

    /// The moment of a `wake` has come.
    ///
    /// One of an older generation is ignored.
    package mutating func pauseElapsed(_ direction: FlowDirection, generation: Int, now: NIODeadline) {
        guard !isFinished, isCurrent(generation, direction) else { return }
        exchange.now = now
        if let hold = expiringHold(direction, generation: generation) {
            expire(hold)
        } else if pauses(direction).contains(.paced) {
            goOn(direction, .paced, .forward)
        }
    }

    /// Lets a direction go on with what it waited for.
    private mutating func goOn(_ direction: FlowDirection, _ reason: PauseReasons, _ outcome: Verdict) {
        unpause(direction, reason)
        switch direction {
        case .request:
            requestFlow.release(outcome)
            pumpRequest()
        case .response:
            responseFlow.release(outcome)
            pumpResponse()
        }
    }

    // MARK: - Work

    /// A stage wants work done that may block.
    mutating func beginWork(_ work: any BlockingWork, _ direction: FlowDirection) {
        pause(direction, .working)
        emit(.perform(work, direction, generation: nextGeneration(direction)))
    }

    /// The work of a `perform` is done.
    ///
    /// One that nobody waits for any more, since the exchange went on without it, is ignored.
    package mutating func workDone(
        _ direction: FlowDirection,
        generation: Int,
        _ outcome: WorkOutcome,
        now: NIODeadline
    ) {
        guard !isFinished, isCurrent(generation, direction), pauses(direction).contains(.working) else { return }
        exchange.now = now
        exchange.trace.append(contentsOf: outcome.trace)
        goOn(direction, .working, outcome.verdict)
    }

    // MARK: - Decisions

    private mutating func beginHold(_ limit: HoldLimit?, _ direction: FlowDirection) {
        let message: HeldMessage?
        switch direction {
        case .request:
            message = requestFlow.held.map { .request($0, body: $1, destination: exchange.destination) }
        case .response: message = responseFlow.held.map { .response($0, body: $1) }
        }
        guard let message else { return }
        holdOrdinal += 1
        let id = HoldID(exchange: record.id, ordinal: holdOrdinal)
        hold = Hold(id: id, direction: direction, limit: limit, stage: exchange.stage)
        record.flags.insert(.held)
        pause(direction, .held)
        emit(.hold(id, message, limit))
        if let limit {
            emit(.wake(at: exchange.now + limit.after, direction, generation: nextGeneration(direction)))
        }
    }

    /// The hold whose limit a `wake` is about.
    ///
    /// Whoever owns the holds has to see first whether a decision is on its way, since that came before.
    package func expiringHoldID(_ direction: FlowDirection, generation: Int) -> HoldID? {
        expiringHold(direction, generation: generation)?.id
    }

    private func expiringHold(_ direction: FlowDirection, generation: Int) -> Hold? {
        guard let hold, hold.direction == direction, hold.limit != nil, isCurrent(generation, direction) else {
            return nil
        }
        return hold
    }

    /// Nobody has decided in time.
    private mutating func expire(_ hold: Hold) {
        guard let limit = hold.limit else { return }
        emit(.releaseHold(hold.id))
        let time = ExchangeMachine.words(limit.after)
        exchange.stage = hold.stage
        switch limit.resolution {
        case .abort: exchange.note("nobody decided within \(time): aborted")
        case .cancel: exchange.note("nobody decided within \(time): cancelled")
        case .execute: exchange.note("nobody decided within \(time): executed")
        }
        resolve(hold, limit.resolution)
    }

    /// A span of time as a user would write it: `30 s` or `500 ms`.
    private static func words(_ time: TimeAmount) -> String {
        let milliseconds = time.nanoseconds / 1_000_000
        return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000) s" : "\(milliseconds) ms"
    }

    /// Somebody decided about a held message.
    ///
    /// A late or repeated decision does nothing; returns whether it counted.
    @discardableResult
    package mutating func decided(_ id: HoldID, _ resolution: HoldResolution, now: NIODeadline) -> Bool {
        guard !isFinished, let hold, hold.id == id else { return false }
        exchange.now = now
        exchange.stage = hold.stage
        if case .abort = resolution { exchange.note("aborted") }
        resolve(hold, resolution)
        return true
    }

    private mutating func resolve(_ hold: Hold, _ resolution: HoldResolution) {
        self.hold = nil
        switch resolution {
        case .abort:
            fail(ExchangeFailure(.aborted, "The held message was aborted."), cutClient: true)
            return
        case .cancel: exchange.note("went on unedited")
        case .execute(let edited): apply(edited)
        }
        goOn(hold.direction, .held, .forward)
    }

    /// Withdraws a message that waits for a decision, because the exchange goes on without it.
    mutating func releaseHold() {
        guard let hold else { return }
        emit(.releaseHold(hold.id))
        self.hold = nil
        unpause(hold.direction, .held)
    }

    private mutating func noteEdit(_ what: String, _ held: HeldMessage?, _ edited: HeldMessage?) {
        let changes = edited.flatMap { held?.changes(in: $0) } ?? ""
        exchange.fired(rule: nil, "the \(what) was edited\(changes.isEmpty ? "" : ": \(changes)")")
    }

    private mutating func apply(_ edited: HeldMessage?) {
        switch edited {
        case nil: exchange.note("went on unedited")
        case .request(let head, let body, let destination):
            noteEdit("request", requestFlow.held.map { .request($0, body: $1, destination: destination) }, edited)
            if destination != exchange.destination {
                exchange.fired(rule: nil, "the request goes to \(destination.scheme)://\(destination.authority)")
                exchange.destination = destination
            }
            requestFlow.replaceHeld(head: head, body: body)
        case .response(let head, let body):
            noteEdit("response", responseFlow.held.map { .response($0, body: $1) }, edited)
            responseFlow.replaceHeld(head: head, body: body)
        }
    }
}

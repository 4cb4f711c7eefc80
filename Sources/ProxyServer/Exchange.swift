import ExchangeCore
import HTTPModel
import NIOCore

/// Carries out what an exchange's machine says: the place where the machine, the client's leg and the server's meet.
///
/// It decides nothing. Each event is passed to the machine, then its effects are taken one by one and done. An effect
/// may at once bring about another event (a pooled connection is ready immediately), so draining is guarded against
/// running inside itself.
final class Exchange {
    private var machine: ExchangeMachine
    private let loop: LoopContext
    private var client: (any ClientLeg)?
    let identity: ClientIdentity
    private var upstream: (any UpstreamLeg)?
    /// What is read in place of a server's response body.
    private var file: AnswerFileReader? { didSet { oldValue?.exchange = nil } }
    private let connector: UpstreamConnector
    /// Whether the client's connection has carried no exchange before.
    private var isFirst = false
    private var nameCheck: NameCheck?
    private var isRunning = false
    /// How many read cycles of the two legs are going on; what is written meanwhile is flushed at their end.
    private var readCycles = 0
    private var clientHasUnflushed = false
    private var upstreamHasUnflushed = false
    private var lastActivity: NIODeadline
    /// What of the response had left when its client was last found to give no room for more.
    private var sentBytes: Int64?

    init(
        machine: consuming ExchangeMachine,
        client: any ClientLeg,
        identity: ClientIdentity,
        loop: LoopContext,
        connector: UpstreamConnector
    ) {
        self.machine = machine
        self.client = client
        self.identity = identity
        self.loop = loop
        self.connector = connector
        lastActivity = loop.eventLoop.now
        loop.add(self)
        isFirst = identity.began(self)
    }

    /// Whose limits it counts against.
    var payer: ClientKey { identity.key }
    var id: ExchangeID { machine.record.id }
    /// The URL that is asked for upstream.
    var sentURL: RequestURL { machine.record.sentURL ?? machine.record.url }
    /// Why it has failed, once it has.
    var failure: ExchangeFailure? { machine.record.failure }
    var isOver: Bool { machine.isOver }
    /// Set where the URL's host is what the client calls the address of its tunnel.
    var claim: NameClaim? { machine.claim }
    var isRequestComplete: Bool { machine.isRequestComplete }
    /// Whether a message of it waits for a decision.
    var isHeld: Bool { machine.requestPauseReasons.union(machine.responsePauseReasons).contains(.held) }
    /// Whether it may be silent for long.
    var isStream: Bool { machine.isStream }
    /// Whether the client waits for 100 (Continue), so that its body may never come.
    var awaitsContinue: Bool { machine.awaitsContinue }

    /// Whether it has to have a connection that no other has used, since it could not be sent again if that one were just being
    /// closed. Clients repeat a request themselves, but not the first one on a connection.
    var needsFreshConnection: Bool { isFirst && !machine.mayBeRepeated }

    /// Whether the client, which speaks HTTP/1, authenticates its connection, so that the server is to be asked in HTTP/1 too:
    /// a stream of HTTP/2 cannot be authenticated so.
    var authenticatesConnection: Bool {
        guard machine.record.clientVersion < .http2, let fields = machine.outgoingHead?.fields else { return false }
        return ConnectionAuthentication.isNamed(in: fields, by: .authorization)
    }

    /// Another adapter takes the client's side: the connection carries raw bytes from here on.
    func hand(over client: any ClientLeg) { self.client = client }

    /// The same for the server's side.
    func hand(over upstream: any UpstreamLeg) {
        self.upstream = upstream
        upstream.exchange = self
    }

    // MARK: - Read cycles

    /// One of the legs has received bytes and is about to report what they mean.
    func readBegan() { readCycles += 1 }

    /// That leg has reported all: what was written meanwhile is sent together.
    func readCompleted() {
        readCycles -= 1
        guard readCycles == 0 else { return }
        machine.readCompleted()
        flush()
    }

    private func flush() {
        if upstreamHasUnflushed {
            upstreamHasUnflushed = false
            upstream?.flush()
        }
        if clientHasUnflushed {
            clientHasUnflushed = false
            client?.flush()
        }
    }

    // MARK: - Events from the client

    func requestHead(_ head: RequestHead, framing: BodyFraming, notes: [String]) {
        run { $0.requestHeadReceived(head, framing: framing, notes: notes, now: now) }
    }

    func requestPart(_ part: ByteBuffer) { run { $0.requestPartReceived(part, now: now) } }

    func requestEnd(trailers: FieldSection?, wireBytes: Int64, isClean: Bool = true) {
        var trailers = trailers
        // No trailer tells who one is (RFC 9110 §6.5.1), and what is meant for a proxy is neither recorded nor sent on.
        trailers?.removeAll(.proxyAuthorization)
        run { $0.requestEndReceived(trailers: trailers, wireBytes: wireBytes, isClean: isClean, now: now) }
    }

    func clientGone(_ resetCode: HTTP2ErrorCode? = nil) { run { $0.clientGone(resetCode: resetCode, now: now) } }
    func clientBecameWritable(_ isWritable: Bool) { run { $0.clientBecameWritable(isWritable) } }
    func note(_ text: String) { machine.note(text) }
    func tunnelIsRead() { run { $0.tunnelIsRead(now: now) } }

    func tunnelIsTLS(_ note: String) { machine.tunnelIsTLS(note) }

    // MARK: - Events from the server

    func upstreamReady(_ leg: any UpstreamLeg) {
        guard !machine.isOver else { return leg.release() }
        hand(over: leg)
        run { $0.upstreamReady(leg.facts, now: now) }
    }

    /// No connection to the server came about; so many microseconds did its phases take that were begun. `proxy` is the
    /// connection to a proxy that opened no way to it.
    func upstreamNotReached(
        dns: Int64?,
        connect: Int64? = nil,
        tls: Int64? = nil,
        proxy: (connection: ConnectionID, address: String)? = nil
    ) {
        machine.upstreamNotReached(dns: dns, connect: connect, tls: tls, proxy: proxy, now: now)
    }

    func upstreamFailed(_ failure: ExchangeFailure) { run { $0.upstreamFailed(failure, now: now) } }
    func interim(_ head: ResponseHead) { run { $0.interimReceived(head, now: now) } }

    func responseHead(_ head: ResponseHead, framing: BodyFraming, notes: [String]) {
        run { $0.responseHeadReceived(head, framing: framing, notes: notes, now: now) }
    }

    func responsePart(_ part: ByteBuffer) { run { $0.responsePartReceived(part, now: now) } }

    func responseEnd(trailers: FieldSection?, wireBytes: Int64, isClean: Bool) {
        run { $0.responseEndReceived(trailers: trailers, wireBytes: wireBytes, isClean: isClean, now: now) }
    }

    func upstreamClosed(_ failure: ExchangeFailure, wasProcessed: Bool = true) {
        forgetUpstream()
        run { $0.upstreamClosed(failure, wasProcessed: wasProcessed, now: now) }
    }

    func upstreamQueued() { run { $0.upstreamQueued(now: now) } }
    func upstreamBecameWritable(_ isWritable: Bool) { run { $0.upstreamBecameWritable(isWritable) } }

    /// The server has closed its connection after a whole response; what the client still sends goes nowhere.
    func upstreamInputEnded() {
        forgetUpstream()
        upstreamBecameWritable(true)
    }

    private func forgetUpstream() {
        upstream?.exchange = nil
        upstream = nil
        file = nil
    }

    // MARK: - Other events

    func recorderBecameFull(_ isFull: Bool) { run { $0.recorderBecameFull(isFull) } }

    /// It is now known which process the client is.
    func clientIdentified(_ process: ClientProcess) { run { $0.clientIdentified(process) } }

    func interrupt(_ failure: ExchangeFailure) { run { $0.interrupted(failure, now: now) } }

    func enforceTimeout(now: NIODeadline) {
        if let silence = silence(now: now) {
            let limit = loop.configuration.timeouts.tunnel
            guard silence > limit else { return }
            let text = "Nothing came through the tunnel, in either direction, for \(limit.inWords)."
            let hint = "So Sluice closed it; a longer limit can be given with --tunnel-timeout."
            return interrupt(ExchangeFailure(.timeout, text, hint: hint))
        }
        let ownLimit = machine.awaitsResponse ? loop.configuration.timeouts.response : nil
        let limit = ownLimit ?? loop.configuration.timeouts.idle
        // A message that somebody holds, or that is paced, is not a sign of a silent peer; nor is a quiet tunnel or
        // stream.
        guard !isHeldUp, machine.record.kind == .http,
            !machine.isStream
        else { return }
        if machine.responsePauseReasons.contains(.peerFull) {
            // Over HTTP/1 that is watched with the connection, which knows whether bytes still leave.
            if machine.clientTakesResets { endStall(limit, now: now) }
            return
        }
        guard now - lastActivity > limit else { return }
        let (code, what): (ExchangeFailure.Code, String) =
            machine.isRequestComplete
            ? (.timeout, awaited) : (.clientTimeout, "the rest of the request")
        let headSize = machine.isRequestComplete ? upstream?.partialHeadSize ?? 0 : 0
        let text =
            headSize > 0
            ? "The response's head was not complete within \(limit.inWords): \(headSize) byte\(headSize == 1 ? "" : "s") of it "
                + "had come from \(what)."
            : "Nothing happened for \(limit.inWords) while waiting for \(what)."
        let option = ownLimit == nil ? "--idle-timeout" : "--response-timeout"
        interrupt(ExchangeFailure(code, text, hint: "A longer limit can be given with \(option)."))
    }

    /// Ends an exchange of which the client takes nothing: after a shorter time where requests wait for its stream of the
    /// server.
    private func endStall(_ limit: TimeAmount, now: NIODeadline) {
        let sent = client?.sentBytesOfBlocked
        if sent != sentBytes { (sentBytes, lastActivity) = (sent, now) }
        let limitForOthers = loop.configuration.timeouts.streamForOthers
        if now - lastActivity > limit {
            interrupt(.stalledClient(limit))
        } else if now - lastActivity > limitForOthers, upstream?.givesWay() == true {
            interrupt(.stalledClient(waitedFor: limitForOthers))
        }
    }

    /// Who is to answer, in words.
    private var awaited: String {
        let authority = machine.record.url.authority
        guard let proxy = connector.readingProxy else { return "the server \(authority)" }
        return "the upstream proxy \(proxy), asked for \(authority)"
    }

    /// Whether something of ours holds it up: a hold, a pace, the recorder, or work on another thread.
    private var isHeldUp: Bool {
        !machine.requestPauseReasons.union(machine.responsePauseReasons)
            .isDisjoint(with: [.held, .paced, .recorderFull, .working])
    }

    /// How long nothing has come through, where this is a tunnel that is not read and that nothing of ours holds up.
    func silence(now: NIODeadline) -> TimeAmount? {
        guard machine.record.kind == .tunnel || machine.record.kind == .decryptedTunnel, !isHeldUp else { return nil }
        return now - lastActivity
    }

    /// Whether this is a tunnel that is open, and through which nothing has come.
    var isUnusedTunnel: Bool {
        machine.isTunnel && machine.record.sizes.requestBody == 0 && machine.record.sizes.responseBody == 0
    }

    /// How long it has waited for its client alone: for the rest of a request that nobody holds, while no response is
    /// coming, or for a client of HTTP/2 to give room for more of the response; and for anything at all in a tunnel through which
    /// nothing has come. `nil` where it waits for something else.
    func stall(now: NIODeadline) -> TimeAmount? {
        guard !isHeldUp, !machine.isStream else { return nil }
        guard machine.record.kind == .http else { return isUnusedTunnel ? silence(now: now) : nil }
        let isAwaited = !machine.isRequestComplete && !machine.isResponding && !machine.awaitsContinue
        return isAwaited || machine.responsePauseReasons.contains(.peerFull) ? now - lastActivity : nil
    }

    private var now: NIODeadline {
        lastActivity = loop.eventLoop.now
        return lastActivity
    }

    // MARK: - Effects

    /// Gives the machine an event, and carries out what follows from it.
    private func run(_ event: (inout ExchangeMachine) -> Void) {
        event(&machine)
        run()
    }

    private func run() {
        guard !isRunning else { return }
        isRunning = true
        while let effect = machine.nextEffect() { perform(effect) }
        isRunning = false
        if machine.isOver {
            finish()
        } else if readCycles == 0 {
            machine.readCompleted()
            flush()
        }
    }

    private func perform(_ effect: ExchangeEffect) {
        switch effect {
        case .connect(let destination, let fresh):
            connector.connect(to: destination, for: self, fresh: fresh)
        case .sendRequestHead(let head, let framing):
            guard let upstream else { return }
            machine.requestHeadWritten(upstream.sendRequestHead(head, framing))
            upstreamHasUnflushed = true
        case .sendRequestPart(let part):
            upstream?.sendRequestPart(part)
            upstreamHasUnflushed = true
        case .sendRequestEnd(let trailers):
            upstream?.sendRequestEnd(trailers)
            upstreamHasUnflushed = true
        case .sendInterim(let head):
            client?.sendInterim(head)
            clientHasUnflushed = true
        case .sendResponseHead(let head, let framing):
            guard let client else { return }
            let written = client.sendResponseHead(head, framing, requestIsOpen: !machine.isRequestComplete)
            machine.responseHeadWritten(written)
            clientHasUnflushed = true
        case .sendResponsePart(let part):
            client?.sendResponsePart(part)
            clientHasUnflushed = true
        case .sendResponseEnd(let trailers):
            client?.sendResponseEnd(trailers)
            clientHasUnflushed = true
        case .withholdCloseNotify(.request): upstream?.withholdCloseNotify()
        case .withholdCloseNotify(.response): client?.withholdCloseNotify()
        case .becomeTunnel:
            upstream?.becomeTunnel()
            client?.becomeTunnel()
        case .readClient(let isReading): client?.setReading(isReading)
        case .readUpstream(let isReading):
            if let file { file.isReading = isReading } else { upstream?.setReading(isReading) }
        case .wake(let moment, let direction, let generation): wake(at: moment, direction, generation)
        case .hold(let id, let message, let limit): hold(id, message, limit)
        case .releaseHold(let id): loop.shared.holds.remove(id)
        case .lookUp(let name, let address):
            nameCheck = NameCheck(name, address, for: identity.key, loop: loop) { [self] isVerified in
                nameCheck = nil
                run { $0.nameLookedUp(isVerified: isVerified, now: now) }
            }
        case .perform(let work, let direction, let generation): begin(work, direction, generation)
        case .performAfterwards(let work): loop.performAfterwards(work)
        case .readFile(let file):
            upstream?.release()
            forgetUpstream()
            self.file = AnswerFileReader(file, for: self, loop: loop)
        case .boundClientBuffer: client?.limitReceiveBuffer()
        case .abandonUpstream(let code):
            connector.cancel()
            upstreamHasUnflushed = false
            upstream?.abandon(code)
            forgetUpstream()
        case .abortClient(let code):
            // What came before is the client's, whatever comes after.
            if clientHasUnflushed { client?.flush() }
            clientHasUnflushed = false
            client?.abort(code)
        case .finished: machine.effectsFinished()
        }
    }

    private func wake(at moment: NIODeadline, _ direction: FlowDirection, _ generation: Int) {
        // Weakly, since the limit of a hold that is long over may be far away.
        loop.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [weak self] in
            self?.elapsed(direction, generation)
        }
    }

    private func elapsed(_ direction: FlowDirection, _ generation: Int) {
        // A hold that is not on the board any more was decided about, and the decision is on its way here.
        if let id = machine.expiringHoldID(direction, generation: generation), !loop.shared.holds.remove(id) { return }
        run { $0.pauseElapsed(direction, generation: generation, now: now) }
    }

    private func begin(_ work: any BlockingWork, _ direction: FlowDirection, _ generation: Int) {
        loop.offload(isHeavy: work.isHeavy) {
            work.run()
        } then: { [self] result in
            let stopped = WorkOutcome(.fail(ExchangeFailure(.stopped, "Sluice is stopping.")))
            run { $0.workDone(direction, generation: generation, (try? result.get()) ?? stopped, now: now) }
        }
    }

    private func hold(_ id: HoldID, _ message: HeldMessage, _ limit: HoldLimit?) {
        let bound = NIOLoopBound(self, eventLoop: loop.eventLoop)
        let entrance = loop.entrance
        let held = HoldBoard.Held(
            id: id,
            message: message,
            url: machine.record.url,
            method: machine.record.method,
            since: now,
            limit: limit
        ) { resolution in
            entrance.execute { bound.value.decided(id, resolution) }
        }
        loop.shared.holds.add(held)
    }

    private func decided(_ id: HoldID, _ resolution: HoldResolution) { run { $0.decided(id, resolution, now: now) } }

    private func finish() {
        guard let client else { return }
        flush()
        self.client = nil
        nameCheck?.cancel()
        nameCheck = nil
        loop.remove(self)
        identity.ended(self)
        upstream?.release()
        forgetUpstream()
        client.exchangeFinished()
    }
}

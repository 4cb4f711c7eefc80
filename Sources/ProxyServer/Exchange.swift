import ExchangeCore
import HTTPModel
import NIOCore

/// Connects an exchange's machine with its legs: passes each event to the machine, then carries out the effects one by
/// one. An event that an effect causes waits until that effect is done.
final class Exchange {
    private var machine: ExchangeMachine
    private let loop: LoopContext
    private var client: (any ClientLeg)?
    let identity: ClientIdentity
    private var upstream: (any UpstreamLeg)?
    private var file: AnswerFileReader? { didSet { oldValue?.exchange = nil } }
    private let connector: UpstreamConnector
    private var isFirst = false
    private var nameCheck: NameCheck?
    private var isRunning = false
    /// Read cycles of the two legs in progress; writes are flushed at their end.
    private var readCycles = 0
    private var clientHasUnflushed = false
    private var upstreamHasUnflushed = false
    private var lastActivity: NIODeadline
    /// The sent bytes of the response when its client was last found blocked.
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

    var payer: ClientKey { identity.key }
    var id: ExchangeID { machine.record.id }
    var sentURL: RequestURL { machine.record.sentURL ?? machine.record.url }
    var failure: ExchangeFailure? { machine.record.failure }
    var isOver: Bool { machine.isOver }
    /// Set if the client requested its tunnel by address, and only the client names the URL's host.
    var claim: NameClaim? { machine.claim }
    var isRequestComplete: Bool { machine.isRequestComplete }
    var isHeld: Bool { machine.requestPauseReasons.union(machine.responsePauseReasons).contains(.held) }
    var isStream: Bool { machine.isStream }
    /// Whether the client waits for 100 (Continue), so that its body may never come.
    var awaitsContinue: Bool { machine.awaitsContinue }

    /// Whether the exchange needs a connection without earlier exchanges: a pooled one may just be closing, and this
    /// request cannot be repeated. Clients themselves repeat a request, but not the first one on a connection.
    var needsFreshConnection: Bool { isFirst && !machine.mayBeRepeated }

    /// Whether the client authenticates its HTTP/1 connection (NTLM, Negotiate): HTTP/2 streams cannot, so the request
    /// is sent in HTTP/1.
    var authenticatesConnection: Bool {
        guard machine.record.clientVersion < .http2, let fields = machine.outgoingHead?.fields else { return false }
        return ConnectionAuthentication.isNamed(in: fields, by: .authorization)
    }

    /// Sets the leg that carries raw bytes from here on.
    func hand(over client: any ClientLeg) { self.client = client }

    func hand(over upstream: any UpstreamLeg) {
        self.upstream = upstream
        upstream.exchange = self
    }

    // MARK: - Read cycles

    /// One of the legs has received bytes and is about to report events.
    func readBegan() { readCycles += 1 }

    /// The leg has reported all events: writes are sent together.
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
        // Trailers do not authenticate (RFC 9110 §6.5.1), and fields for a proxy are neither recorded nor sent on.
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

    /// Times are in microseconds; `proxy` is the connection to the upstream proxy, if it was established.
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

    /// The server has closed its connection after a complete response; further bytes of the client are dropped.
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

    func clientIdentified(_ process: ClientProcess) { run { $0.clientIdentified(process) } }

    func interrupt(_ failure: ExchangeFailure) { run { $0.interrupted(failure, now: now) } }

    func enforceTimeout(now: NIODeadline) {
        if let silence = silence(now: now) {
            let limit = loop.configuration.timeouts.tunnel
            guard silence > limit else { return }
            let text = "No bytes passed through the tunnel, in either direction, for \(limit.inWords)."
            let hint = "Sluice closed it; --tunnel-timeout sets a longer limit."
            return interrupt(ExchangeFailure(.timeout, text, hint: hint))
        }
        let ownLimit = machine.awaitsResponse ? loop.configuration.timeouts.response : nil
        let limit = ownLimit ?? loop.configuration.timeouts.idle
        // A held or paced message is not a sign of a silent peer; nor is a quiet tunnel or stream.
        guard !isHeldUp, machine.record.kind == .http, !machine.isStream else { return }
        if machine.responsePauseReasons.contains(.peerFull) {
            // For HTTP/1 the connection watches this, because it knows whether bytes still leave.
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
        interrupt(ExchangeFailure(code, text, hint: "\(option) sets a longer limit."))
    }

    /// Ends an exchange whose client reads nothing; sooner if other requests wait for a stream to the same server.
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

    private var awaited: String {
        let authority = machine.record.url.authority
        guard let proxy = connector.readingProxy else { return "the server \(authority)" }
        return "the upstream proxy \(proxy), asked for \(authority)"
    }

    /// Whether Sluice itself delays the exchange: a hold, a pace, the recorder, or work on another thread.
    private var isHeldUp: Bool {
        !machine.requestPauseReasons.union(machine.responsePauseReasons)
            .isDisjoint(with: [.held, .paced, .recorderFull, .working])
    }

    /// How long no bytes have passed through an unread tunnel; `nil` if this is not a tunnel, or Sluice delays it.
    func silence(now: NIODeadline) -> TimeAmount? {
        guard machine.record.kind == .tunnel || machine.record.kind == .decryptedTunnel, !isHeldUp else { return nil }
        return now - lastActivity
    }

    /// Whether this is an open tunnel without any bytes so far.
    var isUnusedTunnel: Bool {
        machine.isTunnel && machine.record.sizes.requestBody == 0 && machine.record.sizes.responseBody == 0
    }

    /// How long the exchange has waited for its client alone: to send the rest of a request before any response, to
    /// read a response, or to send any byte in an unused tunnel; `nil` if it does not wait.
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
        case .connect(let destination, let fresh): connector.connect(to: destination, for: self, fresh: fresh)
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
            // The earlier writes are for this client, whatever the next effects change.
            if clientHasUnflushed { client?.flush() }
            clientHasUnflushed = false
            client?.abort(code)
        case .finished: machine.effectsFinished()
        }
    }

    private func wake(at moment: NIODeadline, _ direction: FlowDirection, _ generation: Int) {
        // Weakly, because a hold may end long before its limit.
        loop.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [weak self] in
            self?.elapsed(direction, generation)
        }
    }

    private func elapsed(_ direction: FlowDirection, _ generation: Int) {
        // A hold that is not on the board any more was decided, and the decision is on its way.
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

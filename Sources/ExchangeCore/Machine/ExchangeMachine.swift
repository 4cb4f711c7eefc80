import DequeModule
package import HTTPModel
package import NIOCore

/// What happens to one exchange: the chain of stages, the pauses, the taps, and what both legs have to do.
///
/// Events come in, named in the past tense; effects go out, taken one by one with `nextEffect`. The machine has no
/// sockets and no clock: every event brings the present moment with it. It does not know the version of HTTP.
///
/// ```
/// request:  received ─ tap A ─ chain ─ connect? ─ tap B ─ sent        response: the same, the other way
/// ```
///
/// Three states say how far it is (`ExchangeState.swift`): where the response comes from, how much of the request has
/// come, and how much of the response the client got. A fourth is what each `Half` waits for.
package struct ExchangeMachine: ~Copyable {
    package internal(set) var record: ExchangeRecord
    package internal(set) var messages = ExchangeMessages()
    var exchange: StageExchange

    let chain: StageChain
    let sink: any RecordSink
    let clientAddress: String
    let openedAt: NIODeadline
    /// The destination before any stage changed it.
    let originalDestination: Destination
    /// Whether the client can be sent a reset of just this exchange, and its code.
    package let clientTakesResets: Bool

    var state = State.relaying(.none)
    var requestState = RequestState.receiving
    var responseState: ResponseState
    var continuation = Continuation.notAwaited
    var request: Half<RequestHead>
    var response: Half<ResponseHead>
    var links: [ChainLink] = []
    private var effects = Deque<ExchangeEffect>()

    /// The request's head as received, if the stages saw its cookies joined.
    var crumbledHead: RequestHead?
    var outgoing: OutgoingRequest?
    /// Whether the stages wait until the client's name for an address was looked up.
    var awaitsName = false
    var hold: Hold?
    var holdCount = 0
    /// Numbers wakes and works.
    var generation = 0
    var marks = Marks()
    var unrecorded = Unrecorded.nothing
    /// When the size of a body was last recorded before its end; `nil` before its first bytes.
    var progressAt: NIODeadline?
    /// The account of the client's connection, and the share of this exchange's heads.
    let heads: HeadAccount
    var headSize = 0
    /// Whether further interim responses are dropped.
    var dropsInterims = false

    struct Hold {
        let id: HoldID
        let direction: FlowDirection
        let limit: HoldLimit?
        let stage: String
    }

    /// Times of events, on the event loop's clock.
    struct Marks {
        var connectAsked: NIODeadline?
        var ready: NIODeadline?
        var requestSent: NIODeadline?
        var responseBegan: NIODeadline?
        var responseEnded: NIODeadline?
        /// When the client's input in a tunnel ended.
        var tunnelInputEnded: NIODeadline?
    }

    /// `destination` is where the request goes unless a stage says otherwise; `clientAddress` is of the form `host:port`;
    /// `tunnelEstablished` is for a tunnel whose CONNECT was answered already; `heads` is the account of the client's connection;
    /// `claim` is set where the URL's host is what the client calls the address of its tunnel.
    package init(
        record: ExchangeRecord,
        destination: Destination,
        clientAddress: String,
        chain: StageChain,
        sink: any RecordSink,
        tunnelEstablished: Bool = false,
        clientTakesResets: Bool = false,
        client: ClientKey = .unknown,
        heads: HeadAccount? = nil,
        bodyBudget: ByteBudget = .bodies,
        claim: NameClaim? = nil,
        now: NIODeadline
    ) {
        self.record = record
        self.chain = chain
        self.sink = sink
        self.clientAddress = clientAddress
        openedAt = now
        self.clientTakesResets = clientTakesResets
        // A client that has the 200 to its CONNECT can be given no other answer.
        responseState = tunnelEstablished ? .sending(.unknown) : .none
        originalDestination = destination
        request = Half(budget: bodyBudget)
        response = Half(budget: bodyBudget)
        let (id, url) = (record.id, record.url)
        exchange = StageExchange(id: id, url: url, destination: destination, client: client, claim: claim, now: now)
        self.heads = heads ?? HeadAccount { client }
    }

    /// The next thing to do, in order; `nil` when there is nothing at present. Reading is settled last: a pause that was
    /// begun and ended by the same event makes no effect.
    package mutating func nextEffect() -> ExchangeEffect? {
        if let effect = effects.popFirst() { return effect }
        guard !isOver else { return nil }
        if let isReading = request.reading.takeChange() { return .readClient(isReading) }
        if state.hasSource, let isReading = response.reading.takeChange() { return .readUpstream(isReading) }
        return nil
    }

    /// The client's process was found; it is recorded at once, since the exchange may last long or be over.
    package mutating func clientIdentified(_ process: ClientProcess) {
        guard record.extras.process == nil else { return }
        record.extras.process = process
        exchange.client = .process(process.id)
        guard !isOver else { return sink.record(.identified(record.id, process)) }
        // Before its head it is not recorded, and then with all of this.
        if messages.requestHead != nil { unrecorded = .news }
    }

    /// The effects up to `finished` are done, which added the last facts (tap B): the record is complete.
    package mutating func effectsFinished() { sink.record(.finished(record, messages)) }

    mutating func emit(_ effect: ExchangeEffect) { effects.append(effect) }

    /// Adds Sluice's own note to the trace.
    package mutating func note(_ text: String) { note(text, as: "sluice") }

    mutating func note(_ text: String, as author: String) {
        exchange.trace.append(TraceEntry(stage: author, outcome: .note, text: text))
    }

    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Whether a server has been sent the whole request, and has not begun its response.
    package var awaitsResponse: Bool {
        guard case .relaying(.asked) = state else { return false }
        return marks.requestSent != nil
    }

    package var isResponding: Bool { responseState != .none && responseState != .ended }

    /// Set where the URL's host is what the client calls the address of its tunnel.
    package var claim: NameClaim? { exchange.claim }

    package var isTunnel: Bool { state.isTunnel }

    package var isRequestComplete: Bool {
        switch requestState {
        case .receiving: false
        case .ended: true
        case .discarding(let isWhole): isWhole
        }
    }

    /// Whether the client waits for 100 (Continue) before it sends a body (RFC 9110 §10.1.1).
    package var awaitsContinue: Bool { continuation == .awaited }

    /// Why the client is not read.
    package var requestPauseReasons: PauseReasons { request.reading.pauses }

    /// Why the server is not read.
    package var responsePauseReasons: PauseReasons { response.reading.pauses }
}

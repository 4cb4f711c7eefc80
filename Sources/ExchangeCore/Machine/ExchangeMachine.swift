import DequeModule
package import HTTPModel
package import NIOCore

/// The state of one exchange: the chain of stages, the pauses, the taps, and the work of both connections.
///
/// Callers report events, named in the past tense, and then take the effects one by one with `nextEffect`. The machine
/// has no sockets and no clock: every event brings the current time. It does not depend on the version of HTTP.
///
/// ```
/// request:  received ─ tap A ─ chain ─ connect? ─ tap B ─ sent    response: the same, the other way
/// ```
///
/// Three states describe the progress (`ExchangeState.swift`): where the response comes from, how much of the request
/// has arrived, and how much of the response the client got. In addition each `Half` has the reasons why it waits.
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
    /// Whether Sluice can reset just this exchange, with a code, on the client's connection.
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
    /// Whether the stages wait until the client's name for its tunnel's address was looked up.
    var awaitsName = false
    var hold: Hold?
    var holdCount = 0
    /// The number of the last wake or work.
    var generation = 0
    var marks = Marks()
    var unrecorded = Unrecorded.nothing
    /// When the size of a body was last recorded before its end; `nil` before its first bytes.
    var progressAt: NIODeadline?
    /// Counts the heads on the client's connection; `headSize` is the part of this exchange.
    let heads: HeadAccount
    var headSize = 0
    /// Whether further interim responses are dropped.
    var dropsInterims = false
    /// Set if a rule ends its answer early; `after` counts down.
    var ending: AnswerEnd?
    /// When an answer that was ended early is cut.
    var silentUntil: NIODeadline?

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

    /// `destination` is where the request goes unless a stage changes it; `clientAddress` has the form `host:port`;
    /// `tunnelEstablished` is `true` if a tunnel's CONNECT was already answered; `heads` counts the heads on the
    /// client's connection; `claim` is set if the URL's host is the client's name for the address of its tunnel;
    /// `awaitsProcess` says that the client's program is being looked up.
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
        awaitsProcess: Bool = false,
        now: NIODeadline
    ) {
        self.record = record
        self.chain = chain
        self.sink = sink
        self.clientAddress = clientAddress
        openedAt = now
        self.clientTakesResets = clientTakesResets
        // After the 200 to its CONNECT a client can get no other answer.
        responseState = tunnelEstablished ? .sending(.unknown) : .none
        originalDestination = destination
        request = Half(budget: bodyBudget)
        response = Half(budget: bodyBudget)
        let (id, url) = (record.id, record.url)
        exchange = StageExchange(id: id, url: url, destination: destination, client: client, claim: claim, now: now)
        exchange.awaitsProcess = awaitsProcess
        self.heads = heads ?? HeadAccount { client }
    }

    /// The next effect, in order; `nil` if nothing is to be done at present. Changes of reading come last, so that a
    /// pause that begins and ends in the same event has no effect.
    package mutating func nextEffect() -> ExchangeEffect? {
        if let effect = effects.popFirst() { return effect }
        guard !isOver else { return nil }
        if let isReading = request.reading.takeChange() { return .readClient(isReading) }
        if state.hasSource, let isReading = response.reading.takeChange() { return .readUpstream(isReading) }
        return nil
    }

    /// The client's process was found. It is recorded at once, because the exchange may last long or be over.
    package mutating func clientIdentified(_ process: ClientProcess) {
        guard record.extras.process == nil else { return }
        record.extras.process = process
        exchange.client = .process(process.id)
        exchange.process = process
        guard !isOver else { return sink.record(.identified(record.id, process)) }
        // Before the head nothing is recorded; the record of the head will have the process.
        if messages.requestHead != nil { unrecorded = .news }
    }

    /// The effects up to `finished` are done. They added the last facts (tap B), so the record is complete.
    package mutating func effectsFinished() { sink.record(.finished(record, messages)) }

    mutating func emit(_ effect: ExchangeEffect) { effects.append(effect) }

    /// Adds Sluice's own note to the trace.
    package mutating func note(_ text: String) { note(text, as: "sluice") }

    mutating func note(_ text: String, as author: String) {
        exchange.trace.append(TraceEntry(stage: author, outcome: .note, text: text))
    }

    package var isOver: Bool { if case .over = state { true } else { false } }

    /// Whether the whole request was sent to a server, and no response has begun.
    package var awaitsResponse: Bool {
        guard case .relaying(.asked) = state else { return false }
        return marks.requestSent != nil
    }

    package var isResponding: Bool { responseState != .none && responseState != .ended }

    /// Set if the URL's host is the client's name for the address of its tunnel.
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

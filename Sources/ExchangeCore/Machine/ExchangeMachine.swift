import DequeModule
package import HTTPModel
package import NIOCore

/// What happens to one exchange: the chain of stages, the pauses, the taps, and what both legs are told to do.
///
/// Events come in, named in the past tense; effects go out, taken one by one with `nextEffect`. The machine has no
/// sockets and no clock: every event brings the present moment with it. It does not know the version of HTTP.
///
/// ```
/// request:  received ─ tap A ─ chain ─ connect? ─ tap B ─ sent        response: the same, the other way
/// upstream: none → connecting → ready → answered → done
package struct ExchangeMachine: ~Copyable {
    enum Upstream {
        /// Nothing was asked of a server yet, or nothing will be.
        case none
        /// A connection was asked for.
        case connecting
        /// The request is being sent, or the response awaited or received.
        case ready
        /// The response is whole, but some of the request is still to be sent.
        case answered
        /// Nothing more goes to a server or comes from one.
        case done
    }

    enum RequestState {
        /// Parts are still to come.
        case receiving
        /// The client has sent it whole.
        case ended
    }

    enum ResponseState {
        /// The client has been told nothing but interim responses.
        case none
        /// The client has the head.
        case sending
        /// The client has all of it.
        case ended
    }

    /// The narrow row as it stands.
    package internal(set) var record: ExchangeRecord
    /// Heads and trailers as they stand.
    package internal(set) var messages = ExchangeMessages()
    var exchange: StageExchange

    let chain: StageChain
    let sink: any RecordSink
    let clientAddress: String
    let openedAt: NIODeadline
    /// Where the request goes if no stage changes that.
    let originalDestination: Destination
    var links: [ChainLink] = []

    var requestFlow: MessageFlow<RequestHead>
    var responseFlow: MessageFlow<ResponseHead>
    var requestPauses: PauseReasons = []
    var responsePauses: PauseReasons = []
    /// What the adapters were last told about reading.
    private var readsClient = true
    var readsUpstream = true
    private var effects = Deque<ExchangeEffect>()

    var upstream = Upstream.none
    var requestState = RequestState.receiving
    var responseState: ResponseState
    var isFinished = false
    var isTunnel = false
    /// The CONNECT was answered before the exchange began.
    let isTunnelEstablished: Bool
    /// Whether the client can be told that just this exchange was reset, and why.
    let clientTakesResets: Bool
    /// Whether body bytes go to the recorder; off for tunnelled TLS, which nobody can read.
    var recordsBodies = true
    /// A tunnel's bytes from the client ended without TLS close_notify.
    var requestLacksCloseNotify = false
    /// Request parts go nowhere: it was answered locally, or the server is gone.
    var discardsRequest = false
    /// The server switches protocols; the client does not know yet.
    var isUpgrading = false
    var answer: LocalAnswer?
    /// The method as sent; `record.method` is the one the client sent.
    var method: String
    /// The request's head as received, where the stages saw its cookies joined.
    var crumbledHead: RequestHead?
    /// Whether the client knows interim responses (RFC 9110 §15.2).
    var takesInterim = true
    /// The client was told to continue before the server was asked.
    var saidContinue = false
    /// The client's response must not have a body, whatever the server or a stage sends.
    var dropsResponseBody = false
    /// How many bytes of the response's body the client is still to be given; `nil` where nobody knows.
    var responseLeft: Int64?
    var outgoing: OutgoingRequest?
    var holdOrdinal = 0
    var hold: Hold?
    /// Counts the wakes and works; each direction waits for one at a time.
    var generation = 0
    var requestGeneration = 0
    var responseGeneration = 0
    /// What a file that is being read takes the place of; `nil` where none is.
    var fileRole: FileRole?
    /// Whether the client's leg was told that its bytes are paced.
    var hasBoundClientBuffer = false
    var marks = Marks()
    var interimCount = 0
    /// Whether more is known than the recorder was told.
    var hasNews = false
    /// Whether a stream carried more than the recorder was told.
    var hasProgress = false
    /// The two bodies, where they are streams whose messages are counted and timed.
    var requestStream: StreamTap?
    var responseStream: StreamTap?
    /// Whether the client waits for 100 (Continue) before it sends a body (RFC 9110 §10.1.1).
    package internal(set) var awaitsContinue = false

    /// A message that waits for a decision.
    struct Hold {
        let id: HoldID
        let direction: FlowDirection
        let limit: HoldLimit?
        /// The stage that holds it, which notes about the decision name.
        let stage: String
    }

    /// When what happened, on the event loop's clock.
    struct Marks {
        var connectAsked: NIODeadline?
        var ready: NIODeadline?
        var requestSent: NIODeadline?
        var responseBegan: NIODeadline?
        var responseEnded: NIODeadline?
    }

    /// Creates the machine of an exchange.
    ///
    /// - Parameters:
    ///   - record: the row as far as it is known.
    ///   - destination: where the request goes unless a stage says otherwise.
    ///   - clientAddress: where the client connects from, as `host:port`.
    ///   - chain: the stages in force.
    ///   - sink: where the taps put what they see.
    ///   - tunnelEstablished: for a tunnel whose CONNECT was answered already.
    ///   - clientTakesResets: whether the client can be told that just this exchange was reset, and why.
    ///   - bodyBudget: what gathered and held bodies may take in all.
    ///   - now: the present moment.
    package init(
        record: ExchangeRecord,
        destination: Destination,
        clientAddress: String,
        chain: StageChain,
        sink: any RecordSink,
        tunnelEstablished: Bool = false,
        clientTakesResets: Bool = false,
        bodyBudget: BodyBudget = .shared,
        now: NIODeadline
    ) {
        self.record = record
        self.chain = chain
        self.sink = sink
        self.clientAddress = clientAddress
        openedAt = now
        method = record.method
        isTunnelEstablished = tunnelEstablished
        self.clientTakesResets = clientTakesResets
        // Whoever has the 200 to a CONNECT can be given no other answer.
        responseState = tunnelEstablished ? .sending : .none
        originalDestination = destination
        requestFlow = MessageFlow(budget: bodyBudget)
        responseFlow = MessageFlow(budget: bodyBudget)
        exchange = StageExchange(id: record.id, url: record.url, destination: destination, now: now)
    }

    /// The next thing to do, in order; `nil` when there is nothing at present.
    ///
    /// Reading is settled last: a pause that was begun and ended by the same event is never mentioned. The recorder is
    /// told of the end when `finished` is taken, since the effects before it may still add to what is known (tap B).
    package mutating func nextEffect() -> ExchangeEffect? {
        if let effect = effects.popFirst() {
            if case .finished = effect { sink.record(.finished(record, messages)) }
            return effect
        }
        guard !isFinished else { return nil }
        if readsClient != requestPauses.isEmpty {
            readsClient.toggle()
            return .readClient(readsClient)
        }
        if upstream == .ready, readsUpstream != responsePauses.isEmpty {
            readsUpstream.toggle()
            return .readUpstream(readsUpstream)
        }
        return nil
    }

    mutating func emit(_ effect: ExchangeEffect) {
        effects.append(effect)
    }

    package var isOver: Bool { isFinished }

    /// Whether the client has sent its request whole.
    package var isRequestComplete: Bool { requestState == .ended }

    /// Why the client is not read from; empty while it is.
    package var requestPauseReasons: PauseReasons { requestPauses }

    /// Why the server is not read from; empty while it is.
    package var responsePauseReasons: PauseReasons { responsePauses }
}

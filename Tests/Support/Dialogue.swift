package import ExchangeCore
package import HTTPModel
package import NIOCore
package import Testing

/// A script for an `ExchangeMachine`: tells it what happened and expects what it wants done, line by line, in order.
///
/// Every effect must be expected before the next event is told, and a dialogue must be brought to its end with
/// `finish`; anything else is an issue. Time is a number that only `advance` moves.
package final class Dialogue {
    private var machine: ExchangeMachine
    private var pending: [String] = []
    private var isClosed = false
    private var isCollecting = false
    private let origin: SourceLocation
    /// What the taps said.
    package let sink = CollectingSink()
    /// The present moment.
    package private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    /// The head that was last sent to the server.
    package private(set) var requestHead: RequestHead?
    /// The head that was last sent to the client.
    package private(set) var responseHead: ResponseHead?
    /// Everything sent to the client as body.
    package private(set) var responseBody = ByteBuffer()
    /// The message that was last held.
    package private(set) var held: HeldMessage?
    /// The work that was last asked for.
    package private(set) var work: (any BlockingWork)?
    /// The work that was left when the exchange was over.
    package private(set) var workAfterwards: (any BlockingWork)?
    /// The moment of the last wake.
    package private(set) var wakeTime: NIODeadline?
    /// Called with each effect as it is taken, to answer it at once.
    package var onEffect: ((ExchangeEffect, inout ExchangeMachine) -> Void)?

    /// Begins a dialogue.
    ///
    /// - Parameters:
    ///   - stages: the tools in force.
    ///   - url: what the client asks for; `host:port` for a tunnel.
    ///   - method: the client's method.
    ///   - kind: the kind of exchange.
    ///   - established: whether a CONNECT was answered already.
    ///   - takesResets: whether the client can be told of the reset of one exchange.
    ///   - client: whose limits it counts against.
    ///   - heads: the account of the client's connection.
    ///   - bodyBudget: what gathered and held bodies may take in all.
    ///   - claim: set where the URL's host is the client's name for the address of its tunnel.
    ///   - location: where the dialogue stands.
    package convenience init(
        _ stages: [any Stage] = [],
        url: String = "http://example.com/",
        method: String = "GET",
        kind: ExchangeRecord.Kind = .http,
        established: Bool = false,
        takesResets: Bool = false,
        client: ClientKey = .unknown,
        heads: HeadAccount? = nil,
        bodyBudget: ByteBudget = .bodies,
        claim: NameClaim? = nil,
        location: SourceLocation = #_sourceLocation
    ) {
        self.init(
            chain: StageChain(stages),
            url: url,
            method: method,
            kind: kind,
            established: established,
            takesResets: takesResets,
            client: client,
            heads: heads,
            bodyBudget: bodyBudget,
            claim: claim,
            location: location
        )
    }

    /// Begins a dialogue with a chain of stages, and otherwise likewise.
    package init(
        chain: StageChain,
        url: String = "http://example.com/",
        method: String = "GET",
        kind: ExchangeRecord.Kind = .http,
        established: Bool = false,
        takesResets: Bool = false,
        client: ClientKey = .unknown,
        heads: HeadAccount? = nil,
        bodyBudget: ByteBudget = .bodies,
        claim: NameClaim? = nil,
        location: SourceLocation = #_sourceLocation
    ) {
        origin = location
        var parsed = RequestURL(url)
        if parsed == nil, let (host, port) = RequestURL.splitAuthority(url) {
            parsed = RequestURL(scheme: "tunnel", host: host, port: port ?? 443, path: "")
        }
        if parsed == nil { Issue.record("no URL: \(url)", sourceLocation: location) }
        let url = parsed ?? RequestURL(scheme: "http", host: "invalid", port: 80, path: "/")
        let record = ExchangeRecord(
            id: ExchangeID(1),
            kind: kind,
            startedAt: 0,
            method: method,
            url: url,
            clientConnection: ConnectionID(1)
        )
        machine = ExchangeMachine(
            record: record,
            destination: Destination(scheme: url.scheme, host: url.host, port: url.port),
            clientAddress: "127.0.0.1:50000",
            chain: chain,
            sink: sink,
            tunnelEstablished: established,
            clientTakesResets: takesResets,
            client: client,
            heads: heads,
            bodyBudget: bodyBudget,
            claim: claim,
            now: now
        )
    }

    deinit {
        if !isClosed { Issue.record("the dialogue was not finished", sourceLocation: origin) }
    }

    /// The row as it stands.
    package var record: ExchangeRecord { machine.record }
    /// Heads and trace as they stand.
    package var messages: ExchangeMessages { machine.messages }
    /// Why the client is not read.
    package var requestPauses: PauseReasons { machine.requestPauseReasons }
    /// Why the server is not read.
    package var responsePauses: PauseReasons { machine.responsePauseReasons }
    /// Whether it may be silent for long.
    package var isStream: Bool { machine.isStream }
    /// Whether the exchange is over.
    package var isOver: Bool { machine.isOver }
    /// Whether the client waits for 100.
    package var awaitsContinue: Bool { machine.awaitsContinue }
    /// The trace, a line for each entry.
    package var trace: [String] {
        machine.messages.trace.map { "\($0.stage)\($0.rule.map { "(\($0))" } ?? ""): \($0.text)" }
    }

    // MARK: - Telling

    /// Lets time pass.
    package func advance(_ time: TimeAmount) {
        now = now + time
    }

    /// Tells the machine of an event.
    package func tell(
        _ location: SourceLocation = #_sourceLocation,
        _ event: (inout ExchangeMachine, NIODeadline) -> Void
    ) {
        if !pending.isEmpty, !isCollecting {
            let lines = pending.joined(separator: "\n  ")
            Issue.record("effects that nobody expected:\n  \(lines)", sourceLocation: location)
            pending = []
        }
        event(&machine, now)
        while let effect = machine.nextEffect() {
            note(effect)
            if case .finished = effect { machine.effectsFinished() }
            onEffect?(effect, &machine)
        }
    }

    private func note(_ effect: ExchangeEffect) {
        pending.append(effect.line)
        switch effect {
        case .sendRequestHead(let head, _): requestHead = head
        case .sendResponseHead(let head, _): responseHead = head
        case .sendResponsePart(let part): responseBody.writeImmutableBuffer(part)
        case .hold(_, let message, _): held = message
        case .perform(let work, _, _): self.work = work
        case .performAfterwards(let work): workAfterwards = work
        case .wake(let moment, _, _): wakeTime = moment
        default: break
        }
    }

    // MARK: - Expecting

    /// Expects exactly these effects of the last event, in this order.
    package func expect(_ lines: String..., location: SourceLocation = #_sourceLocation) {
        compare(lines, location)
    }

    private func compare(_ lines: [String], _ location: SourceLocation) {
        if pending != lines {
            let difference = lines.difference(from: pending)
            var shown = pending.map { "  \($0)" }
            for case .remove(let offset, let line, _) in difference { shown[offset] = "+ \(line)" }
            for case .insert(let offset, let line, _) in difference {
                shown.insert("- \(line)", at: min(offset, shown.count))
            }
            Issue.record(
                "effects differ (- expected, + was):\n\(shown.joined(separator: "\n"))",
                sourceLocation: location
            )
        }
        pending = []
    }

    /// The effects of the last event, where a test looks at them itself.
    package func takePending() -> [String] {
        defer { pending = [] }
        return pending
    }

    /// The effects of several events, where a test does not care which of them had which.
    package func effects(of events: (Dialogue) -> Void, location: SourceLocation = #_sourceLocation) -> [String] {
        compare([], location)
        isCollecting = true
        events(self)
        isCollecting = false
        return takePending()
    }

    /// Ends the dialogue: nothing is pending, the exchange is over, and the taps were told so once and last.
    package func finish(_ location: SourceLocation = #_sourceLocation) {
        isClosed = true
        compare([], location)
        if !machine.isOver { Issue.record("the exchange is not over", sourceLocation: location) }
        let names = sink.names
        if names.first != "opened" || names.last != "finished" || names.count(where: { $0 == "finished" }) != 1 {
            Issue.record("the taps saw \(names)", sourceLocation: location)
        }
    }

    /// Ends a dialogue whose exchange is meant to be still under way.
    package func leaveOpen(_ location: SourceLocation = #_sourceLocation) {
        isClosed = true
        compare([], location)
        if machine.isOver { Issue.record("the exchange is over", sourceLocation: location) }
    }
}

package import ExchangeCore
package import HTTPModel
package import NIOCore
package import Testing

extension Dialogue {
    /// The client sent a head without a body to come, and with it the whole request.
    package func request(_ fields: [(String, String)] = [], location: SourceLocation = #_sourceLocation) {
        let head = head(fields)
        tell(location) {
            $0.requestHeadReceived(head, framing: .none, now: $1)
            $0.requestEndReceived(trailers: nil, wireBytes: 100, now: $1)
        }
    }

    /// The client sent a head.
    package func requestHead(
        _ framing: BodyFraming = .none,
        _ fields: [(String, String)] = [],
        version: HTTPVersion = .http11,
        location: SourceLocation = #_sourceLocation
    ) {
        var head = head(fields)
        if version != .http11 { head.version = version }
        tell(location) { $0.requestHeadReceived(head, framing: framing, now: $1) }
    }

    /// Head and fields as received, so that nothing counts as changed yet.
    private func head(_ fields: [(String, String)]) -> RequestHead {
        let target = record.kind == .http ? record.url.pathAndQuery : record.url.authority
        let composed = RequestHead(
            method: record.method,
            target: target,
            fields: [("Host", record.url.authority)] + fields
        )
        return StoredHead.request(composed.serialized()) ?? composed
    }

    /// The client sent bytes.
    package func requestPart(_ text: String, location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.requestPartReceived(ByteBuffer(string: text), now: $1) }
    }

    /// The client sent the rest.
    package func requestEnd(_ trailers: [(String, String)] = [], location: SourceLocation = #_sourceLocation) {
        let section = Dialogue.section(trailers)
        tell(location) { $0.requestEndReceived(trailers: section, wireBytes: 100, now: $1) }
    }

    /// There is a connection.
    package func ready(
        reused: Bool = false,
        version: HTTPVersion = .http11,
        isBound: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) {
        var facts = UpstreamFacts(connection: ConnectionID(2), version: version, isReused: reused)
        facts.isBound = isBound
        if !reused { (facts.dns, facts.connect) = (1_000, 2_000) }
        tell(location) { $0.upstreamReady(facts, now: $1) }
    }

    /// The server sent an interim response.
    package func interim(
        _ status: Int,
        _ fields: [(String, String)] = [],
        location: SourceLocation = #_sourceLocation
    ) {
        tell(location) { $0.interimReceived(ResponseHead(status: status, fields: fields), now: $1) }
    }

    /// The server sent a head.
    package func responseHead(
        _ status: Int = 200,
        _ framing: BodyFraming = .none,
        _ fields: [(String, String)] = [],
        location: SourceLocation = #_sourceLocation
    ) {
        let composed = ResponseHead(status: status, fields: fields)
        let head = StoredHead.response(composed.serialized()) ?? composed
        tell(location) { $0.responseHeadReceived(head, framing: framing, now: $1) }
    }

    /// A read cycle is over.
    package func readCompleted(location: SourceLocation = #_sourceLocation) {
        tell(location) { machine, _ in machine.readCompleted() }
    }

    /// The server sent bytes.
    package func responsePart(_ text: String, location: SourceLocation = #_sourceLocation) {
        responsePart(ByteBuffer(string: text), location: location)
    }

    /// The server sent bytes.
    package func responsePart(_ bytes: ByteBuffer, location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.responsePartReceived(bytes, now: $1) }
    }

    /// The server sent the rest.
    package func responseEnd(
        _ trailers: [(String, String)] = [],
        isClean: Bool = true,
        location: SourceLocation = #_sourceLocation
    ) {
        let section = Dialogue.section(trailers)
        tell(location) { $0.responseEndReceived(trailers: section, wireBytes: 200, isClean: isClean, now: $1) }
    }

    /// The server closed its connection, or reset the stream.
    package func upstreamClosed(
        resetCode: HTTP2ErrorCode? = nil,
        wasProcessed: Bool = true,
        location: SourceLocation = #_sourceLocation
    ) {
        let failure = ExchangeFailure(.reset, "The server closed the connection.", resetCode: resetCode)
        tell(location) { $0.upstreamClosed(failure, wasProcessed: wasProcessed, now: $1) }
    }

    /// The server allows no more streams.
    package func upstreamQueued(location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.upstreamQueued(now: $1) }
    }

    /// No connection, or it broke.
    package func upstreamFailed(_ code: ExchangeFailure.Code = .connect, location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.upstreamFailed(ExchangeFailure(code, "It went wrong."), now: $1) }
    }

    /// The client went away.
    package func clientGone(resetCode: HTTP2ErrorCode? = nil, location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.clientGone(resetCode: resetCode, now: $1) }
    }

    /// The client sent nonsense.
    package func requestFailed(location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.interrupted(ExchangeFailure(.badRequest, "A chunk has no size."), now: $1) }
    }

    /// Sluice is stopping.
    package func interrupted(location: SourceLocation = #_sourceLocation) {
        tell(location) { $0.interrupted(ExchangeFailure(.stopped, "Sluice is stopping."), now: $1) }
    }

    /// A wake's moment has come.
    package func elapsed(
        _ direction: FlowDirection,
        _ generation: Int,
        location: SourceLocation = #_sourceLocation
    ) {
        tell(location) { $0.pauseElapsed(direction, generation: generation, now: $1) }
    }

    /// Work is done, with what it came to.
    package func workDone(
        _ direction: FlowDirection,
        _ generation: Int,
        _ outcome: WorkOutcome,
        location: SourceLocation = #_sourceLocation
    ) {
        tell(location) { $0.workDone(direction, generation: generation, outcome, now: $1) }
    }

    /// Somebody decided; returns whether it counted.
    @discardableResult
    package func decide(
        _ resolution: HoldResolution,
        ordinal: Int = 1,
        location: SourceLocation = #_sourceLocation
    ) -> Bool {
        var counted = false
        let id = HoldID(exchange: record.id, ordinal: ordinal)
        tell(location) { counted = $0.decided(id, resolution, now: $1) }
        return counted
    }

    private static func section(_ fields: [(String, String)]) -> FieldSection? {
        guard !fields.isEmpty else { return nil }
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        return section
    }
}

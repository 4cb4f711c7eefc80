import ExchangeCore
import HTTPModel
import NIOCore

/// One server that may speak HTTP/2: its connections, and the requests that wait for one.
///
/// At first nobody knows which version it speaks, so one request connects and the others wait to see.
final class UpstreamOrigin {
    /// The answer to a request that needs a connection.
    enum Answer {
        case stream(HTTP2UpstreamStream)
        /// Make a connection, and report the outcome.
        case connect
        /// It will be called back; `isFull` where that is because the server allows no more streams.
        case wait(isFull: Bool)
    }

    private enum Version {
        /// It is asked for HTTP/2, and for HTTP/1.1 where it does not know that. Successors: all.
        case negotiable
        /// It is taken for a server of HTTP/1.1 until then, as it was one when it was last asked. Successors: all.
        case http1(until: NIODeadline)
        /// It said of a request that it needs HTTP/1.1 (HTTP_1_1_REQUIRED), so it is asked for nothing else. Successor:
        /// `negotiable`.
        case http1Required
    }

    private var version = Version.negotiable
    private var connections: [HTTP2UpstreamLayer] = []
    /// They take turns by client, so that no one waits for all that others ask for.
    private var waiting = FairQueue<UpstreamConnector>()
    /// The request that makes the connection on which the others wait.
    private var connecting: UpstreamConnector?
    /// Whether those that wait know that all connections have as many streams as the server allows.
    private var knowsFull = false
    /// For how many of those that wait a stream is being ended.
    private var endingCount = 0

    /// The most connections made to one origin on one loop.
    static let connectionLimit = 8

    var isForgettable: Bool { connections.isEmpty && waiting.isEmpty && connecting == nil }

    var requiresHTTP1: Bool {
        if case .http1Required = version { true } else { false }
    }

    /// Whether requests need not wait for each other, since the server speaks HTTP/1.1.
    func speaksHTTP1(now: NIODeadline) -> Bool {
        switch version {
        case .negotiable: false
        case .http1(let moment): now < moment
        case .http1Required: true
        }
    }

    func ask(_ connector: UpstreamConnector, now: NIODeadline) -> Answer {
        connector.ticket = nil
        if requiresHTTP1 { return .connect }
        if let connection = connections.first(where: \.hasRoom) { return .stream(connection.openStream()) }
        if speaksHTTP1(now: now), connections.isEmpty { return .connect }
        if mayConnect {
            connecting = connector
            return .connect
        }
        connector.ticket = waiting.append(connector, for: connector.client)
        return .wait(isFull: isFull)
    }

    /// Whether there are as many connections as may be made, and the server has said of each what it allows.
    private var isFull: Bool {
        connections.count == UpstreamOrigin.connectionLimit && connections.allSatisfy(\.hasSettings)
    }

    /// Whether a further connection is worth making: not while one is being made, or has yet to say what it allows.
    private var mayConnect: Bool {
        connecting == nil && connections.count < UpstreamOrigin.connectionLimit && connections.allSatisfy(\.hasSettings)
    }

    /// Whether a request waits, as all connections have as many streams as the server allows, for which no stream is
    /// being ended yet.
    func endsStreamForOther() -> Bool {
        guard connections.count == UpstreamOrigin.connectionLimit, endingCount < waiting.count else { return false }
        endingCount += 1
        return true
    }

    /// A request needs no connection any more.
    func withdraw(_ connector: UpstreamConnector) {
        if let ticket = connector.ticket { waiting.remove(ticket) }
        endingCount = min(endingCount, waiting.count)
        if endConnecting(connector) { serve() }
    }

    /// Whether others wait for the connection that this request makes; they do no more.
    private func endConnecting(_ connector: UpstreamConnector) -> Bool {
        guard connecting === connector else { return false }
        connecting = nil
        return true
    }

    // MARK: - What came of a connection

    /// The server speaks HTTP/2: those that wait get a stream.
    func connected(_ connection: HTTP2UpstreamLayer, by connector: UpstreamConnector) {
        _ = endConnecting(connector)
        if case .http1 = version { version = .negotiable }
        connections.append(connection)
        connection.origin = self
        serve()
    }

    /// The server speaks HTTP/1.1: those that wait make a connection of their own.
    ///
    /// What it chose by ALPN it chooses again each time; what is only guessed without TLS holds for a while. Returns
    /// whether that was to be found out.
    @discardableResult
    func turnedOutHTTP1(by connector: UpstreamConnector, until moment: NIODeadline = .distantFuture) -> Bool {
        guard endConnecting(connector) else { return false }
        if !requiresHTTP1 { version = .http1(until: moment) }
        releaseAll { $0.resolve() }
        return true
    }

    /// No connection came about: those that wait fail as well.
    func failed(_ failure: ExchangeFailure, by connector: UpstreamConnector) {
        // The server that asked for HTTP/1.1 does not speak it either.
        if failure.code == .tls, requiresHTTP1 { version = .negotiable }
        guard endConnecting(connector), connections.isEmpty else { return }
        releaseAll { $0.failed(failure) }
    }

    private func releaseAll(_ body: (UpstreamConnector) -> Void) {
        let waiters = waiting.elements
        waiting.removeAll()
        endingCount = 0
        for waiter in waiters { body(waiter) }
    }

    // MARK: - What becomes of connections

    func requireHTTP1() {
        version = .http1Required
        connecting = nil
        releaseAll { $0.resolve() }
    }

    /// A connection takes no further streams.
    func retire(_ connection: HTTP2UpstreamLayer) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        serve()
    }

    /// Lets those that wait have what there is: streams, or one further connection.
    func serve() {
        serveWaiting()
        let isFull = isFull
        defer { knowsFull = isFull }
        guard isFull, !knowsFull else { return }
        // Whoever asks later is told then.
        for waiter in waiting.elements { waiter.queued() }
    }

    private func serveWaiting() {
        while !waiting.isEmpty {
            if let connection = connections.first(where: \.hasRoom) {
                endingCount = max(0, endingCount - 1)
                waiting.popFirst()?.received(connection.openStream())
            } else if mayConnect, let next = waiting.popFirst() {
                connecting = next
                next.resolve()
            } else {
                return
            }
        }
    }

    /// Closes the connections without a stream, for a fresh one to take their place.
    func closeIdle() {
        let idle = connections.filter { $0.isIdle(since: .distantFuture) }
        connections.removeAll { $0.isIdle(since: .distantFuture) }
        for connection in idle { connection.close() }
    }

    func closeIdle(before moment: NIODeadline) -> Int {
        let idle = connections.filter { $0.isIdle(since: moment) }
        for connection in idle { connection.close() }
        return idle.count
    }

    func closeAll() {
        let all = connections
        connections = []
        waiting.removeAll()
        for connection in all { connection.close() }
    }
}

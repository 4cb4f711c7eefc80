import HTTPModel
import NIOCore

/// A server that may speak HTTP/2, its connections, and waiting requests. At first one request connects, and the others
/// wait until the version is known.
final class UpstreamOrigin {
    enum Answer {
        case stream(HTTP2UpstreamStream)
        case connect
        /// `isFull` if the server allows no more streams.
        case wait(isFull: Bool)
    }

    private enum Version {
        /// HTTP/2 is tried first. Successors: all.
        case negotiable
        /// It spoke HTTP/1.1 at the last attempt. Successors: all.
        case http1(until: NIODeadline)
        /// It required HTTP/1.1 for a request (HTTP_1_1_REQUIRED). Successor: `negotiable`.
        case http1Required
    }

    private var version = Version.negotiable
    private var connections: [HTTP2UpstreamLayer] = []
    /// Clients take turns.
    private var waiting = FairQueue<UpstreamConnector>()
    private var connecting: UpstreamConnector?
    /// Whether waiting requests know that no more streams are allowed.
    private var knowsFull = false
    /// Streams that are being ended for waiting requests.
    private var endingCount = 0

    /// The most connections made to one origin on one loop.
    static let connectionLimit = 8

    var isForgettable: Bool { connections.isEmpty && waiting.isEmpty && connecting == nil }

    var requiresHTTP1: Bool { if case .http1Required = version { true } else { false } }

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

    /// Whether there are as many connections as allowed, and the settings of all are known.
    private var isFull: Bool {
        connections.count == UpstreamOrigin.connectionLimit && connections.allSatisfy(\.hasSettings)
    }

    /// Whether a further connection is useful: not while one is being made, or its settings are unknown.
    private var mayConnect: Bool {
        connecting == nil && connections.count < UpstreamOrigin.connectionLimit && connections.allSatisfy(\.hasSettings)
    }

    /// Whether to end a stream for a request that waits although all connections are full.
    func endsStreamForOther() -> Bool {
        guard connections.count == UpstreamOrigin.connectionLimit, endingCount < waiting.count else { return false }
        endingCount += 1
        return true
    }

    func withdraw(_ connector: UpstreamConnector) {
        if let ticket = connector.ticket { waiting.remove(ticket) }
        endingCount = min(endingCount, waiting.count)
        if endConnecting(connector) { serve() }
    }

    /// Ends the wait for a connection; returns whether this request was making it.
    private func endConnecting(_ connector: UpstreamConnector) -> Bool {
        guard connecting === connector else { return false }
        connecting = nil
        return true
    }

    func connected(_ connection: HTTP2UpstreamLayer, by connector: UpstreamConnector) {
        _ = endConnecting(connector)
        if case .http1 = version { version = .negotiable }
        connections.append(connection)
        connection.origin = self
        serve()
    }

    /// The server speaks HTTP/1.1, so waiting requests make their own connections. An ALPN choice counts forever, a
    /// guess without TLS until `moment`. Returns whether requests waited for this connection.
    @discardableResult
    func turnedOutHTTP1(by connector: UpstreamConnector, until moment: NIODeadline = .distantFuture) -> Bool {
        guard endConnecting(connector) else { return false }
        if !requiresHTTP1 { version = .http1(until: moment) }
        releaseAll { $0.resolve() }
        return true
    }

    /// The connection failed; if there is no other one, waiting requests fail as well.
    func failed(_ failure: ExchangeFailure, by connector: UpstreamConnector) {
        // The server that required HTTP/1.1 does not speak it either.
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

    func requireHTTP1() {
        version = .http1Required
        connecting = nil
        releaseAll { $0.resolve() }
    }

    func retire(_ connection: HTTP2UpstreamLayer) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        serve()
    }

    /// Gives waiting requests streams, or a further connection.
    func serve() {
        serveWaiting()
        let isFull = isFull
        defer { knowsFull = isFull }
        guard isFull, !knowsFull else { return }
        // Later requests learn this when they call `ask`.
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

    /// Closes connections that have been idle since before `moment`; returns how many.
    @discardableResult
    func closeIdle(before moment: NIODeadline = .distantFuture) -> Int {
        let idle = connections.filter { $0.isIdle(since: moment) }
        connections.removeAll { $0.isIdle(since: moment) }
        for connection in idle { connection.close() }
        // Requests wait beside an idle connection whose server allows no streams at all.
        if !idle.isEmpty { serve() }
        return idle.count
    }

    func closeAll() {
        let all = connections
        connections = []
        waiting.removeAll()
        for connection in all { connection.close() }
    }
}

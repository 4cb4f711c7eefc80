import DequeModule
import HTTPModel
import NIOCore

/// What one event loop knows of servers that may speak HTTP/2: their connections, and the requests that wait for one.
final class HTTP2Origins {
    private var origins: [UpstreamPool.Key: HTTP2Origin] = [:]

    func origin(_ key: UpstreamPool.Key) -> HTTP2Origin {
        if let origin = origins[key] { return origin }
        let origin = HTTP2Origin()
        origins[key] = origin
        return origin
    }

    /// Closes connections without a stream that had their last one before a moment, and returns how many those were.
    @discardableResult
    func closeIdle(before moment: NIODeadline) -> Int {
        let closed = origins.values.reduce(0) { $0 + $1.closeIdle(before: moment) }
        if origins.count > HTTP2Origins.kept { origins = origins.filter { !$0.value.isForgettable } }
        return closed
    }

    func closeAll() {
        for origin in origins.values { origin.closeAll() }
        origins = [:]
    }

    /// Beyond this number, origins without a connection are forgotten.
    private static let kept = 1_000
}

/// One origin: at first nobody knows which version it speaks, so one request connects and the others wait to see.
final class HTTP2Origin {
    /// What a request that needs a connection is told.
    enum Answer {
        case stream(HTTP2UpstreamStream)
        /// Make a connection, and tell what came of it.
        case connect
        /// It will be told; `isFull` where that is because the server allows no more streams.
        case wait(isFull: Bool)
    }

    private var connections: [HTTP2UpstreamConnection] = []
    private var waiting: Deque<UpstreamConnector> = []
    private var isConnecting = false
    /// Until when the server is taken for one of HTTP/1.1, as it was one the last time it was asked.
    private var http1Until: NIODeadline?
    /// The server said of a request that it needs HTTP/1.1 (HTTP_1_1_REQUIRED), so it is asked for nothing else.
    private(set) var requiresHTTP1 = false

    /// The most connections made to one origin on one loop.
    static let connectionLimit = 8

    var isForgettable: Bool { connections.isEmpty && waiting.isEmpty && !isConnecting }

    /// Whether requests need not wait for each other, since the server chose HTTP/1.1 the last time it was asked.
    func speaksHTTP1(now: NIODeadline) -> Bool {
        requiresHTTP1 || http1Until.map { now < $0 } ?? false
    }

    func ask(_ connector: UpstreamConnector, now: NIODeadline) -> Answer {
        if requiresHTTP1 { return .connect }
        if let connection = connections.first(where: \.hasRoom) { return .stream(connection.openStream()) }
        if speaksHTTP1(now: now), connections.isEmpty { return .connect }
        if mayConnect {
            isConnecting = true
            return .connect
        }
        waiting.append(connector)
        return .wait(isFull: connections.count == HTTP2Origin.connectionLimit)
    }

    /// Whether a further connection is worth making: not while one is being made, or has yet to say what it allows.
    private var mayConnect: Bool {
        !isConnecting && connections.count < HTTP2Origin.connectionLimit && connections.allSatisfy(\.hasSettings)
    }

    /// A request waits no more.
    func withdraw(_ connector: UpstreamConnector) {
        waiting.removeAll { $0 === connector }
    }

    // MARK: - What came of a connection that was asked for

    /// The server speaks HTTP/2: whoever waits gets a stream.
    func established(_ connection: HTTP2UpstreamConnection) {
        isConnecting = false
        http1Until = nil
        connections.append(connection)
        connection.origin = self
        serve()
    }

    /// The server speaks HTTP/1.1: whoever waits makes a connection of its own.
    ///
    /// What it chose by ALPN it chooses anew each time; what is only guessed without TLS holds for a while.
    func turnedOutHTTP1(until moment: NIODeadline = .distantFuture) {
        isConnecting = false
        http1Until = moment
        let waiters = waiting
        waiting = []
        for waiter in waiters { waiter.connectAlone() }
    }

    /// No connection came about: whoever waits would fare no better.
    func failed(_ failure: ExchangeFailure) {
        isConnecting = false
        guard connections.isEmpty else { return }
        let waiters = waiting
        waiting = []
        for waiter in waiters { waiter.failed(failure) }
    }

    /// The one that was to connect has gone away.
    func cancelled() {
        isConnecting = false
        serve()
    }

    // MARK: - What becomes of connections

    /// The server that asked for HTTP/1.1 does not speak it either.
    func withdrawHTTP1() {
        requiresHTTP1 = false
        http1Until = nil
    }

    func requireHTTP1() {
        requiresHTTP1 = true
        turnedOutHTTP1()
    }

    /// A connection may have room again.
    func roomChanged() {
        serve()
    }

    /// A connection takes no further streams.
    func retire(_ connection: HTTP2UpstreamConnection) {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return }
        connections.remove(at: index)
        serve()
    }

    private func serve() {
        while !waiting.isEmpty {
            if let connection = connections.first(where: \.hasRoom) {
                waiting.popFirst()?.received(connection.openStream())
            } else if mayConnect {
                isConnecting = true
                waiting.popFirst()?.connectAlone()
            } else {
                return
            }
        }
    }

    func closeIdle(before moment: NIODeadline) -> Int {
        let idle = connections.filter { $0.isIdle(since: moment) }
        for connection in idle { connection.close() }
        return idle.count
    }

    func closeAll() {
        let all = connections
        connections = []
        waiting = []
        for connection in all { connection.close() }
    }
}

@available(*, unavailable)
extension HTTP2Origin: Sendable {}

import ExchangeCore
package import HTTPModel
package import NIOCore

/// Knows which process of this machine made a connection to the proxy.
package protocol ClientProcessSource: Sendable {
    /// Looks up the process with the client's end of a connection; must not wait.
    ///
    /// `deliver` is called once, on any thread, as soon as it is known; with `nil` for clients on other machines, for a
    /// process that cannot be found, or where there is too much to look up.
    func find(
        client: SocketAddress,
        proxy: SocketAddress,
        deliver: @escaping @Sendable (ClientProcess?) -> Void
    )

    /// Whether a connection's client on this machine has closed its end, and not only its sending side; `false` where that is not
    /// known.
    func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool
}

/// Who is at the other end of a client's connection, as far as that is known by now, and what belongs to that connection; only
/// for its event loop.
final class ClientIdentity {
    /// How many exchanges that are over are told late.
    private static let mostOver = 64

    private(set) var process: ClientProcess?
    private let address: ClientKey
    /// As limits distinguish clients.
    var key: ClientKey { process.map { .process($0.id) } ?? address }
    /// Whether an answer is on its way.
    private(set) var isAwaited = false
    /// What is to be done once it is known, or known not to be found.
    private var waiting: [() -> Void] = []
    /// The exchanges that run without knowing it, to be told.
    private var unaware: [ObjectIdentifier: Exchange] = [:]
    /// Those that were over before it was known: a short-lived client's are.
    private var over: [Exchange] = []
    private var hasBegun = false
    /// The idle connections to servers that belong to this connection alone; `nil` once it is closed.
    private var boundConnections: [HTTP1UpstreamLayer]? = []

    init(_ address: SocketAddress?) { self.address = ClientKey(address) }

    /// Asks for the process; the answer comes later, if at all.
    func ask(_ source: any ClientProcessSource, for channel: any Channel, by entrance: LoopEntrance) {
        guard let client = channel.remoteAddress, let proxy = channel.localAddress else { return }
        isAwaited = true
        let identity = NIOLoopBound(self, eventLoop: channel.eventLoop)
        source.find(client: client, proxy: proxy) { process in
            entrance.execute { identity.value.take(process) }
        }
    }

    /// Calls `body` once the process is known, or known not to be found; at once where nothing is awaited.
    func whenKnown(_ body: @escaping () -> Void) {
        if isAwaited { waiting.append(body) } else { body() }
    }

    /// An exchange begins whose record has what is known by now; returns whether it is the first of the connection.
    func began(_ exchange: Exchange) -> Bool {
        if isAwaited { unaware[ObjectIdentifier(exchange)] = exchange }
        defer { hasBegun = true }
        return !hasBegun
    }

    func ended(_ exchange: Exchange) {
        guard unaware.removeValue(forKey: ObjectIdentifier(exchange)) != nil, over.count < Self.mostOver else { return }
        over.append(exchange)
    }

    private func take(_ process: ClientProcess?) {
        self.process = process
        isAwaited = false
        let exchanges = over + unaware.values
        (unaware, over) = ([:], [])
        let bodies = waiting
        waiting = []
        for body in bodies { body() }
        guard let process else { return }
        for exchange in exchanges { exchange.clientIdentified(process) }
    }
}

/// Connections to servers that belong to the client's connection.
extension ClientIdentity {
    /// Whether there may be one, which is rare.
    var hasBoundConnections: Bool { boundConnections?.isEmpty == false }

    func takeBoundConnection(_ key: UpstreamPool.Key) -> HTTP1UpstreamLayer? {
        guard let index = boundConnections?.lastIndex(where: { $0.key == key && $0.isUsable }) else { return nil }
        return boundConnections?.remove(at: index)
    }

    /// Keeps an idle connection for the next request; returns whether there can be one.
    func keep(_ connection: HTTP1UpstreamLayer) -> Bool {
        boundConnections?.append(connection)
        return boundConnections != nil
    }

    func forget(_ connection: HTTP1UpstreamLayer) { boundConnections?.removeAll { $0 === connection } }

    /// The client's connection is closed.
    func closeBoundConnections() {
        let connections = boundConnections ?? []
        boundConnections = nil
        for connection in connections { connection.close() }
    }
}

extension ClientKey {
    /// A client by its address; by the first 64 bits of one of IPv6, as one client can have all behind them.
    init(_ address: SocketAddress?) {
        guard let bytes = address.flatMap(AccessRules.Network.bytes) else {
            self = .unknown
            return
        }
        self = .address(bytes.count == 16 ? Array(bytes[..<8]) : bytes)
    }
}

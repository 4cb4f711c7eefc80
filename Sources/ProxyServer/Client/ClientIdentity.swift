import ExchangeCore
package import HTTPModel
package import NIOCore

/// Finds the process of this machine that made a connection to the proxy.
package protocol ClientProcessSource: Sendable {
    /// Looks up the process of a client's connection; must not block.
    ///
    /// `deliver` is called once, on any thread; with `nil` for clients on other machines, for a process that cannot be
    /// found, or if there are too many look-ups.
    func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping @Sendable (ClientProcess?) -> Void)

    /// Whether a client on this machine has closed its connection completely, and not only its sending side; `false` if
    /// unknown.
    func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool
}

/// The client of a connection, as far as it is known, and state that belongs to that connection; only for its event
/// loop.
final class ClientIdentity {
    /// How many ended exchanges are still updated.
    private static let mostOver = 64

    private(set) var process: ClientProcess?
    private let address: ClientKey
    /// For limits by client.
    var key: ClientKey { process.map { .process($0.id) } ?? address }
    /// Whether a look-up is in progress.
    private(set) var isAwaited = false
    /// To be called when the look-up ends.
    private var waiting: [() -> Void] = []
    /// Running exchanges without it, to be updated.
    private var unaware: [ObjectIdentifier: Exchange] = [:]
    /// Exchanges that ended before it was known: a short-lived client's do.
    private var over: [Exchange] = []
    private var hasBegun = false
    /// Idle connections to servers that belong to this connection alone; `nil` once it is closed.
    private var boundConnections: [HTTP1UpstreamLayer]? = []

    init(_ address: SocketAddress?) { self.address = ClientKey(address) }

    /// Starts the look-up.
    func ask(_ source: any ClientProcessSource, for channel: any Channel, by entrance: LoopEntrance) {
        guard let client = channel.remoteAddress, let proxy = channel.localAddress else { return }
        isAwaited = true
        let identity = NIOLoopBound(self, eventLoop: channel.eventLoop)
        source.find(client: client, proxy: proxy) { process in
            entrance.execute { identity.value.take(process) }
        }
    }

    /// Calls `body` when the look-up has ended; at once if there is none.
    func whenKnown(_ body: @escaping () -> Void) {
        if isAwaited { waiting.append(body) } else { body() }
    }

    /// Adds an exchange that has begun; returns whether it is the first of the connection.
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

    func closeBoundConnections() {
        let connections = boundConnections ?? []
        boundConnections = nil
        for connection in connections { connection.close() }
    }
}

extension ClientKey {
    /// A client by its address; for IPv6 the first 64 bits, because one client can have all addresses with them.
    init(_ address: SocketAddress?) {
        guard let bytes = address.flatMap(AccessRules.Network.bytes) else {
            self = .unknown
            return
        }
        self = .address(bytes.count == 16 ? Array(bytes[..<8]) : bytes)
    }
}

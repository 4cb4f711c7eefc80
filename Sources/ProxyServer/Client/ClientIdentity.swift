import ExchangeCore
package import HTTPModel
package import NIOCore

/// Finds the process of a client on this machine.
package protocol ClientProcessSource: Sendable {
    /// Must not block. `deliver` is called once, on any thread; with `nil` for other machines, an unknown process, or
    /// too many look-ups.
    func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping @Sendable (ClientProcess?) -> Void)

    /// Whether a client on this machine has closed both directions of its connection; `false` if unknown.
    func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool
}

/// The client of a connection as far as it is known, and state of that connection; only for its event loop.
final class ClientIdentity {
    private static let mostOver = 64

    private(set) var process: ClientProcess?
    private let address: ClientKey
    var key: ClientKey { process.map { .process($0.id) } ?? address }
    private(set) var isAwaited = false
    private var waiting: [() -> Void] = []
    private var unaware: [ObjectIdentifier: Exchange] = [:]
    /// Exchanges that ended before the process was known, like those of short-lived clients.
    private var over: [Exchange] = []
    private var hasBegun = false
    /// Idle connections to servers for this connection alone; `nil` once it is closed.
    private var boundConnections: [HTTP1UpstreamLayer]? = []

    init(_ address: SocketAddress?) { self.address = ClientKey(address) }

    func ask(_ source: any ClientProcessSource, for channel: any Channel, by entrance: LoopEntrance) {
        guard let client = channel.remoteAddress, let proxy = channel.localAddress else { return }
        isAwaited = true
        let identity = NIOLoopBound(self, eventLoop: channel.eventLoop)
        source.find(client: client, proxy: proxy) { process in
            entrance.execute { identity.value.take(process) }
        }
    }

    func whenKnown(_ body: @escaping () -> Void) {
        if isAwaited { waiting.append(body) } else { body() }
    }

    /// Returns whether it is the first exchange of the connection.
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

    var hasBoundConnections: Bool { boundConnections?.isEmpty == false }

    func takeBoundConnection(_ key: UpstreamPool.Key) -> HTTP1UpstreamLayer? {
        guard let index = boundConnections?.lastIndex(where: { $0.key == key && $0.isUsable }) else { return nil }
        return boundConnections?.remove(at: index)
    }

    /// Keeps an idle connection; returns `false` if the client's connection is closed.
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
    /// For IPv6 the first 64 bits, because one client can have all addresses with them.
    init(_ address: SocketAddress?) {
        guard let bytes = address.flatMap(AccessRules.Network.bytes) else {
            self = .unknown
            return
        }
        self = .address(bytes.count == 16 ? Array(bytes[..<8]) : bytes)
    }
}

import Dispatch
import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Wire

/// What all event loops of a server share: values, counters, and what must be known to all at once.
final class SharedState: Sendable {
    let configuration: ProxyConfiguration
    let logger: Logger
    let leafKey: LeafKey
    let ticketKeys = TLSTicketKeys()
    let resolver: Resolver
    let refusals = Mutex(CertificateRefusals())
    let holds = HoldBoard()
    /// Does one thing at a time, such as to hash a password.
    let heavyWork = DispatchQueue(label: "sluice.heavy")
    let ownConnections = OwnConnections()
    let clientCounts: ClientCounts
    /// The servers that offered to authenticate connections (RFC 4559 §6).
    private let connectionAuthenticators = Mutex<Set<Destination>>([])
    let refusedRecords = RefusedRecords()
    let ownAddresses = Mutex<[SocketAddress]>([])
    private let nextExchange: Atomic<Int64>
    private let nextConnection: Atomic<Int64>

    init(_ configuration: ProxyConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        clientCounts = ClientCounts(configuration.connections)
        resolver = Resolver(lookUp: configuration.lookUp)
        leafKey = try LeafKey()
        nextExchange = Atomic(configuration.firstExchange)
        nextConnection = Atomic(configuration.firstConnection)
    }

    func makeExchangeID() -> ExchangeID {
        ExchangeID(nextExchange.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    func makeConnectionID() -> ConnectionID {
        ConnectionID(nextConnection.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    func isOwnAddress(_ address: SocketAddress) -> Bool { ownAddresses.withLock { $0.contains(address) } }

    /// Whether a connection to a server at this port may come back to the proxy: where it listens on a port of that number,
    /// or where connections are redirected to it, which may take its own as well.
    func mayLeadBack(_ port: Int?) -> Bool {
        isTransparent || ownAddresses.withLock { $0.contains { $0.port == port } }
    }

    /// The most servers that are remembered for that; then every server with credentials is taken for one.
    private static let mostAuthenticators = 1_000

    func noteConnectionAuthentication(_ server: Destination) {
        connectionAuthenticators.withLock { if $0.count < Self.mostAuthenticators { $0.insert(server) } }
    }

    /// Whether credentials that a server takes may count for all that follows on their connection.
    func authenticatesConnections(_ server: Destination) -> Bool {
        connectionAuthenticators.withLock { servers in
            !servers.isEmpty && (servers.count >= Self.mostAuthenticators || servers.contains(server))
        }
    }

    private var isTransparent: Bool { configuration.listeners.contains { $0.mode == .transparent } }
}

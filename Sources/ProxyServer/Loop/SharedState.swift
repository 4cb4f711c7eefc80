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
    let ownConnections = OwnConnections()
    let ownAddresses = Mutex<[SocketAddress]>([])
    private let nextExchange: Atomic<Int64>
    private let nextConnection: Atomic<Int64>

    init(_ configuration: ProxyConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
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

    /// Whether this is the number of the port that the proxy listens on.
    func isOwnPort(_ port: Int?) -> Bool { ownAddresses.withLock { $0.first?.port == port } }
}

import Dispatch
import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Wire

/// The state that all event loops of a server share.
final class SharedState: Sendable {
    let configuration: ProxyConfiguration
    let logger: Logger
    let leafKey: LeafKey
    let ticketKeys = TLSTicketKeys()
    let resolver: Resolver
    let refusals = Mutex(CertificateRefusals())
    let holds = HoldBoard()
    /// A serial queue for slow work, such as hashing a password.
    let heavyWork = DispatchQueue(label: "sluice.heavy")
    let ownConnections = OwnConnections()
    let clientCounts: ClientCounts
    /// The servers that offered to authenticate connections (RFC 4559 §6).
    private let connectionAuthenticators = Mutex<Set<Destination>>([])
    let refusedRecords = RefusedRecords()
    let ownAddresses = Mutex<[SocketAddress]>([])
    /// Hosts whose certificates are not verified now, in lower case.
    private let insecureHosts: Mutex<Set<String>>
    private let hasInsecureHosts: Atomic<Bool>
    private let nextExchange: Atomic<Int64>
    private let nextConnection: Atomic<Int64>

    init(_ configuration: ProxyConfiguration, logger: Logger) throws {
        self.configuration = configuration
        self.logger = logger
        clientCounts = ClientCounts(configuration.connections)
        resolver = Resolver(lookUp: configuration.lookUp)
        insecureHosts = Mutex(configuration.insecureHosts)
        hasInsecureHosts = Atomic(!configuration.insecureHosts.isEmpty)
        leafKey = try LeafKey()
        nextExchange = Atomic(configuration.firstExchange)
        nextConnection = Atomic(configuration.firstConnection)
    }

    func makeExchangeID() -> ExchangeID { ExchangeID(nextExchange.wrappingAdd(1, ordering: .relaxed).oldValue) }

    func makeConnectionID() -> ConnectionID { ConnectionID(nextConnection.wrappingAdd(1, ordering: .relaxed).oldValue) }

    func verifies(_ destination: Destination) -> Bool {
        verifies(destination.verifiedName) && verifies(destination.host)
    }

    func verifies(_ host: String) -> Bool {
        guard !configuration.skipsVerification else { return false }
        guard hasInsecureHosts.load(ordering: .acquiring) else { return true }
        return !insecureHosts.withLock { $0.contains(host) }
    }

    /// Stops or starts verifying a host; `nil` to toggle. Returns whether it is now verified.
    func setVerified(_ host: String, _ isVerified: Bool?) -> Bool {
        insecureHosts.withLock { hosts in
            let isVerified = isVerified ?? hosts.contains(host)
            if isVerified { hosts.remove(host) } else { hosts.insert(host) }
            hasInsecureHosts.store(!hosts.isEmpty, ordering: .releasing)
            return isVerified
        }
    }

    func isOwnAddress(_ address: SocketAddress) -> Bool { ownAddresses.withLock { $0.contains(address) } }

    /// Whether a server at this port may be this proxy: the port is one of its own, or connections are redirected here.
    func mayLeadBack(_ port: Int?) -> Bool {
        isTransparent || ownAddresses.withLock { $0.contains { $0.port == port } }
    }

    /// The most remembered servers; after that every server counts as one that authenticates connections.
    private static let mostAuthenticators = 1_000

    func noteConnectionAuthentication(_ server: Destination) {
        connectionAuthenticators.withLock { if $0.count < Self.mostAuthenticators { $0.insert(server) } }
    }

    /// Whether credentials that a server accepts may apply to the whole connection.
    func authenticatesConnections(_ server: Destination) -> Bool {
        connectionAuthenticators.withLock { servers in
            !servers.isEmpty && (servers.count >= Self.mostAuthenticators || servers.contains(server))
        }
    }

    private var isTransparent: Bool { configuration.listeners.contains { $0.mode == .transparent } }
}

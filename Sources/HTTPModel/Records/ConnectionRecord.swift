package struct ConnectionRecord: Sendable, Hashable {
    package enum Leg: UInt8, Sendable, Hashable, Codable {
        case client = 0
        case upstream = 1
    }

    package var id: ConnectionID
    package var leg: Leg
    /// Microseconds since 1970.
    package var openedAt: Int64
    package var closedAt: Int64?
    /// As `host:port`.
    package var localAddress: String
    /// Of the upstream proxy if there is one.
    package var peerAddress: String
    /// As `http://host:port`; only on the upstream leg.
    package var proxy: String?
    package var tls: TLSDetails?
    /// Resolving the name, in microseconds.
    package var dns: Int64?
    /// TCP, and a proxy's handshake, in microseconds; only on the upstream leg.
    package var connect: Int64?
    /// Microseconds.
    package var handshake: Int64?

    package init(id: ConnectionID, leg: Leg, openedAt: Int64, localAddress: String, peerAddress: String) {
        self.id = id
        self.leg = leg
        self.openedAt = openedAt
        self.localAddress = localAddress
        self.peerAddress = peerAddress
    }
}

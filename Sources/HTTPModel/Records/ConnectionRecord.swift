/// One connection, to a client or to a server: what is the same for all exchanges on it.
package struct ConnectionRecord: Sendable, Hashable {
    /// The peer: the client that uses the proxy, or the server that the proxy asks.
    package enum Leg: UInt8, Sendable, Hashable, Codable {
        case client = 0
        case upstream = 1
    }

    /// The connection's number in the session.
    package var id: ConnectionID
    package var leg: Leg
    /// When it was accepted or made: microseconds since 1970.
    package var openedAt: Int64
    /// When it was closed: microseconds since 1970; `nil` while it is open.
    package var closedAt: Int64?
    /// Our own address, as `host:port`.
    package var localAddress: String
    /// The peer's address, as `host:port`.
    package var peerAddress: String
    /// The upstream proxy that it goes through, as `http://host:port`, and then the peer's address is the proxy's;
    /// `nil` if the peer is the server itself, and on the client leg.
    package var proxy: String?
    /// The TLS handshake's outcome; `nil` for a plain connection.
    package var tls: TLSDetails?
    /// Resolving the server's name, in microseconds; `nil` on the client leg or for an address.
    package var dns: Int64?
    /// Making the TCP connection, with a proxy up to its leave to go on, in microseconds; `nil` on the client leg.
    package var connect: Int64?
    /// The TLS handshake, in microseconds.
    package var handshake: Int64?

    /// A connection that has just been made.
    package init(id: ConnectionID, leg: Leg, openedAt: Int64, localAddress: String, peerAddress: String) {
        (self.id, self.leg, self.openedAt) = (id, leg, openedAt)
        (self.localAddress, self.peerAddress) = (localAddress, peerAddress)
    }
}

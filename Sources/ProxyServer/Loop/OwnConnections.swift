import HTTPModel
import NIOCore
import Synchronization

/// Recognizes connections to servers that lead back to this proxy, among those to a port number of this proxy, or among
/// all if connections are redirected here. Both ends of a connection have the same pair of addresses, and no other
/// connection has this pair; a local port alone is not unique.
final class OwnConnections: Sendable {
    struct Ends: Hashable {
        private let client: [UInt8]
        private let server: [UInt8]

        fileprivate init?(client: SocketAddress?, server: SocketAddress?) {
            guard let client = Ends.bytes(client), let server = Ends.bytes(server) else { return nil }
            self.client = client
            self.server = server
        }

        private static func bytes(_ address: SocketAddress?) -> [UInt8]? {
            guard let address, let port = address.port else { return nil }
            return AccessRules.Network.bytes(of: address).map {
                $0 + [UInt8(truncatingIfNeeded: port >> 8), UInt8(truncatingIfNeeded: port)]
            }
        }
    }

    private struct Outgoing {
        let channel: any Channel
        let authority: String
    }

    private let outgoing = Mutex<[Ends: Outgoing]>([:])

    /// Adds a connection to a server before anything is written on it; returns the key to remove it.
    func add(_ channel: any Channel, to authority: String) -> Ends? {
        guard let ends = Ends(client: channel.localAddress, server: channel.remoteAddress) else { return nil }
        outgoing.withLock { $0[ends] = Outgoing(channel: channel, authority: authority) }
        return ends
    }

    func remove(_ ends: Ends) { outgoing.withLock { $0[ends] = nil } }

    /// Whether a client's connection is the other end of one of these connections, whose handlers then get the failure.
    /// Certain only after the client has sent bytes: a connection may be accepted before its other end knows its
    /// addresses. `destination` is the destination before a redirection.
    func leadsBack(_ client: any Channel, from destination: SocketAddress? = nil) -> Bool {
        guard !outgoing.withLock(\.isEmpty),
            let ends = Ends(client: client.remoteAddress, server: destination ?? client.localAddress),
            let other = outgoing.withLock({ $0[ends] })
        else { return false }
        let isRedirected = destination.map { $0 != client.localAddress } ?? false
        let failure = ExchangeFailure.leadsBack(other.authority, isRedirected: isRedirected)
        other.channel.pipeline.fireErrorCaught(failure)
        return true
    }
}

extension ExchangeFailure {
    /// `isRedirected` if the kernel redirected the request.
    static func leadsBack(_ authority: String, isRedirected: Bool = false) -> ExchangeFailure {
        let hint =
            isRedirected
            ? "This machine's rules also redirect Sluice's own connections: exclude its user ('sluice transparent --print')."
            : "Ask for the server itself, or use another port for the proxy."
        return ExchangeFailure(.loop, "\(authority) leads back to this proxy.", hint: hint)
    }
}

import HTTPModel
import NIOCore
import Synchronization

/// The connections to servers on this proxy's own port number, by which it recognises those that lead back to it.
///
/// Names and addresses have many spellings that lead here. But both ends of a connection have the same pair of
/// addresses, and no other connection has that pair; the near end alone would not do, since the kernel gives one local
/// port to several connections with different servers.
final class OwnConnections: Sendable {
    /// The addresses and ports of a connection's two ends.
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

    /// Notes a connection to the server of an authority, before anything is written on it; returns the key to remove it by.
    func add(_ channel: any Channel, to authority: String) -> Ends? {
        guard let ends = Ends(client: channel.localAddress, server: channel.remoteAddress) else { return nil }
        outgoing.withLock { $0[ends] = Outgoing(channel: channel, authority: authority) }
        return ends
    }

    func remove(_ ends: Ends) { outgoing.withLock { $0[ends] = nil } }

    /// Whether a client's connection is the other end of one to a server; the handlers of that one get the failure.
    ///
    /// Certain only once the client has sent something: a connection can be accepted before its other end knows that it
    /// is one.
    func leadsBack(_ client: any Channel) -> Bool {
        guard !outgoing.withLock(\.isEmpty),
            let ends = Ends(client: client.remoteAddress, server: client.localAddress),
            let other = outgoing.withLock({ $0[ends] })
        else { return false }
        other.channel.pipeline.fireErrorCaught(ExchangeFailure.leadsBack(other.authority))
        return true
    }
}

extension ExchangeFailure {
    /// The request would have come back to this proxy.
    static func leadsBack(_ authority: String) -> ExchangeFailure {
        let hint = "Ask for the server itself, or use another port for the proxy."
        return ExchangeFailure(.loop, "\(authority) leads back to this proxy.", hint: hint)
    }
}

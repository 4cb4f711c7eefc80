import Foundation
import NIOCore
import NIOPosix

enum OriginalDestination {
    static let missing = """
        This port takes connections that this machine's packet filter redirects to it, and this one came here directly. \
        Clients need no proxy setting for it; for clients with one, listen with --mode regular as well. \
        'sluice transparent --print' shows the rules that redirect.
        """

    static func of(_ channel: any Channel) -> SocketAddress? {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider, let local = channel.localAddress else { return nil }
        // The IPv4 rules redirect an IPv4 connection, even if an IPv6 socket accepted it.
        let isIPv4 = AccessRules.Network.bytes(of: local)?.count == 4
        return isIPv4
            ? original(provider, .ip) { (address: sockaddr_in) in SocketAddress(address) }
            : original(provider, .ipv6) { (address: sockaddr_in6) in SocketAddress(address) }
        #else
        return nil
        #endif
    }

    #if os(Linux)
    /// `SO_ORIGINAL_DST` of `linux/netfilter_ipv4.h`, and `IP6T_SO_ORIGINAL_DST` of `ip6_tables.h`.
    private static let option = NIOBSDSocket.Option(rawValue: 80)

    private static func original<Address: Sendable>(
        _ provider: any SocketOptionProvider,
        _ level: NIOBSDSocket.OptionLevel,
        _ make: (Address) -> SocketAddress
    ) -> SocketAddress? {
        var found: Address?
        let answer: EventLoopFuture<Address> = provider.unsafeGetSocketOption(level: level, name: option)
        // On the channel's own loop the answer is available at once.
        answer.assumeIsolated().whenSuccess { found = $0 }
        return found.map(make)
    }
    #endif
}

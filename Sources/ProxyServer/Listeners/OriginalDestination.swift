import Foundation
import NIOCore
import NIOPosix

enum OriginalDestination {
    /// The answer to a client that was not redirected.
    static let missing = """
        This port takes connections that this machine's packet filter redirects to it, and this one came here directly. \
        Clients need no proxy setting for it; for clients with one, listen with --mode regular as well. \
        'sluice transparent --print' shows the rules that redirect.
        """

    static func of(_ channel: any Channel) -> SocketAddress? {
        #if os(Linux)
        guard let provider = channel as? any SocketOptionProvider, let local = channel.localAddress else { return nil }
        // The rules for IPv4 redirect an IPv4 address even if a socket of IPv6 shows it.
        let isIPv4 = AccessRules.Network.bytes(of: local)?.count == 4
        return isIPv4 ? originalOfIPv4(provider) : originalOfIPv6(provider)
        #else
        return nil
        #endif
    }

    #if os(Linux)
    /// `SO_ORIGINAL_DST` of `linux/netfilter_ipv4.h`, and `IP6T_SO_ORIGINAL_DST` of `ip6_tables.h`.
    private static let option = NIOBSDSocket.Option(rawValue: 80)

    private static func originalOfIPv4(_ provider: any SocketOptionProvider) -> SocketAddress? {
        var found: SocketAddress?
        let answer: EventLoopFuture<sockaddr_in> = provider.unsafeGetSocketOption(level: .ip, name: option)
        // On the channel's own loop the answer is available at once.
        answer.assumeIsolated().whenSuccess { found = SocketAddress($0) }
        return found
    }

    private static func originalOfIPv6(_ provider: any SocketOptionProvider) -> SocketAddress? {
        var found: SocketAddress?
        let answer: EventLoopFuture<sockaddr_in6> = provider.unsafeGetSocketOption(level: .ipv6, name: option)
        answer.assumeIsolated().whenSuccess { found = SocketAddress($0) }
        return found
    }
    #endif
}

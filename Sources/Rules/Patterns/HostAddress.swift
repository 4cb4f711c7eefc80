import HTTPModel
import NIOCore

extension String {
    /// Whether it is an IPv4 or IPv6 address, without brackets.
    package var isAddress: Bool {
        guard utf8.last.map({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: ":") }) == true || utf8.contains(UInt8(ascii: ":"))
        else {
            return false
        }
        return (try? SocketAddress(ipAddress: self, port: 0)) != nil
    }

    /// The host that it is, without brackets; `nil` where it is none, or has a port.
    package var asHost: String? {
        let isBareIPv6 = utf8.count { $0 == UInt8(ascii: ":") } > 1 && !hasPrefix("[")
        guard let (host, port) = RequestURL.splitAuthority(isBareIPv6 ? "[\(self)]" : self), port == nil else {
            return nil
        }
        return host.contains(":") && !host.isAddress ? nil : host
    }

    /// Whether a host is this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3).
    var isLoopback: Bool {
        self == "localhost" || hasSuffix(".localhost") || self == "::1" || (hasPrefix("127.") && isAddress)
    }
}

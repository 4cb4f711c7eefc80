import HTTPModel
import NIOCore

extension String {
    /// Whether it is an IPv4 or IPv6 address, without brackets.
    package var isAddress: Bool {
        let mayBe = utf8.last.map { $0 &- 0x30 < 10 } == true || utf8.contains(UInt8(ascii: ":"))
        return mayBe && (try? SocketAddress(ipAddress: self, port: 0)) != nil
    }

    /// The text as a host without brackets; `nil` if it is not a host, or has a port.
    package var asHost: String? {
        guard let (host, port) = splitHost, port == nil else { return nil }
        return host.contains(":") && !host.isAddress ? nil : host
    }

    /// The host and the port, if any; an IPv6 address may be without brackets.
    package var splitHost: (host: String, port: Int?)? {
        let isBareIPv6 = utf8.count { $0 == UInt8(ascii: ":") } > 1 && !hasPrefix("[")
        return RequestURL.splitAuthority(isBareIPv6 ? "[\(self)]" : self)
    }

    /// Whether a host is this machine (RFC 6761 §6.3, RFC 1122 §3.2.1.3).
    var isLoopback: Bool {
        self == "localhost" || hasSuffix(".localhost") || self == "::1" || (hasPrefix("127.") && isAddress)
    }

    /// The URL that was probably meant by a text with a mistyped `://`, as `http//localhost`; otherwise `nil`.
    package var misspeltURL: String? {
        for scheme in ["https", "http", "wss", "ws"] where hasPrefix(scheme) {
            let rest = dropFirst(scheme.count)
            // After the colon of a host comes a port, as in `http:8080`.
            let isPort = rest.first == ":" && rest.dropFirst().first?.isNumber == true
            guard rest.hasPrefix("//") || rest.hasPrefix(":"), !rest.hasPrefix("://"), !isPort else { continue }
            return "\(scheme)://\(rest.drop { ":/".contains($0) })"
        }
        return nil
    }

    /// Whether it can be the value of a field: without line breaks and other control characters (RFC 9110 §5.5).
    package var isFieldValue: Bool { utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 } }

    /// The text for a message: cut if it is long, with spaces in place of control characters.
    package func clipped(to limit: Int = 120) -> String {
        let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        let text = isPlain ? self : String(map { $0.isNewline || ($0.asciiValue ?? 0x20) < 0x20 ? " " : $0 })
        return text.utf8.count <= limit ? text : text.prefix(limit) + "…"
    }
}

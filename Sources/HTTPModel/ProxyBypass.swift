package struct ProxyBypass: Sendable, Hashable, CustomStringConvertible {
    private enum Hosts: Sendable, Hashable {
        case all
        case exact(String)
        /// Names below this name, and, if `itself`, the name.
        case under(String, itself: Bool)
        /// By the first bits of an address.
        case network([UInt8], bits: Int)
    }

    private let hosts: Hosts
    private let port: Int?
    package let description: String

    /// Reads `HOST`, `*.SUFFIX`, `.SUFFIX` (includes the name itself), an address, `ADDRESS/BITS` or `*`; all except
    /// networks may have a port. With `isSuffix`, as in the variable `no_proxy`, a name includes the names below it.
    package init?(_ text: some StringProtocol, isSuffix: Bool = false) {
        description = String(text)
        let text = description.lowercased()
        if text == "*" {
            (hosts, port) = (.all, nil)
            return
        }
        if let bytes = HostAddress.bytes(text[...]) {
            (hosts, port) = (.network(bytes, bits: bytes.count * 8), nil)
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count > 1 {
            // Short forms are ambiguous: 10/8 is not 0.0.0.10.
            let isWhole = parts[0].contains(":") || HostAddress.canonical(parts[0]).map { $0 == parts[0] } == true
            guard parts.count == 2, isWhole, let bytes = HostAddress.bytes(parts[0]),
                parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let bits = Int(parts[1]), bits <= bytes.count * 8
            else { return nil }
            (hosts, port) = (.network(bytes, bits: bits), nil)
            return
        }
        let isBelow = text.hasPrefix("*.")
        let isBoth = text.hasPrefix(".")
        let name = text.dropFirst(isBelow ? 2 : isBoth ? 1 : 0)
        guard let (host, port) = RequestURL.splitAuthority(name), !host.contains("*") else { return nil }
        self.port = port
        if !isBelow, !isBoth, let bytes = HostAddress.bytes(host[...]) {
            hosts = .network(bytes, bits: bytes.count * 8)
        } else if isBelow || isBoth || isSuffix {
            hosts = .under(host, itself: !isBelow)
        } else {
            hosts = .exact(host)
        }
    }

    /// `localhost`, names below it (RFC 6761 §6.3) and loopback addresses.
    package static let localhost = [".localhost", "127.0.0.0/8", "::1"].compactMap { ProxyBypass($0) }

    /// `host` as in ``RequestURL/host``; networks match only hosts written as addresses.
    package func matches(host: String, port: Int) -> Bool {
        if let wanted = self.port, wanted != port { return false }
        switch hosts {
        case .all: return true
        case .exact(let name): return host == name
        case .under(let name, let itself): return itself && host == name || host.hasSuffix("." + name)
        case .network(let prefix, let bits):
            return HostAddress.bytes(host[...]).map { HostAddress.matches($0, prefix: prefix, bits: bits) } ?? false
        }
    }
}

extension [ProxyBypass] {
    package func matches(_ url: RequestURL, withLocalhost: Bool) -> Bool {
        func isIn(_ places: [ProxyBypass]) -> Bool { places.contains { $0.matches(host: url.host, port: url.port) } }
        return withLocalhost && isIn(ProxyBypass.localhost) || isIn(self)
    }
}

/// A requested URL; path and query with their percent-encoding.
package struct RequestURL: Sendable, Hashable {
    /// `http`, `https`, `ws` or `wss`; `tunnel` for unread bytes.
    package var scheme: String
    /// In lower case, without trailing dot and brackets; each address has one spelling (``HostAddress``).
    package var host: String
    package var port: Int
    /// Begins with `/`; `*` for the asterisk form; empty for a tunnel.
    package var path: String
    package var query: String?

    package init(scheme: String, host: String, port: Int, path: String, query: String? = nil) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    /// RFC 9110 §4.2.
    package static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }

    /// As in `Host`, without a default port.
    package var authority: String {
        port == RequestURL.defaultPort(of: scheme) ? HostAddress.bracketed(host) : HostAddress.withPort(host, port)
    }

    package var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }

    package mutating func setPathAndQuery(_ text: String) {
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = String(text[..<mark])
            query = String(text[text.utf8.index(after: mark)...])
        } else {
            path = text
            query = nil
        }
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; the port after a colon may be missing (RFC 3986 §6.2.3). The
    /// host becomes lower case, without brackets and trailing dot (RFC 1034 §3.1); an address gets its one spelling.
    /// Empty labels and characters that hosts cannot have are refused (RFC 3986 §3.2.2).
    package static func splitAuthority(_ text: some StringProtocol) -> (host: String, port: Int?)? {
        var host = Substring(text)
        var port: Int?
        if host.utf8.first == UInt8(ascii: "[") {
            guard let close = host.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let rest = host[host.utf8.index(after: close)...]
            if !rest.isEmpty {
                port = parsePort(rest.utf8.dropFirst())
                guard rest.utf8.first == UInt8(ascii: ":"), port != nil || rest.utf8.count == 1 else { return nil }
            }
            host = host[host.utf8.index(after: host.startIndex)..<close]
            // Without a colon it would not be an address.
            guard host.utf8.contains(UInt8(ascii: ":")), host.utf8.last != UInt8(ascii: "."),
                host.utf8.allSatisfy(isIPv6Byte)
            else { return nil }
            return (HostAddress.canonicalIPv6(host) ?? host.lowercased(), port)
        } else if let colon = host.utf8.lastIndex(of: UInt8(ascii: ":")) {
            let digits = host.utf8[host.utf8.index(after: colon)...]
            port = parsePort(digits)
            guard port != nil || digits.isEmpty else { return nil }
            host = host[..<colon]
            guard isName(host.utf8) else { return nil }
        } else {
            guard isName(host.utf8) else { return nil }
        }
        // By bytes: a dot may be the end of a character, and a colon the beginning of one.
        if host.utf8.last == UInt8(ascii: ".") { host = Substring(host.utf8.dropLast()) }
        if let address = HostAddress.canonicalIPv4(host) { return (address, port) }
        // Outside ASCII, too: the lower case of U+212A is a k.
        return (host.utf8.contains { $0 &- 0x41 < 26 || $0 >= 0x80 } ? host.lowercased() : String(host), port)
    }

    /// The name with its trailing dot, which keeps resolvers from adding search domains; `nil` without the dot.
    package static func rootedName(of authority: some Collection<UInt8>) -> String? {
        // Steps on a generic collection cost a hundred instructions each.
        let bytes = Array(authority)
        let place = bytes[(bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...]
        let name = place[..<(place.lastIndex(of: UInt8(ascii: ":")) ?? place.endIndex)]
        guard name.last == UInt8(ascii: ".") else { return nil }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return HostAddress.canonicalIPv4(text.dropLast()) == nil ? text : nil
    }

    private static func parsePort(_ text: Substring.UTF8View) -> Int? {
        let isNumber = !text.isEmpty && text.count <= 5 && text.allSatisfy { $0 &- 0x30 < 10 }
        return isNumber ? Int(Substring(text)).flatMap { (1...65_535).contains($0) ? $0 : nil } : nil
    }

    private static func isIPv6Byte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x3A || byte == 0x2E || byte == 0x25
    }

    /// Labels with dots between them, and perhaps a dot at the end.
    private static func isName(_ bytes: Substring.UTF8View) -> Bool {
        var isLabelEmpty = true
        for byte in bytes {
            guard isHostByte(byte) else { return false }
            let isDot = byte == UInt8(ascii: ".")
            if isDot, isLabelEmpty { return false }
            isLabelEmpty = isDot
        }
        return !bytes.isEmpty
    }

    /// reg-name without sub-delims; bytes from 0x80 are left to the resolver.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x2D || byte == 0x2E || byte == 0x5F
            || byte == 0x7E || byte == 0x25 || byte >= 0x80
    }
}

extension RequestURL: CustomStringConvertible {
    package var description: String {
        scheme == "tunnel" ? authority : "\(scheme)://\(authority)\(path == "*" ? "" : pathAndQuery)"
    }

    /// Reads an absolute `http`, `https`, `ws` or `wss` URL, without its fragment.
    package init?(_ text: some StringProtocol) {
        let text = Substring(text)
        let utf8 = text.utf8
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let scheme = text[..<colon].lowercased()
        guard let defaultPort = RequestURL.defaultPort(of: scheme) else { return nil }
        let afterSlashes = utf8.index(colon, offsetBy: 3)
        let end = utf8[afterSlashes...].firstIndex(of: UInt8(ascii: "#")) ?? utf8.endIndex
        let rest = text[afterSlashes..<end]
        let authorityEnd = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        var authority = rest[..<authorityEnd]
        // RFC 9110 §4.2.4.
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[authority.utf8.index(after: at)...]
        }
        guard let (host, port) = RequestURL.splitAuthority(authority) else { return nil }
        self.init(scheme: scheme, host: host, port: port ?? defaultPort, path: "/")
        let tail = rest[authorityEnd...]
        setPathAndQuery(tail.utf8.first == UInt8(ascii: "/") ? String(tail) : "/" + tail)
    }
}

/// A URL that was asked for, in the parts that a proxy knows.
///
/// Path and query stay as sent, percent-encoding included.
package struct RequestURL: Sendable, Hashable {
    /// `http`, `https`, `ws` or `wss`; `tunnel` for bytes of which only host and port are known.
    package var scheme: String
    /// The host in lower case, without the root's dot at its end; an address in its one text (``HostAddress``), without
    /// brackets.
    package var host: String
    /// The effective port.
    package var port: Int
    /// The path as sent, beginning with `/`; `*` for the asterisk form; empty for a tunnel.
    package var path: String
    /// The query as sent, without its `?`; `nil` if there is no `?`.
    package var query: String?

    package init(scheme: String, host: String, port: Int, path: String, query: String? = nil) {
        (self.scheme, self.host, self.port, self.path, self.query) = (scheme, host, port, path, query)
    }

    /// The port that a scheme means when none is given (RFC 9110 §4.2).
    package static func defaultPort(of scheme: String) -> Int? {
        switch scheme {
        case "http", "ws": 80
        case "https", "wss": 443
        default: nil
        }
    }

    /// The host and, if it is not the scheme's default, the port, as a `Host` field has them.
    package var authority: String {
        let host = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == RequestURL.defaultPort(of: scheme) ? host : "\(host):\(port)"
    }

    /// The path and query, as the origin form of a request target has them.
    package var pathAndQuery: String { query.map { "\(path)?\($0)" } ?? path }

    /// Splits a path and query at the first `?`.
    package mutating func setPathAndQuery(_ text: String) {
        if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
            path = String(text[..<mark])
            query = String(text[text.utf8.index(after: mark)...])
        } else {
            path = text
            query = nil
        }
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; `nil` for anything else. A colon without a port is none
    /// (RFC 3986 §6.2.3).
    ///
    /// The host is lowered and stripped of its brackets, or of the root's dot at its end, with which it is the same name
    /// (RFC 1034 §3.1). An address in any spelling becomes its one text, by which rules find it. Characters that cannot stand
    /// in a host are refused (RFC 3986 §3.2.2), and empty labels.
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
            // Without a colon it is not an address, and could be but a dot.
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
        // By bytes, as everything here: a dot may be the end of a character, and a colon the beginning of one.
        if host.utf8.last == UInt8(ascii: ".") { host = Substring(host.utf8.dropLast()) }
        if let address = HostAddress.canonicalIPv4(host) { return (address, port) }
        // Outside ASCII too: the lower case of U+212A is a k, and the rules are to see what is asked for.
        return (host.utf8.contains { $0 &- 0x41 < 26 || $0 >= 0x80 } ? host.lowercased() : String(host), port)
    }

    /// The host of an authority as resolvers are to be asked for it, where that is not the host itself: with the root's dot,
    /// which keeps them from trying domains of their own after the name. An address has none.
    package static func rootedName(of authority: some Collection<UInt8>) -> String? {
        // An array, since each step on a collection of unknown type costs a hundred instructions.
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

    /// Whether the bytes are labels with dots between them, and perhaps one at the end.
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

    /// reg-name without sub-delims that no real host name has; bytes from 0x80 on are left to the resolver.
    private static func isHostByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x2D || byte == 0x2E || byte == 0x5F
            || byte == 0x7E || byte == 0x25 || byte >= 0x80
    }
}

extension RequestURL: CustomStringConvertible {
    /// The URL as text, without the port where it is the scheme's default.
    package var description: String {
        scheme == "tunnel" ? authority : "\(scheme)://\(authority)\(path == "*" ? "" : pathAndQuery)"
    }

    /// Reads an absolute `http` or `https` (or `ws`, `wss`) URL, without its fragment; `nil` for anything else.
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
        // User information is no part of what is asked for (RFC 9110 §4.2.4).
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            authority = authority[authority.utf8.index(after: at)...]
        }
        guard let (host, port) = RequestURL.splitAuthority(authority) else { return nil }
        self.init(scheme: scheme, host: host, port: port ?? defaultPort, path: "/")
        let tail = rest[authorityEnd...]
        setPathAndQuery(tail.utf8.first == UInt8(ascii: "/") ? String(tail) : "/" + tail)
    }
}

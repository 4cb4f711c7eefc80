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
        var text = text
        text.withUTF8 { setPathAndQuery($0[...]) }
    }

    private mutating func setPathAndQuery(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        path = String(decoding: bytes[..<(mark ?? bytes.endIndex)], as: UTF8.self)
        query = mark.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
    }

    /// Reads `host`, `host:port`, `[v6]` or `[v6]:port`; the port after a colon may be missing (RFC 3986 §6.2.3). The
    /// host becomes lower case, without brackets and trailing dot (RFC 1034 §3.1); an address gets its one spelling.
    /// Empty labels and characters that hosts cannot have are refused (RFC 3986 §3.2.2).
    package static func splitAuthority(_ text: some StringProtocol) -> (host: String, port: Int?)? {
        var text = String(text)
        return text.withUTF8 { splitAuthority($0[...]) }
    }

    /// By bytes, because each step on a string's characters or indices costs up to a hundred instructions.
    private static func splitAuthority(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> (host: String, port: Int?)? {
        var host = bytes
        var port: Int?
        if host.first == UInt8(ascii: "[") {
            guard let close = host.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let rest = host[(close + 1)...]
            if !rest.isEmpty {
                port = parsePort(rest.dropFirst())
                guard rest.first == UInt8(ascii: ":"), port != nil || rest.count == 1 else { return nil }
            }
            host = host[(host.startIndex + 1)..<close]
            // Without a colon it would not be an address.
            guard host.contains(UInt8(ascii: ":")), host.last != UInt8(ascii: "."), host.allSatisfy(isIPv6Byte) else {
                return nil
            }
            let address = String(decoding: host, as: UTF8.self)
            return (HostAddress.canonicalIPv6(address[...]) ?? address.lowercased(), port)
        } else if let colon = host.lastIndex(of: UInt8(ascii: ":")) {
            let digits = host[(colon + 1)...]
            port = parsePort(digits)
            guard port != nil || digits.isEmpty else { return nil }
            host = host[..<colon]
        }
        guard isName(host) else { return nil }
        if host.last == UInt8(ascii: ".") { host = host.dropLast() }
        let name = String(decoding: host, as: UTF8.self)
        if let address = HostAddress.canonicalIPv4(name[...]) { return (address, port) }
        // Outside ASCII, too: the lower case of U+212A is a k.
        return (host.contains { $0 &- 0x41 < 26 || $0 >= 0x80 } ? name.lowercased() : name, port)
    }

    /// The name with its trailing dot, which keeps resolvers from adding search domains; `nil` without the dot.
    package static func rootedName(of authority: some Collection<UInt8>) -> String? {
        Array(authority).withUnsafeBytes { rootedName(of: $0) }
    }

    package static func rootedName(of bytes: UnsafeRawBufferPointer) -> String? {
        let place = bytes[(bytes.lastIndex(of: UInt8(ascii: "@")).map { $0 + 1 } ?? 0)...]
        let name = place[..<(place.lastIndex(of: UInt8(ascii: ":")) ?? place.endIndex)]
        guard name.last == UInt8(ascii: ".") else { return nil }
        let text = String(decoding: name, as: UTF8.self).lowercased()
        return HostAddress.canonicalIPv4(text.dropLast()) == nil ? text : nil
    }

    private static func parsePort(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        guard digits.count <= 5, digits.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        let port = digits.reduce(0) { $0 * 10 + Int($1 &- 0x30) }
        return (1...65_535).contains(port) ? port : nil
    }

    private static func isIPv6Byte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || byte == 0x3A || byte == 0x2E || byte == 0x25
    }

    /// Labels with dots between them, and perhaps a dot at the end.
    private static func isName(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
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
        var text = String(text)
        guard let url = text.withUTF8({ RequestURL(utf8: $0) }) else { return nil }
        self = url
    }

    private init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        var scheme = String(decoding: bytes[..<colon], as: UTF8.self)
        if RequestURL.defaultPort(of: scheme) == nil { scheme = scheme.lowercased() }
        guard let defaultPort = RequestURL.defaultPort(of: scheme) else { return nil }
        var rest = bytes[(colon + 3)...]
        rest = rest[..<(rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex)]
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        var authority = rest[..<end]
        // RFC 9110 §4.2.4.
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        guard let (host, port) = RequestURL.splitAuthority(authority) else { return nil }
        self.init(scheme: scheme, host: host, port: port ?? defaultPort, path: "/")
        setPathAndQuery(rest[end...])
        if path.utf8.first != UInt8(ascii: "/") { path = "/" + path }
    }
}

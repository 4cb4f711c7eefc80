package struct UpstreamProxy: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
        case http
        /// HTTP inside TLS.
        case https
        /// RFC 1928; the proxy resolves names.
        case socks5
    }

    package var kind: Kind
    /// In lower case; an address without brackets.
    package var host: String
    package var port: Int
    package var user: String?
    package var password: String?

    package init(kind: Kind, host: String, port: Int, user: String? = nil, password: String? = nil) {
        (self.kind, self.host, self.port, self.user, self.password) = (kind, host, port, user, password)
    }

    /// In bytes (RFC 1929 §2).
    package static let credentialLimit = 255

    package struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
        package let description: String

        package init(_ description: String) { self.description = description }
    }

    /// Reads `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]`, user and password percent-encoded. Defaults are `http`, and
    /// port 80, 443 for `https` and 1080 for `socks5`.
    package init(_ text: some StringProtocol) throws(SyntaxError) {
        var rest = Substring(text)
        kind = .http
        if let mark = rest.firstRange(of: "://") {
            kind = try UpstreamProxy.kind(rest[..<mark.lowerBound].lowercased())
            rest = rest[mark.upperBound...]
        }
        (user, password) = (nil, nil)
        if let at = rest.lastIndex(of: "@") {
            (user, password) = try UpstreamProxy.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        if rest.last == "/" { rest.removeLast() }
        guard !rest.contains("/"), !rest.contains("?"), !rest.contains("#") else {
            throw SyntaxError("a proxy has no path: write SCHEME://HOST:PORT")
        }
        guard let (host, port) = RequestURL.splitAuthority(rest) else {
            // Without the text, which may have a password.
            throw SyntaxError("a proxy is written SCHEME://HOST:PORT, with an IPv6 address in brackets")
        }
        self.host = host
        self.port = port ?? kind.defaultPort
    }

    private static func kind(_ scheme: String) throws(SyntaxError) -> Kind {
        switch scheme {
        case "http": return .http
        case "https": return .https
        case "socks5", "socks5h", "socks": return .socks5
        case "socks4", "socks4a":
            throw SyntaxError("SOCKS 4 is not supported; the proxy may also support socks5://")
        default:
            throw SyntaxError("'\(scheme.prefix(20))' is not a kind of proxy; use http, https or socks5")
        }
    }

    private static func credentials(_ text: Substring) throws(SyntaxError) -> (user: String?, password: String?) {
        let colon = text.firstIndex(of: ":")
        let user = decoded(text[..<(colon ?? text.endIndex)])
        let password = colon.map { decoded(text[text.index(after: $0)...]) }
        guard let user, password != .some(nil) else {
            throw SyntaxError("the user or the password before '@' has a wrong percent-encoding: write %25 for '%'")
        }
        guard !user.isEmpty else { throw SyntaxError("the user before '@' is missing") }
        try checkUser(user)
        if let password = password ?? nil { try checkPassword(password) }
        return (user, password ?? nil)
    }

    package static func checkUser(_ user: String) throws(SyntaxError) {
        if user.contains(":") { throw SyntaxError("a proxy's user cannot have a colon (RFC 7617)") }
        try check(user, "user")
    }

    package static func checkPassword(_ password: String) throws(SyntaxError) { try check(password, "password") }

    private static func check(_ text: String, _ what: String) throws(SyntaxError) {
        if text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw SyntaxError("a proxy's \(what) cannot have control characters")
        }
        if text.utf8.count > credentialLimit {
            throw SyntaxError("a proxy's \(what) has at most \(credentialLimit) bytes")
        }
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.decoded(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension UpstreamProxy.Kind {
    var defaultPort: Int {
        switch self {
        case .http: 80
        case .https: 443
        case .socks5: 1_080
        }
    }
}

extension UpstreamProxy: CustomStringConvertible {
    package var description: String { "\(kind.rawValue)://\(HostAddress.withPort(host, port))" }
}

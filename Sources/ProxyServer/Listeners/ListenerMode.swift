import HTTPModel

/// How a listener takes traffic.
package enum ListenerMode: Sendable, Hashable {
    /// As a forward proxy: clients name the server in each request, or by CONNECT.
    case regular
    /// In place of one server: clients take the listener for it.
    case reverse(ReverseTarget)
    /// As a SOCKS proxy (RFC 1928).
    case socks5
    /// Connections that the kernel redirected here; Linux only.
    case transparent

    /// Whether its clients can be asked for a user and a password.
    package var canAuthenticate: Bool {
        switch self {
        case .regular, .socks5: true
        case .reverse(let target): target.transport == .http || target.transport == .https
        case .transparent: false
        }
    }

    /// The port to listen on where none is given, as mitmproxy has it.
    package var defaultPort: Int { self == .socks5 ? 1_080 : 8_080 }
}

extension ListenerMode: CustomStringConvertible {
    /// The mode as `--mode` takes it.
    package var description: String {
        switch self {
        case .regular: "regular"
        case .reverse(let target): "reverse:\(target)"
        case .socks5: "socks5"
        case .transparent: "transparent"
        }
    }
}

/// The server that a listener stands in for.
package struct ReverseTarget: Sendable, Hashable {
    package enum Transport: String, Sendable, Hashable, CaseIterable {
        case http, https
        /// Bytes that are passed on unread.
        case tcp
        /// TLS to the server; what the client sends is read where it is HTTP.
        case tls
    }

    package var transport: Transport
    /// A name in lower case and in ASCII, or an address without brackets.
    package var host: String
    package var port: Int

    package init(_ transport: Transport, host: String, port: Int) {
        self.transport = transport
        self.host = host
        self.port = port
    }

    /// The scheme of the URLs that are asked for there.
    var scheme: String { transport == .http ? "http" : "https" }

    /// The server as a `Host` field names it.
    var authority: String { RequestURL(scheme: scheme, host: host, port: port, path: "").authority }

    /// The connection behind it, for bytes that are not HTTP; `nil` where nothing but HTTP is spoken.
    var tunnel: RequestScope.Tunnel? {
        switch transport {
        case .http, .https: nil
        case .tcp: RequestScope.Tunnel(scheme: "http", host: host, port: port)
        case .tls: RequestScope.Tunnel(scheme: "https", host: host, port: port)
        }
    }

    /// The connection for a client's TLS that is not read; `nil` where the server speaks none.
    var unreadTunnel: RequestScope.Tunnel? {
        switch transport {
        case .http, .tcp: nil
        case .https, .tls: RequestScope.Tunnel(scheme: "http", host: host, port: port)
        }
    }
}

extension ReverseTarget: CustomStringConvertible {
    package var description: String {
        let authority = RequestURL(scheme: transport.rawValue, host: host, port: port, path: "").authority
        return "\(transport.rawValue)://\(authority)"
    }
}

/// One place where clients are listened for.
package struct Listener: Sendable, Hashable {
    package var mode: ListenerMode
    /// An address or a name to listen on.
    package var host: String
    /// The port to listen on; 0 for any free one.
    package var port: Int

    package init(_ mode: ListenerMode = .regular, host: String = "127.0.0.1", port: Int? = nil) {
        self.mode = mode
        self.host = host
        self.port = port ?? mode.defaultPort
    }

    /// Where it listens, as `host:port`, an IPv6 address in brackets.
    package var place: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        ["localhost", "::1"].contains(host) || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}

/// A mode that cannot be listened in, with what to write in its place.
package struct ListenerModeError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ text: String) { description = text }
}

import HTTPModel

package enum ListenerMode: Sendable, Hashable, CustomStringConvertible {
    /// As a forward proxy: clients name the server in each request, or by CONNECT.
    case regular
    /// In place of one server: clients regard the listener as the server.
    case reverse(ReverseTarget)
    /// As a SOCKS proxy (RFC 1928).
    case socks5
    /// Connections that the kernel redirected here; Linux only.
    case transparent

    package var canAuthenticate: Bool {
        switch self {
        case .regular, .socks5: true
        case .reverse(let target): target.transport == .http || target.transport == .https
        case .transparent: false
        }
    }

    /// The default port, as in mitmproxy.
    package var defaultPort: Int { self == .socks5 ? 1_080 : 8_080 }

    package var description: String {
        switch self {
        case .regular: "regular"
        case .reverse(let target): "reverse:\(target)"
        case .socks5: "socks5"
        case .transparent: "transparent"
        }
    }
}

package struct ReverseTarget: Sendable, Hashable, CustomStringConvertible {
    package enum Transport: String, Sendable, Hashable, CaseIterable {
        case http, https
        /// Bytes that pass unread.
        case tcp
        /// TLS to the server; the client's bytes are read if they are HTTP.
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

    var scheme: String { transport == .http ? "http" : "https" }

    var authority: String { RequestURL(scheme: scheme, host: host, port: port, path: "").authority }

    /// The tunnel for bytes that are not HTTP; `nil` if only HTTP is allowed.
    var tunnel: RequestScope.Tunnel? {
        switch transport {
        case .http, .https: nil
        case .tcp: RequestScope.Tunnel(scheme: "http", host: host, port: port)
        case .tls: RequestScope.Tunnel(scheme: "https", host: host, port: port)
        }
    }

    /// The tunnel for a client's unread TLS; `nil` if the server does not speak TLS.
    var unreadTunnel: RequestScope.Tunnel? {
        switch transport {
        case .http, .tcp: nil
        case .https, .tls: RequestScope.Tunnel(scheme: "http", host: host, port: port)
        }
    }

    package var description: String {
        let authority = RequestURL(scheme: transport.rawValue, host: host, port: port, path: "").authority
        return "\(transport.rawValue)://\(authority)"
    }
}

package struct Listener: Sendable, Hashable {
    package var mode: ListenerMode
    package var host: String
    /// 0 for any free port.
    package var port: Int

    package init(_ mode: ListenerMode = .regular, host: String = "127.0.0.1", port: Int? = nil) {
        self.mode = mode
        self.host = host
        self.port = port ?? mode.defaultPort
    }

    package var place: String { HostAddress.withPort(host, port) }

    /// Whether only this machine reaches it.
    package var isLoopback: Bool {
        ["localhost", "::1"].contains(host) || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
    }
}

package struct ListenerModeError: Error, Hashable, CustomStringConvertible {
    package let description: String

    init(_ text: String) { description = text }
}

package struct ListeningError: Error {
    package let listener: Listener
    package let cause: any Error
}

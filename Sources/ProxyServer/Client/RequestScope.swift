import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// Where requests on a connection are meant to go: what a request target is relative to.
enum RequestScope {
    /// The proxy's own port: targets are absolute, or CONNECT, or for the proxy itself.
    case proxy
    /// The inside of a tunnel to a host.
    case tunnel(Tunnel)

    /// A tunnel that is read.
    struct Tunnel {
        /// `https` where the client speaks TLS inside, else `http`.
        var scheme: String
        /// The host that CONNECT named.
        var host: String
        /// The port that CONNECT named.
        var port: Int
        /// The name in the client's TLS hello, where it differs from the host.
        var serverName: String?
    }
}

/// What became of a request's target.
enum RoutedRequest {
    /// To be proxied: the URL that the client means, and where to connect.
    case forward(RequestURL, Destination)
    /// To be answered by the proxy itself.
    case own(RequestURL)
    /// A tunnel is asked for.
    case connect(host: String, port: Int)
    /// Not to be understood.
    case invalid(String)
}

/// Works out what a request target means (RFC 9112 §3.2), and makes it the origin form that servers get.
struct RequestRouter {
    let scope: RequestScope
    let ownPort: Int?
    let isOwnHost: (String) -> Bool

    func route(_ head: inout RequestHead, isConnect: Bool) -> RoutedRequest {
        if isConnect {
            guard case .proxy = scope else { return .invalid("CONNECT inside a tunnel is not supported.") }
            guard let (host, port) = RequestURL.splitAuthority(head.target), let port else {
                return .invalid("CONNECT needs a target of the form host:port.")
            }
            return .connect(host: host, port: port)
        }
        let first = head.targetBytes.first
        if first == UInt8(ascii: "/") || first == UInt8(ascii: "*") { return origin(head) }
        return absolute(&head)
    }

    /// The origin and asterisk forms: the authority is the tunnel's, or Host's.
    private func origin(_ head: RequestHead) -> RoutedRequest {
        let hostField = head.fields.value(of: .host)
        let named = hostField.flatMap { $0.isEmpty ? nil : RequestURL.splitAuthority($0) }
        switch scope {
        case .tunnel(let tunnel):
            let defaultPort = RequestURL.defaultPort(of: tunnel.scheme) ?? tunnel.port
            var url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "/")
            // The name in Host is what the developer means; the tunnel's target may be a bare address.
            if let named, (named.port ?? defaultPort) == tunnel.port { url.host = named.host }
            setPath(of: &url, head.target)
            if url.host == OwnPages.host { return .own(url) }
            return .forward(url, destination(for: url, in: tunnel))
        case .proxy:
            guard let named else {
                return .own(RequestURL(scheme: "http", host: OwnPages.host, port: 80, path: head.target))
            }
            let port = named.port ?? 80
            var url = RequestURL(scheme: "http", host: named.host, port: port, path: "/")
            setPath(of: &url, head.target)
            if url.host == OwnPages.host || port == ownPort && isOwnHost(named.host) { return .own(url) }
            return .forward(url, Destination(scheme: "http", host: named.host, port: port))
        }
    }

    private func absolute(_ head: inout RequestHead) -> RoutedRequest {
        let target = head.target
        guard let url = RequestURL(target) else {
            return .invalid("The request target \(target.prefix(200)) is neither a path nor an http or https URL.")
        }
        // What follows scheme and authority is sent to the server byte for byte as it came.
        let bytes = head.targetBytes
        var slashes = 0
        var prefix = 0
        for byte in bytes {
            if byte == UInt8(ascii: "/") { slashes += 1 }
            if slashes == 3 || (slashes == 2 && byte == UInt8(ascii: "?")) { break }
            prefix += 1
        }
        if prefix == bytes.count {
            // RFC 9112 §3.2.4: OPTIONS of a whole server has the asterisk form.
            head.target = head.method == "OPTIONS" ? "*" : "/"
        } else if slashes == 3 {
            head.dropTargetPrefix(prefix)
        } else {
            head.setTarget([UInt8(ascii: "/")] + bytes.dropFirst(prefix))
        }
        // RFC 9112 §3.2.2: the target's authority counts, whatever Host says.
        if head.fields.value(of: .host)?.lowercased() != url.authority { head.fields.set("Host", url.authority) }
        if url.host == OwnPages.host || url.port == ownPort && isOwnHost(url.host) { return .own(url) }
        switch scope {
        case .tunnel(let tunnel) where tunnel.port == url.port:
            return .forward(url, destination(for: url, in: tunnel))
        case .tunnel, .proxy:
            let isSecure = url.scheme == "https" || url.scheme == "wss"
            return .forward(url, Destination(scheme: isSecure ? "https" : "http", host: url.host, port: url.port))
        }
    }

    private func destination(for url: RequestURL, in tunnel: RequestScope.Tunnel) -> Destination {
        Destination(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, serverName: tunnel.serverName)
    }

    private func setPath(of url: inout RequestURL, _ target: String) {
        if target.contains("?") { url.setPathAndQuery(target) } else { url.path = target }
    }
}

import ExchangeCore
import HTTPModel
import NIOCore

/// The destination of requests on a connection; request targets are read relative to it.
enum RequestScope {
    /// The proxy's own port: targets are absolute, or CONNECT, or for the proxy itself.
    case proxy
    case tunnel(Tunnel)
    case reverse(ReverseTarget)
    /// Only the proxy's own pages can be requested; the text explains why in one or two sentences.
    case nowhere(String)

    /// The inside of a tunnel to the proxy's own name, which needs no credentials.
    static let ownPages = RequestScope.nowhere(
        "This tunnel leads only to Sluice's own pages: /, /ca.pem, /ca.der and /ca.mobileconfig."
    )

    /// The tunnel for bytes that are not HTTP; `nil` if only HTTP is allowed.
    var tunnel: Tunnel? {
        switch self {
        case .tunnel(let tunnel): tunnel
        case .reverse(let target): target.tunnel
        case .proxy, .nowhere: nil
        }
    }

    struct Tunnel {
        /// `https` if the client speaks TLS inside, else `http`.
        var scheme: String
        var host: String
        var port: Int
        /// The name in the client's TLS hello if it differs from the host.
        var serverName: String?
        /// The address to connect to, if it is not `host`: the name from CONNECT with its trailing dot, or the address
        /// that the client requested before TLS named the host.
        var address: String?
        /// Whether the client asked for an address and its TLS may still name the host for the rules.
        var isUnnamed = false
        /// What was tolerated in its CONNECT, for the trace.
        var note: String?

        /// Whether the host is a name, from CONNECT or TLS: then a request inside cannot name a different host.
        private var isNamed: Bool { !HostAddress.isAddress(host[...]) }

        /// The address that the client asked for, if its TLS then named the host.
        var askedAddress: String? { address.flatMap { HostAddress.isAddress($0[...]) ? $0 : nil } }

        var targetAddress: String? { askedAddress ?? (isNamed ? nil : host) }

        /// The URL of a request inside the tunnel; `named` is the URL that the client requested.
        func url(for named: RequestURL) -> RequestURL {
            var url = named
            if isNamed { url.host = host }
            if ["https", "wss"].contains(named.scheme) != (scheme == "https") { url.scheme = scheme }
            return url
        }

        /// Remarks if the client asked for a name, and TLS or a request inside names another host.
        func remarks(onServerName serverName: String?, named name: String? = nil) -> [String] {
            guard serverName != nil || name != nil, isNamed else { return [] }
            var remarks: [String] = []
            if let serverName = serverName.map({ RequestURL.splitAuthority($0)?.host ?? $0 }), serverName != host {
                remarks.append("the client's TLS names \(serverName), but \(deciding)")
            }
            if let name, name != host { remarks.append("the request names \(name), but \(deciding)") }
            return remarks
        }

        /// Which host counts for rules and the URL, as the end of a remark after "but".
        private var deciding: String {
            askedAddress == nil
                ? "its tunnel was asked for \(host): the rules and the URL go by \(host), as the connection does"
                : "its TLS names \(host): the rules and the URL go by that"
        }

        fileprivate func refusal(of named: RequestURL) -> String {
            "This tunnel leads to \(url.authority), and the request is for \(named.authority): "
                + "that server needs a tunnel of its own, or a request outside of any."
        }

        var url: RequestURL { RequestURL(scheme: "tunnel", host: host, port: port, path: "") }

        func destination(scheme: String) -> Destination {
            Destination(scheme: scheme, host: host, port: port, serverName: serverName, address: address)
        }
    }
}

enum RoutedRequest {
    /// To a server: the client's URL, the destination, and remarks about the two.
    case forward(RequestURL, Destination, remarks: [String] = [])
    case own(RequestURL)
    case connect(RequestScope.Tunnel)
    case invalid(String, status: Int = 400)
}

/// Interprets a request target (RFC 9112 §3.2), and changes it to the origin form for servers.
struct RequestRouter {
    let scope: RequestScope
    let ownPort: Int?
    let shared: SharedState

    func route(_ head: inout RequestHead, isConnect: Bool) -> RoutedRequest {
        switch scope {
        case .proxy: break
        case .tunnel(let tunnel):
            return isConnect ? .invalid("CONNECT inside a tunnel is not supported.") : inside(tunnel, &head)
        case .reverse(let target): return reverse(&head, target, isConnect: isConnect)
        case .nowhere(let reason):
            if !isConnect, let url = RequestURL(head.target) ?? ownURL(head), isOwn(url), ProxyPages.isPage(url.path) {
                head.makeOriginForm()
                return .own(url)
            }
            return .invalid(reason)
        }
        if isConnect {
            let bracketed = RequestRouter.bracketed(head.target)
            guard let (host, port) = RequestURL.splitAuthority(bracketed ?? head.target), let port else {
                return .invalid("CONNECT needs a target like host:port.")
            }
            let rootedName = RequestURL.rootedName(of: head.targetBytes)
            return .connect(
                RequestScope.Tunnel(
                    scheme: "http",
                    host: host,
                    port: port,
                    address: rootedName,
                    isUnnamed: HostAddress.isAddress(host[...]),
                    note: bracketed.map { "CONNECT asked for \(head.target) without brackets; read as \($0)" }
                )
            )
        }
        return RequestRouter.hasPath(head) ? origin(head) : absolute(&head)
    }

    /// Adds the brackets that iOS omits around an IPv6 address; the last colon begins the port.
    private static func bracketed(_ target: String) -> String? {
        guard let colon = target.lastIndex(of: ":"), case let host = String(target[..<colon]), host.contains(":"),
            Resolver.address(host, port: 0) != nil
        else { return nil }
        return "[\(host)]\(target[colon...])"
    }

    /// Whether the target is of the origin or asterisk form.
    private static func hasPath(_ head: RequestHead) -> Bool {
        let first = head.targetBytes.first
        return first == UInt8(ascii: "/") || first == UInt8(ascii: "*")
    }

    /// A request inside a tunnel is for the tunnel's target, or refused. For an address, `Host` names the URL's host.
    private func inside(_ tunnel: RequestScope.Tunnel, _ head: inout RequestHead) -> RoutedRequest {
        let named: String?
        var url = RequestURL(scheme: tunnel.scheme, host: tunnel.host, port: tunnel.port, path: "/")
        if RequestRouter.hasPath(head) {
            named = head.fields.value(of: .host).flatMap { RequestURL.splitAuthority($0)?.host }
            url.setPathAndQuery(head.target)
        } else {
            guard var absolute = RequestURL(head.target) else { return RequestRouter.noTarget(head) }
            guard absolute.port == tunnel.port else { return .invalid(tunnel.refusal(of: absolute), status: 421) }
            RequestRouter.makeOriginForm(&head, of: &absolute)
            named = absolute.host
            url = absolute
        }
        if let named { url.host = named }
        url = tunnel.url(for: url)
        if url.host == ProxyPages.host { return .own(url) }
        let remarks = tunnel.remarks(onServerName: tunnel.serverName, named: named)
        return .forward(url, tunnel.destination(scheme: tunnel.scheme), remarks: remarks)
    }

    /// The origin and asterisk forms (RFC 9112 §3.2) on the proxy's own port: the `Host` field gives the server.
    private func origin(_ head: RequestHead) -> RoutedRequest {
        let hostField = head.fields.value(of: .host)
        let named = hostField.flatMap { $0.isEmpty ? nil : RequestURL.splitAuthority($0) }
        guard let named else {
            if let hostField, !hostField.isEmpty {
                return .invalid("The Host field '\(hostField.prefix(200))' is not a host.")
            }
            return .own(RequestURL(scheme: "http", host: ProxyPages.host, port: 80, path: head.target))
        }
        let port = named.port ?? 80
        var url = RequestURL(scheme: "http", host: named.host, port: port, path: "/")
        url.setPathAndQuery(head.target)
        if isOwn(url) { return .own(url) }
        let rootedName = hostField.flatMap { RequestURL.rootedName(of: $0.utf8) }
        return .forward(url, Destination(scheme: "http", host: named.host, port: port, address: rootedName))
    }

    /// A request to a reverse listener is for its server, whatever name the client uses.
    private func reverse(_ head: inout RequestHead, _ target: ReverseTarget, isConnect: Bool) -> RoutedRequest {
        let misuse = "This port stands in for \(target): it is not a proxy; request it like that server."
        if isConnect { return .invalid(misuse) }
        var url = RequestURL(scheme: target.scheme, host: target.host, port: target.port, path: "/")
        if let first = head.targetBytes.first, first != UInt8(ascii: "/"), first != UInt8(ascii: "*") {
            // RFC 9112 §3.2.2: a server accepts the absolute form for itself, but only a proxy for another host.
            guard let absolute = RequestURL(head.target),
                absolute.host == target.host && absolute.port == target.port || isOwn(absolute)
            else { return .invalid(misuse) }
            head.makeOriginForm()
        }
        url.setPathAndQuery(head.target)
        return .forward(url, Destination(scheme: target.scheme, host: target.host, port: target.port))
    }

    private func ownURL(_ head: RequestHead) -> RequestURL? {
        let named = head.fields.value(of: .host).flatMap { RequestURL.splitAuthority($0) }
        guard let named, head.target.hasPrefix("/") else { return nil }
        var url = RequestURL(scheme: "http", host: named.host, port: named.port ?? 80, path: "/")
        url.setPathAndQuery(head.target)
        return url
    }

    private func isOwn(_ url: RequestURL) -> Bool {
        url.host == ProxyPages.host || url.port == ownPort && ProxyPages.isOwnHost(url.host, shared)
    }

    private func absolute(_ head: inout RequestHead) -> RoutedRequest {
        guard var url = RequestURL(head.target) else { return RequestRouter.noTarget(head) }
        let rootedName = RequestRouter.makeOriginForm(&head, of: &url)
        if isOwn(url) { return .own(url) }
        let scheme = url.scheme == "https" || url.scheme == "wss" ? "https" : "http"
        return .forward(url, Destination(scheme: scheme, host: url.host, port: url.port, address: rootedName))
    }

    private static func noTarget(_ head: RequestHead) -> RoutedRequest {
        .invalid("The request target \(head.target.prefix(200)) is neither a path nor an http or https URL.")
    }

    /// Changes the absolute form to the origin form; returns the host with its trailing dot if the target has one.
    @discardableResult
    private static func makeOriginForm(_ head: inout RequestHead, of url: inout RequestURL) -> String? {
        let authority = head.makeOriginForm()
        // A fragment is sent to the server, which may read it as a part of the path: rules must see it.
        if head.targetBytes.contains(UInt8(ascii: "#")) { url.setPathAndQuery(head.target) }
        let rootedName = authority.withUnsafeBytes { RequestURL.rootedName(of: $0) }
        // RFC 9112 §3.2.2: the target's authority counts, not Host.
        let isHost = authority.withUnsafeBytes { authority in
            head.fields.withValue(of: .host) { host in
                host.count == authority.count && host.indices.allSatisfy { host[$0] == authority[$0] }
            }
        }
        if isHost != true {
            var named = url
            named.host = rootedName ?? url.host
            head.fields.set("Host", named.authority)
        }
        return rootedName
    }
}

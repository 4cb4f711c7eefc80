/// A subject that runs between the client and the origin.
final class Hop {
    let process: ChildProcess
    /// The folder of its files; nothing else is in it.
    let folder: String
    /// Seconds from its start until it accepted connections.
    let startTime: Double
    private let routes: [Traffic: Route]

    /// Waits until it accepts connections on all of its ports.
    init(_ process: ChildProcess, folder: String, routes: [Traffic: Route]) throws {
        self.process = process
        self.folder = folder
        self.routes = routes
        startTime = try Set(routes.values.map(\.port)).map(process.waitUntilAccepting).max() ?? 0
    }

    func route(_ traffic: Traffic) throws -> Route {
        guard let route = routes[traffic] else { throw BenchmarkError("the hop cannot carry this traffic") }
        return route
    }
}

/// How a client reaches the origin through a hop.
struct Route: Sendable {
    /// The port that the client connects to.
    var port: UInt16
    /// The origin's port, which is part of the requested URL.
    var originPort: UInt16
    /// The host of the requested URL.
    var host = "127.0.0.1"
    /// Whether the client speaks TLS.
    var isSecure = false
    /// Whether the client sends CONNECT before TLS.
    var usesTunnel = false

    /// Host and port of the requested URL.
    var authority: String { "\(host):\(originPort)" }
    /// What is before the path in the request line: nothing over TLS, or scheme, host and port for a proxy.
    var targetPrefix: String { isSecure ? "" : "http://\(authority)" }
    /// The request that opens the tunnel.
    var connectRequest: [UInt8] { Array("CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\r\n".utf8) }
}

extension [Traffic: Route] {
    /// The routes through a forward proxy, which has one port for all traffic.
    static func forwardProxy(port: UInt16, origin: Origin) -> [Traffic: Route] {
        let tunnel = Route(port: port, originPort: origin.secure, isSecure: true, usesTunnel: true)
        return [
            .plain: Route(port: port, originPort: origin.plain),
            .secure: tunnel,
            .http2: tunnel,
            .newHosts: tunnel,
        ]
    }
}

/// The names that the requests of one client have if each has a host of its own.
///
/// They end in `Site.domain`, for which the origin has a certificate.
struct HostNames {
    private var next: Int
    private let step: Int

    /// The names of one of several clients; no two clients have a name in common.
    init(client: Int, of clients: Int) {
        next = client
        step = clients
    }

    mutating func removeFirst() -> String {
        defer { next += step }
        return HostNames.name(next)
    }

    static func name(_ number: Int) -> String { "h\(number).\(Site.domain)" }
}

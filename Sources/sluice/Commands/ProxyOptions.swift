import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Runner
import Telemetry

enum HTTP2Choice: String, ExpressibleByArgument, CaseIterable {
    case off, client, upstream, on

    var legs: ProxyConfiguration.HTTP2Legs {
        switch self {
        case .off: []
        case .client: .client
        case .upstream: .upstream
        case .on: [.client, .upstream]
        }
    }
}

struct UpstreamProxyOptions: ParsableArguments {
    @Option(
        help: .value("url|env", "A proxy to servers: http://, https://, socks5:// or env."),
        completion: .list(["env"])
    )
    var upstreamProxy: String?
    @Option(help: .rare("host", "A host, *.SUFFIX, address or network to reach without it; repeatable."))
    var upstreamBypass: [String] = []
    @Flag(help: .rare(nil, "Reach servers of this machine through it, too.")) var upstreamLocalhost = false

    func validate() throws { _ = try read() }

    var option: UpstreamOption? {
        // `validate` has already reported an error.
        (try? read()) ?? nil
    }

    private func read() throws -> UpstreamOption? {
        guard let upstreamProxy else {
            if !upstreamBypass.isEmpty || upstreamLocalhost {
                throw ValidationError("--upstream-bypass and --upstream-localhost need --upstream-proxy.")
            }
            return nil
        }
        let environment = ProcessInfo.processInfo.environment
        var option: UpstreamOption
        do {
            option = try UpstreamOption(upstreamProxy, environment: environment)
        } catch {
            throw ValidationError("\(error.message) \(error.hint)")
        }
        option.bypass += try upstreamBypass.flatMap { $0.split(separator: ",") }.map { text in
            guard let bypass = ProxyBypass(text) else {
                let forms = "a host, *.SUFFIX, an address or a network such as 10.0.0.0/8"
                throw ValidationError("--upstream-bypass takes \(forms); not '\(text)'.")
            }
            return bypass
        }
        option.bypassesLocalhost = !upstreamLocalhost
        return option
    }
}

/// For every command that connects to servers.
struct UpstreamOptions: ParsableArguments {
    static let defaults = ProxyConfiguration.Timeouts()

    @Option(help: .value("file", "More certificates (PEM) to trust; repeatable."), completion: .certificates)
    var upstreamCa: [String] = []
    @Flag(help: "Do not verify servers.") var insecureUpstream = false
    @Option(help: .value("host", "A server not to verify; repeatable.")) var insecureHost: [String] = []
    @Option(help: .rare("host", "A server with old and weak TLS; repeatable.")) var tlsLegacy: [String] = []
    @Option(help: .value("side", "Where to use HTTP/2; 'upstream' is to servers.")) var http2 = HTTP2Choice.on
    @Option(help: .rare("seconds", "Limit for connecting to a server."))
    var connectTimeout = UpstreamOptions.defaults.connect.inSeconds
    @Option(help: .rare("seconds", "Limit until a response begins. (default: as --idle-timeout)"))
    var responseTimeout: Double?
    @OptionGroup var proxy: UpstreamProxyOptions

    func validate() throws {
        try UpstreamOptions.checkTimeout("connect-timeout", connectTimeout)
        if let responseTimeout { try UpstreamOptions.checkTimeout("response-timeout", responseTimeout) }
    }

    static func checkTimeout(_ name: String, _ value: Double) throws {
        guard (0.001...1_000_000).contains(value) else {
            throw ValidationError("--\(name) takes seconds from 0.001 to 1000000.")
        }
    }

    func apply(to settings: inout RunSettings) {
        settings.upstreamAuthorities = upstreamCa
        settings.skipsVerification = insecureUpstream
        settings.insecureHosts = insecureHost
        settings.legacyHosts = tlsLegacy
        settings.http2 = http2.legs
        settings.upstreamProxy = proxy.option
        settings.timeouts.connect = .milliseconds(Int64(connectTimeout * 1_000))
        settings.timeouts.response = responseTimeout.map { .milliseconds(Int64($0 * 1_000)) }
    }
}

/// Listeners, access to them, the authority, limits and timeouts.
struct ListenerOptions: ParsableArguments {
    @Option(
        name: [.customShort("p"), .long],
        help: .value(
            "[host:]port",
            "Where to listen; 0 is any port. (default: 127.0.0.1:8080, with a command any port)"
        )
    )
    var listen: String?
    @Option(
        help: .value(
            "mode[@[host:]port]",
            "regular, reverse:URL, socks5 or transparent; repeatable. (default: regular)"
        ),
        completion: .list(["regular", "socks5", "transparent"])
    )
    var mode: [String] = []
    @Flag(help: .rare(nil, "With reverse: keep the client's Host field.")) var reverseKeepHost = false
    @Flag(help: .rare(nil, "With reverse: keep redirects to the server.")) var reverseKeepRedirects = false
    @Option(help: .value("cidr", "A network that may use the proxy, too; repeatable.")) var allow: [String] = []
    @Option(help: .value("file", "Users that may use the proxy: sluice proxy-auth."), completion: .file())
    var proxyAuth: String?

    @OptionGroup var authority: AuthorityOptions

    @Option(help: .rare("seconds", "Limit of silence of an exchange; not of tunnels and streams."))
    var idleTimeout = UpstreamOptions.defaults.idle.inSeconds
    @Option(help: .rare("seconds", "Limit of silence of an undecrypted tunnel."))
    var tunnelTimeout = UpstreamOptions.defaults.tunnel.inSeconds
    @Option(help: .rare("seconds", "Limit for a request head and for a client's TLS handshake."))
    var headTimeout = UpstreamOptions.defaults.requestHead.inSeconds
    @Option(help: .rare("seconds", "Limit for a client's first byte and between its requests."))
    var keepAliveTimeout = UpstreamOptions.defaults.keepAlive.inSeconds
    @Option(help: .rare("number", "Limit of client connections. (default: half of what 'ulimit -n' leaves beside 64)"))
    var maxConnections: Int?
    @Option(help: .rare("number", "Limit of one client's connections. (default: 1000 for other machines)"))
    var maxClientConnections: Int?
    @Option(help: .rare("seconds", "How long exchanges may take to finish at the end.")) var grace = 3.0

    func validate() throws {
        for (name, seconds) in [
            ("idle", idleTimeout), ("tunnel", tunnelTimeout), ("head", headTimeout), ("keep-alive", keepAliveTimeout),
        ] {
            try UpstreamOptions.checkTimeout("\(name)-timeout", seconds)
        }
        for (name, number) in [("max-connections", maxConnections), ("max-client-connections", maxClientConnections)] {
            guard let number, !ConnectionLimits.range.contains(number) else { continue }
            throw ValidationError("--\(name) takes a number from 1 to 1000000; not \(number).")
        }
        if !(0...3_600).contains(grace) { throw ValidationError("--grace takes seconds from 0 to 3600.") }
        // It is not known yet whether there is a command.
        _ = try listeners(port: 0, hasCommand: true)
        _ = try networks()
    }

    /// `port` is the default port. A command always gets a forward proxy, even if `--mode` names only other listeners.
    func settings(port: Int, hasCommand: Bool = false) throws -> RunSettings {
        var settings = try authority.settings()
        settings.listeners = try listeners(port: port, hasCommand: hasCommand)
        settings.reverse.keepsHost = reverseKeepHost
        settings.reverse.keepsRedirects = reverseKeepRedirects
        settings.allowed = try networks()
        settings.proxyUsers = proxyAuth
        settings.hasPlaceInMode = mode.contains { $0.hasPrefix("regular@") }
        if let maxConnections { settings.connections.inAll = maxConnections }
        if let maxClientConnections { settings.connections.perClient = maxClientConnections }
        settings.timeouts.requestHead = .milliseconds(Int64(headTimeout * 1_000))
        settings.timeouts.keepAlive = .milliseconds(Int64(keepAliveTimeout * 1_000))
        settings.timeouts.idle = .milliseconds(Int64(idleTimeout * 1_000))
        settings.timeouts.tunnel = .milliseconds(Int64(tunnelTimeout * 1_000))
        settings.grace = .milliseconds(Int64(grace * 1_000))
        return settings
    }

    static func place(_ listen: String) throws -> (host: String?, port: Int) {
        if let place = Listener.place(listen) { return place }
        throw ValidationError("--listen takes a port or host:port, such as 127.0.0.1:8080; not '\(listen)'.")
    }

    private func listeners(port: Int, hasCommand: Bool) throws -> [Listener] {
        var regular = Listener(port: port)
        if let listen {
            let (host, port) = try Self.place(listen)
            regular = Listener(host: host ?? regular.host, port: port)
        }
        var listeners = try mode.map { text in
            do throws(ListenerModeError) {
                return try Listener(reading: text, regular: regular)
            } catch {
                throw ValidationError("--mode: \(error)")
            }
        }
        if listeners.isEmpty || hasCommand && !listeners.contains(where: { $0.mode == .regular }) {
            listeners.insert(regular, at: 0)
        }
        if listen != nil, !listeners.contains(regular) {
            let mode = mode.first.map { String($0.prefix { $0 != "@" }) } ?? ""
            throw ValidationError("--listen needs the mode 'regular'; add --mode regular, or use --mode \(mode)@PORT.")
        }
        for (index, listener) in listeners.enumerated() where listener.port != 0 {
            if let other = listeners[..<index].first(where: { $0.place == listener.place }) {
                throw ValidationError("\(other.mode) uses \(listener.place), too; write --mode \(listener.mode)@PORT.")
            }
        }
        let isReverse = listeners.contains { if case .reverse = $0.mode { true } else { false } }
        if reverseKeepHost || reverseKeepRedirects, !isReverse {
            let flag = reverseKeepHost ? "--reverse-keep-host" : "--reverse-keep-redirects"
            throw ValidationError("\(flag) needs --mode reverse:URL.")
        }
        return listeners
    }

    private func networks() throws -> [AccessRules.Network] {
        try allow.flatMap { $0.split(separator: ",") }.map { text in
            guard let network = AccessRules.Network(String(text)) else {
                throw ValidationError("--allow takes an address or a network such as 192.168.0.0/16; not '\(text)'.")
            }
            return network
        }
    }
}

/// The value of `--otlp`, which may be missing.
struct SpanEndpoint: ExpressibleByArgument, CustomStringConvertible {
    /// `nil` is the environment's.
    var url: String?
    /// Shown in the help as the default, which the option does not have.
    var description: String { url ?? "" }

    init() {}

    init?(argument: String) { url = argument }
}

struct SpanOptions: ParsableArguments {
    @Option(
        defaultAsFlag: SpanEndpoint(),
        parsing: .next,
        help: .value("url", "Send a span of each exchange to this OpenTelemetry receiver, or to the environment's."),
        completion: .list(["http://localhost:4318"])
    )
    var otlp: SpanEndpoint?

    func validate() throws { _ = try settings() }

    func settings() throws -> SpanSettings? {
        guard let otlp else { return nil }
        do {
            return try SpanSettings(url: otlp.url, environment: ProcessInfo.processInfo.environment)
        } catch {
            throw ValidationError(error.description)
        }
    }
}

/// For every command that runs a proxy to servers.
struct ProxyOptions: ParsableArguments {
    @OptionGroup(title: "Listeners") var listener: ListenerOptions
    @OptionGroup(title: "Servers") var upstream: UpstreamOptions

    @OptionGroup var spans: SpanOptions
    @Flag(help: .rare(nil, "Keep decrypting hosts whose clients refuse the certificate.")) var noAutoTunnel = false

    func settings(port: Int = 8080, hasCommand: Bool = false) throws -> RunSettings {
        var settings = try listener.settings(port: port, hasCommand: hasCommand)
        upstream.apply(to: &settings)
        settings.spans = try spans.settings()
        settings.tunnelsRefusingHosts = !noAutoTunnel
        return settings
    }
}

extension TimeAmount {
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

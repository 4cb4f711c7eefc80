import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Runner

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

/// The options of the way to servers through another proxy.
struct UpstreamProxyOptions: ParsableArguments {
    @Option(
        help: .value(
            "url|env",
            "A proxy to servers, if no 'upstream' rule applies: http://, https:// or socks5://[USER:PASSWORD@]HOST:PORT, "
                + "or 'env' for http_proxy and its like."
        ),
        completion: .list(["env"])
    )
    var upstreamProxy: String?

    @Option(
        help: .rare(
            "host",
            "A server that is reached without --upstream-proxy: a host, *.SUFFIX, an address or a network; repeatable."
        )
    )
    var upstreamBypass: [String] = []

    @Flag(help: .rare(nil, "Reach servers of this machine through --upstream-proxy, too.")) var upstreamLocalhost =
        false

    func validate() throws { _ = try read() }

    /// What the options say; `nil` where they are not given.
    var option: UpstreamOption? {
        // `validate` has thrown what is wrong with them.
        (try? read()) ?? nil
    }

    private func read() throws -> UpstreamOption? {
        guard let upstreamProxy else {
            if !upstreamBypass.isEmpty || upstreamLocalhost {
                throw ValidationError("--upstream-bypass and --upstream-localhost go with --upstream-proxy.")
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

/// The options of every command that speaks to servers.
struct UpstreamOptions: ParsableArguments {
    /// What counts where nothing is said.
    static let usual = ProxyConfiguration.Timeouts()

    @Option(
        help: .value("file", "Certificates (PEM) to trust besides the system's; repeatable."),
        completion: .certificates
    )
    var upstreamCa: [String] = []

    @Flag(help: "Verify no server.") var insecureUpstream = false
    @Option(help: .value("host", "A server not to verify; repeatable.")) var insecureHost: [String] = []

    @Option(help: .rare("host", "A server with which old and weak TLS is spoken; repeatable."))
    var tlsLegacy: [String] = []

    @Option(help: .value("where", "With whom HTTP/2 is spoken; 'upstream' is the servers."))
    var http2 = HTTP2Choice.on

    @Option(help: .rare("seconds", "How long connecting to a server may take."))
    var connectTimeout = UpstreamOptions.usual.connect.inSeconds

    @Option(
        help: .rare(
            "seconds",
            "How long a server may take to begin its response once it has the request. (default: as --idle-timeout)"
        )
    )
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

/// Where a proxy listens, for whom and as whom, and how long it waits.
struct ListenerOptions: ParsableArguments {
    @Option(
        name: [.customShort("p"), .long],
        help: .value(
            "[host:]port",
            "Where to listen; a port alone is on 127.0.0.1, port 0 any free one. (default: 127.0.0.1:8080, with a command a free port)"
        )
    )
    var listen: String?

    @Option(
        help: .value(
            "mode[@[host:]port]",
            """
            How traffic arrives: 'regular', a forward proxy; 'reverse:URL' in place of a server; 'socks5'; \
            'transparent'; repeatable. (default: regular)
            """
        ),
        completion: .list(["regular", "socks5", "transparent"])
    )
    var mode: [String] = []

    @Flag(help: .rare(nil, "With reverse: pass on the Host that the client sent, and not the server's."))
    var reverseKeepHost = false
    @Flag(help: .rare(nil, "With reverse: pass on redirects to the server unchanged.")) var reverseKeepRedirects = false

    @Option(
        help: .value(
            "cidr",
            "A network that may use the proxy, too; needed if others can reach it; repeatable."
        )
    )
    var allow: [String] = []

    @Option(
        help: .value(
            "file",
            "Who may use the proxy, as 'sluice proxy-auth add USER' writes it. (default: anyone allowed)"
        ),
        completion: .file()
    )
    var proxyAuth: String?

    @OptionGroup var authority: AuthorityOptions

    @Option(
        help: .rare(
            "seconds",
            "How long an exchange may be silent, but for tunnels, WebSockets and streams of messages."
        )
    )
    var idleTimeout = UpstreamOptions.usual.idle.inSeconds

    @Option(
        help: .rare(
            "seconds",
            "How long a tunnel that is not read may be silent in both directions."
        )
    )
    var tunnelTimeout = UpstreamOptions.usual.tunnel.inSeconds

    @Option(
        help: .rare(
            "seconds",
            "How long a request head, or a TLS handshake of a client, may take from its first byte."
        )
    )
    var headTimeout = UpstreamOptions.usual.requestHead.inSeconds

    @Option(
        help: .rare(
            "seconds",
            "How long a client's connection may wait for its first byte, and between two requests."
        )
    )
    var keepAliveTimeout = UpstreamOptions.usual.keepAlive.inSeconds

    @Option(
        help: .rare(
            "number",
            "How many connections clients may have open in all; further ones wait. (default: half of what 'ulimit -n' leaves beside 64)"
        )
    )
    var maxConnections: Int?

    @Option(
        help: .rare(
            "number",
            "How many connections one client may have open; further ones are closed. (default: 1000 for other machines, at the most half of all)"
        )
    )
    var maxClientConnections: Int?

    @Option(help: .rare("seconds", "How long exchanges may take to finish when stopped.")) var grace = 3.0

    func validate() throws {
        try UpstreamOptions.checkTimeout("idle-timeout", idleTimeout)
        try UpstreamOptions.checkTimeout("tunnel-timeout", tunnelTimeout)
        try UpstreamOptions.checkTimeout("head-timeout", headTimeout)
        try UpstreamOptions.checkTimeout("keep-alive-timeout", keepAliveTimeout)
        for (name, number) in [
            ("max-connections", maxConnections), ("max-client-connections", maxClientConnections),
        ] {
            guard let number, !ConnectionLimits.range.contains(number) else { continue }
            throw ValidationError("--\(name) takes a number from 1 to 1000000; not \(number).")
        }
        if !(0...3_600).contains(grace) { throw ValidationError("--grace takes seconds from 0 to 3600.") }
        // Whether there is a command, and so which listeners there are, is known later.
        _ = try listeners(port: 0, hasCommand: true)
        _ = try networks()
    }

    /// The settings; `port` is the one to listen on where none is given. A command needs a forward proxy, whatever the
    /// modes are.
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

    private func listeners(port: Int, hasCommand: Bool) throws -> [Listener] {
        var regular = Listener(port: port)
        if let listen {
            guard let (host, port) = Listener.place(listen) else {
                throw ValidationError("--listen takes a port or host:port, such as 127.0.0.1:8080; not '\(listen)'.")
            }
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
            throw ValidationError(
                "--listen is where the mode 'regular' listens, and there is no such listener: add --mode regular, or write "
                    + "the place behind the mode (--mode \(mode.first.map { String($0.prefix { $0 != "@" }) } ?? "")@PORT)."
            )
        }
        for (index, listener) in listeners.enumerated() where listener.port != 0 {
            if let other = listeners[..<index].first(where: { $0.place == listener.place }) {
                throw ValidationError(
                    "\(other.mode) and \(listener.mode) cannot both listen on \(listener.place): write another port "
                        + "behind one of them, --mode \(listener.mode)@PORT."
                )
            }
        }
        let isReverse = listeners.contains { if case .reverse = $0.mode { true } else { false } }
        if reverseKeepHost || reverseKeepRedirects, !isReverse {
            let flag = reverseKeepHost ? "--reverse-keep-host" : "--reverse-keep-redirects"
            throw ValidationError("\(flag) goes with --mode reverse:URL.")
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

/// The options of every command that runs a proxy to servers.
struct ProxyOptions: ParsableArguments {
    @OptionGroup(title: "Where it listens") var listener: ListenerOptions
    @OptionGroup(title: "Servers") var upstream: UpstreamOptions

    @Flag(help: .rare(nil, "Keep decrypting hosts whose clients refuse our certificate.")) var noAutoTunnel = false

    /// The settings; `port` is the one to listen on where none is given.
    func settings(port: Int = 8080, hasCommand: Bool = false) throws -> RunSettings {
        var settings = try listener.settings(port: port, hasCommand: hasCommand)
        upstream.apply(to: &settings)
        settings.tunnelsRefusingHosts = !noAutoTunnel
        return settings
    }
}

extension TimeAmount {
    fileprivate var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

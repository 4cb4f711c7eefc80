public import ArgumentParser
import HTTPModel
import NIOCore
import ProxyServer
public import Recording
import Runner

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy without a screen, recording what passes.",
        discussion: """
            Stops at SIGINT (Ctrl-C) or SIGTERM: exchanges get a moment to finish, everything is written, and a summary \
            says what there was. The exit code is 1 where the session could not be written whole.
            """
    )

    @OptionGroup var proxy: ProxyOptions

    @Option(help: "The session file to record to; one that exists is continued. (default: a new one)")
    var session: String?

    @Flag(help: "Record nothing.")
    var noSession = false

    @Option(
        help: "What gives way when the disk is too slow: 'lossless' lets the traffic wait, 'lossy' cuts bodies short."
    )
    var recorder: RecorderConfiguration.Mode = .lossless

    @Option(help: "The rule profile (YAML).")
    var profile: String?

    @Flag(help: "Print no line for each exchange.")
    var quiet = false

    @Flag(help: "Print one JSON object for each exchange.")
    var json = false

    func validate() throws {
        if quiet, json { throw ValidationError("--quiet and --json exclude each other.") }
        if noSession, session != nil { throw ValidationError("--session and --no-session exclude each other.") }
    }

    func run() async throws {
        var settings = try proxy.settings()
        settings.session = session
        settings.recordsNothing = noSession
        settings.recorder = recorder
        settings.profile = profile
        settings.output = quiet ? .quiet : json ? .json : .lines
        StopSignals.prepare()
        let running = try await RunningProxy.start(settings)
        announce(running)
        await StopSignals.wait()
        StandardStreams.error("sluice: stopping; once more ends it at once\n")
        let summary = await running.stop()
        StandardStreams.error(RunSummary.text(summary))
        if summary.error != nil { throw ExitCode(1) }
    }

    private func announce(_ running: RunningProxy) {
        let host = running.address.ipAddress ?? ""
        let address = "\(host.contains(":") ? "[\(host)]" : host):\(running.address.port ?? 0)"
        var text = "sluice: listening on \(address)\n"
        text +=
            running.session.map { "sluice: recording to \($0)\n" } ?? "sluice: not recording, as --no-session says\n"
        if let recovered = running.recovered {
            let ids = recovered.first.map(\.description).joined(separator: ", ")
            text +=
                "sluice: the session was not closed; \(recovered.count) \(recovered.count == 1 ? "exchange was" : "exchanges were") in flight (\(ids)"
            text += recovered.count > recovered.first.count ? ", …)\n" : ")\n"
        }
        if let profile = running.profileSummary { text += "sluice: profile: \(profile)\n" }
        StandardStreams.error(text)
    }
}

extension RecorderConfiguration.Mode: ExpressibleByArgument {}

/// The legs on which HTTP/2 is spoken, as `--http2` names them.
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

/// The options of every command that runs a proxy.
struct ProxyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where to listen; port 0 is any free one.", valueName: "host:port"))
    var listen = "127.0.0.1:8080"

    @Option(
        help: ArgumentHelp(
            "A network that may use the proxy beside this machine; needed where others can reach it. Repeatable.",
            valueName: "cidr"
        )
    )
    var allow: [String] = []

    @Option(help: "A certificate authority to use in place of your own: PEM with key, or PKCS #12.")
    var ca: String?

    @Option(help: "The PEM file with the authority's key, where --ca has only the certificate.")
    var caKey: String?

    @Option(help: "The password of a PKCS #12 authority.")
    var caPassword: String?

    @Option(help: "A PEM file with certificates to trust when servers are verified. Repeatable.")
    var upstreamCa: [String] = []

    @Flag(help: "Verify no server.")
    var insecureUpstream = false

    @Option(help: ArgumentHelp("A server not to verify. Repeatable.", valueName: "host"))
    var insecureHost: [String] = []

    @Option(help: ArgumentHelp("A server with which old and weak TLS is spoken. Repeatable.", valueName: "host"))
    var tlsLegacy: [String] = []

    @Option(help: "Where HTTP/2 is spoken: on both legs ('on'), with clients or with servers only, or nowhere ('off').")
    var http2 = HTTP2Choice.on

    @Flag(help: "Keep decrypting hosts whose clients refuse our certificate.")
    var noAutoTunnel = false

    @Option(help: ArgumentHelp("How long connecting to a server may take.", valueName: "seconds"))
    var connectTimeout = 15.0

    @Option(
        help: ArgumentHelp(
            "How long an exchange may be silent, but for tunnels, WebSockets and streams of messages.",
            valueName: "seconds"
        )
    )
    var idleTimeout = 600.0

    @Option(help: ArgumentHelp("How long the rest of a request head may take.", valueName: "seconds"))
    var headTimeout = 60.0

    @Option(help: ArgumentHelp("How long exchanges may take to finish when stopped.", valueName: "seconds"))
    var grace = 3.0

    func validate() throws {
        for (name, value) in [
            ("connect-timeout", connectTimeout), ("idle-timeout", idleTimeout), ("head-timeout", headTimeout),
        ]
        where !(0.001...1_000_000).contains(value) {
            throw ValidationError("--\(name) takes seconds above 0.")
        }
        if !(0...3_600).contains(grace) { throw ValidationError("--grace takes seconds from 0 to 3600.") }
        if caKey != nil, ca == nil { throw ValidationError("--ca-key needs --ca.") }
        _ = try place()
        _ = try networks()
    }

    func settings() throws -> RunSettings {
        var settings = RunSettings()
        (settings.host, settings.port) = try place()
        settings.allowed = try networks()
        settings.authority = ca
        settings.authorityKey = caKey
        settings.authorityPassword = caPassword
        settings.upstreamAuthorities = upstreamCa
        settings.skipsVerification = insecureUpstream
        settings.insecureHosts = insecureHost
        settings.legacyHosts = tlsLegacy
        settings.tunnelsRefusingHosts = !noAutoTunnel
        settings.http2 = http2.legs
        settings.timeouts.connect = .milliseconds(Int64(connectTimeout * 1_000))
        settings.timeouts.requestHead = .milliseconds(Int64(headTimeout * 1_000))
        settings.timeouts.idle = .milliseconds(Int64(idleTimeout * 1_000))
        settings.grace = .milliseconds(Int64(grace * 1_000))
        return settings
    }

    private func place() throws -> (String, Int) {
        var host = listen[...]
        guard let colon = host.lastIndex(of: ":"), let port = Int(host[host.index(after: colon)...]),
            (0...65_535).contains(port)
        else { throw ValidationError("--listen takes host:port, for example 127.0.0.1:8080; not '\(listen)'.") }
        host = host[..<colon]
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return (host.isEmpty ? "127.0.0.1" : String(host), port)
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

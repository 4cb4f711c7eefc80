package import ExchangeCore
package import HTTPModel
package import NIOCore
package import Wire

/// The settings of a proxy server; only the rules change while it runs.
package struct ProxyConfiguration: Sendable {
    /// At least one.
    package var listeners = [Listener()]
    package var reverse = ReverseOptions()
    package var access = AccessRules()
    /// `nil` if clients need no user and password.
    package var authentication: ProxyAuthentication?
    package var loopCount = ProxyLimits.loops
    package var authority: CertificateAuthority
    package var trust = TLSTrust()
    /// `--insecure-upstream`
    package var skipsVerification = false
    /// Hosts whose certificates are not verified at the start (`--insecure-host`), in lower case.
    package var insecureHosts: Set<String> = []
    /// Hosts for which old and weak TLS is allowed (`--tls-legacy`), in lower case.
    package var legacyHosts: Set<String> = []
    /// Receives TLS secrets in the NSS key log form (`SSLKEYLOGFILE`).
    package var keyLog: (@Sendable (String) -> Void)?
    /// Whether a client that refused Sluice's certificate for a host twice gets unread tunnels to it for a while.
    package var tunnelsRefusingHosts = true
    package var http2: HTTP2Legs = [.client, .upstream]
    package var timeouts = Timeouts()
    package var connections = ConnectionLimits()
    /// Answers in place of servers; if set, no connection to a server is ever made.
    package var answers: (any RecordedAnswers)?
    package var clientProcesses: (any ClientProcessSource)?
    /// May block.
    var lookUp: Resolver.LookUp = Resolver.addresses(of:family:)
    package var firstExchange: Int64 = 1
    package var firstConnection: Int64 = 1

    package init(authority: CertificateAuthority) { self.authority = authority }

    package struct ReverseOptions: Sendable, Hashable {
        /// Whether the server gets the client's `Host` instead of its own.
        package var keepsHost = false
        /// Whether redirects to the server are passed unchanged, past this proxy.
        package var keepsRedirects = false

        package init() {}
    }

    /// The legs that may use HTTP/2; the others use HTTP/1.1.
    package struct HTTP2Legs: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let client = HTTP2Legs(rawValue: 1 << 0)
        package static let upstream = HTTP2Legs(rawValue: 1 << 1)
    }

    package struct Timeouts: Sendable {
        /// For each of resolving, connecting and the TLS handshake with a server.
        package var connect = TimeAmount.seconds(15)
        /// For the next byte of an exchange that waits for its server or its client.
        package var idle = TimeAmount.seconds(600)
        /// For the next byte of an unread tunnel, in either direction.
        package var tunnel = TimeAmount.seconds(3_600)
        /// The silence after which such a tunnel may be closed for another client.
        var tunnelForOthers = TimeAmount.seconds(60)
        /// The idle time after which a connection, or an unused tunnel, may be closed for another client.
        var idleForOthers = TimeAmount.seconds(2)
        /// The same for a connection on which its client has never sent anything.
        var silentForOthers = TimeAmount.milliseconds(500)
        /// How long a client may make no progress before its connection may be closed for another client.
        var stallForOthers = TimeAmount.seconds(5)
        /// How long an HTTP/2 client may read nothing before its stream to the server may serve a waiting request.
        package var streamForOthers = TimeAmount.seconds(30)
        /// For the beginning of a server's response after the request; `nil` for ``idle``.
        package var response: TimeAmount?
        /// For a request head or a client's TLS handshake, from its first byte.
        package var requestHead = TimeAmount.seconds(60)
        /// For the first byte of a client's connection, and for the next request on it.
        package var keepAlive = TimeAmount.seconds(300)
        /// For the next use of a server's connection.
        package var pooled = TimeAmount.seconds(60)
        /// For the first byte in a new tunnel; then the server is assumed to speak first.
        package var serverFirst = TimeAmount.milliseconds(200)
        /// For finding the client's program if a different program at its address gets tunnels to the same server.
        var identity = TimeAmount.milliseconds(50)

        package init() {}
    }
}

/// The rules in force, replaced as a whole; exchanges keep those with which they began.
package struct ProxyRules: Sendable {
    package var chain: StageChain
    /// Whether TLS to a host (in lower case) and port is decrypted; `address` is set if the client requested one. If
    /// `host` is `nil`, it is not known yet: returns whether it may be decrypted.
    package var decrypts: @Sendable (_ host: String?, _ port: Int, _ address: String?) -> Bool
    /// Further clients that may use the proxy; checked when they connect.
    package var access: AccessRules?
    /// The route for a sent URL with the destination's host and port, for each connection; `nil` if all are direct.
    package var route: (@Sendable (RequestURL) -> UpstreamRoute)?
    /// The client certificate for a server, by host (in lower case) and port.
    package var identity: (@Sendable (_ host: String, _ port: Int) -> TLSClientIdentity?)?

    /// By default there are no stages, every host is decrypted, and no further clients are allowed.
    package init(
        chain: StageChain = StageChain(),
        decrypts: @escaping @Sendable (_ host: String?, _ port: Int, _ address: String?) -> Bool = { _, _, _ in true },
        access: AccessRules? = nil
    ) {
        self.chain = chain
        self.decrypts = decrypts
        self.access = access
    }
}

extension TimeAmount {
    /// The amount in seconds, for messages: `15` or `0.5`.
    var inSeconds: String {
        let seconds = Double(nanoseconds) / 1e9
        return seconds == seconds.rounded() ? String(Int(seconds)) : String(seconds)
    }

    /// The amount in seconds, for sentences: `1 second` or `0.5 seconds`.
    var inWords: String { nanoseconds == 1_000_000_000 ? "1 second" : "\(inSeconds) seconds" }
}

package import ExchangeCore
package import HTTPModel
package import NIOCore
package import Wire

/// How a proxy server is to behave; fixed for its lifetime, except for the rules.
package struct ProxyConfiguration: Sendable {
    /// Where clients are listened for, and in which modes; one at least.
    package var listeners = [Listener()]
    package var reverse = ReverseOptions()
    package var access = AccessRules()
    /// Asks clients for a user and a password; `nil` where they need none.
    package var authentication: ProxyAuthentication?
    package var loopCount = ProxyLimits.loops
    /// The authority that signs the certificates shown to clients.
    package var authority: CertificateAuthority
    /// What is trusted when servers are verified.
    package var trust = TLSTrust()
    /// Whether no server is verified (`--insecure-upstream`).
    package var skipsVerification = false
    /// Hosts whose certificate is not verified from the start (`--insecure-host`), in lower case.
    package var insecureHosts: Set<String> = []
    /// Hosts with which old and weak TLS is spoken (`--tls-legacy`), in lower case.
    package var legacyHosts: Set<String> = []
    /// Receives TLS secrets in the NSS key log form (`SSLKEYLOGFILE`).
    package var keyLog: (@Sendable (String) -> Void)?
    /// Whether a client that refused our certificate for a host twice is passed through unread there for a while.
    package var tunnelsRefusingHosts = true
    package var http2: HTTP2Legs = [.client, .upstream]
    package var timeouts = Timeouts()
    package var connections = ConnectionLimits()
    /// What answers in place of servers; where there is something, no connection to a server is ever made.
    package var answers: (any RecordedAnswers)?
    /// Finds which process of this machine a client is; `nil` where nothing does.
    package var clientProcesses: (any ClientProcessSource)?
    /// Looks up the addresses of names; may block.
    var lookUp: Resolver.LookUp = Resolver.addresses(of:family:)
    package var firstExchange: Int64 = 1
    package var firstConnection: Int64 = 1

    package init(authority: CertificateAuthority) { self.authority = authority }

    /// What listeners that stand in for a server leave as it comes.
    package struct ReverseOptions: Sendable, Hashable {
        /// Whether the server gets the `Host` that the client sent, and not its own.
        package var keepsHost = false
        /// Whether clients get redirects to the server as it sent them, past this proxy.
        package var keepsRedirects = false

        package init() {}
    }

    /// The legs on which HTTP/2 may be spoken; what is left out speaks HTTP/1.1.
    package struct HTTP2Legs: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        package static let client = HTTP2Legs(rawValue: 1 << 0)
        package static let upstream = HTTP2Legs(rawValue: 1 << 1)
    }

    package struct Timeouts: Sendable {
        /// For resolving, connecting and the TLS handshake with a server, each.
        package var connect = TimeAmount.seconds(15)
        /// For the next byte of an exchange that waits for its server or its client.
        package var idle = TimeAmount.seconds(600)
        /// For the next byte of a tunnel that is not read, in either direction.
        package var tunnel = TimeAmount.seconds(3_600)
        /// How long such a tunnel must have been silent before it may be closed for another client.
        var tunnelForOthers = TimeAmount.seconds(60)
        /// How long a connection must have been idle, or a tunnel open and never used, before it may be closed for another client.
        var idleForOthers = TimeAmount.seconds(2)
        /// The same for a connection on which its client has never sent anything.
        var silentForOthers = TimeAmount.milliseconds(500)
        /// How long a client must have neither sent the rest of what it began nor taken what there is for it, before its
        /// connection may be closed for another client.
        var stallForOthers = TimeAmount.seconds(5)
        /// How long a client of HTTP/2 must have taken nothing of a response before its stream of the server may be
        /// given to a request that waits for one.
        package var streamForOthers = TimeAmount.seconds(30)
        /// For the beginning of a server's response, once it has the request; `nil` for ``idle``.
        package var response: TimeAmount?
        /// For a request head, or a TLS handshake of a client, from its first byte on.
        package var requestHead = TimeAmount.seconds(60)
        /// For the first byte of a client's connection, and for the next request on it.
        package var keepAlive = TimeAmount.seconds(300)
        /// For the next use of a server's connection.
        package var pooled = TimeAmount.seconds(60)
        /// For the first byte in a fresh tunnel before the server is taken to speak first.
        package var serverFirst = TimeAmount.milliseconds(200)
        /// For the client's program to be known, where another one at its address gets tunnels to the same server.
        var identity = TimeAmount.milliseconds(50)

        package init() {}
    }
}

/// The rules in force, replaced as a whole when a profile is loaded anew.
///
/// Exchanges keep those they began with.
package struct ProxyRules: Sendable {
    package var chain: StageChain
    /// Whether TLS to a host (in lower case) and port is decrypted; with the address, where that is what the client asked for.
    /// The host is `nil` as long as it is not known: then whether it may be decrypted.
    package var decrypts: @Sendable (_ host: String?, _ port: Int, _ address: String?) -> Bool
    /// Which clients may use the proxy, beside those that its configuration allows; asked when they connect.
    package var access: AccessRules?
    /// How a server is reached, by what is asked of it and where that really goes; asked whenever a connection is needed;
    /// `nil` where all are asked directly.
    package var route: (@Sendable (RequestURL) -> UpstreamRoute)?
    /// What a server, by host (in lower case) and port, is shown if it asks for a certificate.
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

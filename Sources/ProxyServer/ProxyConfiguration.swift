public import ExchangeCore
public import NIOCore
public import Wire

/// How a proxy server is to behave; fixed for its lifetime, except for the rules.
public struct ProxyConfiguration: Sendable {
    /// The host to listen on: an address or a name.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for a free one.
    public var port = 8080
    /// Which clients may use the proxy.
    public var access = AccessRules()
    /// The number of event loops.
    public var loopCount = 2
    /// The authority that signs the certificates shown to clients.
    public var authority: CertificateAuthority
    /// What is trusted when servers are verified.
    public var trust = TLSTrust()
    /// Whether no server is verified (`--insecure-upstream`).
    public var skipsVerification = false
    /// Hosts whose certificate is not verified (`--insecure-host`), in lower case.
    public var insecureHosts: Set<String> = []
    /// Hosts with which old and weak TLS is spoken (`--tls-legacy`), in lower case.
    public var legacyHosts: Set<String> = []
    /// Receives TLS secrets in the NSS key log form (`SSLKEYLOGFILE`).
    public var keyLog: (@Sendable (String) -> Void)?
    /// Whether a client that refused our certificate for a host twice is passed through unread there for a while.
    public var tunnelsRefusingHosts = true
    /// On which legs HTTP/2 is spoken.
    public var http2: HTTP2Legs = [.client, .upstream]
    /// Time limits.
    public var timeouts = Timeouts()
    /// The number of the first exchange.
    public var firstExchange: Int64 = 1
    /// The number of the first connection.
    public var firstConnection: Int64 = 1

    /// Creates a configuration with the given authority and defaults for the rest.
    public init(authority: CertificateAuthority) {
        self.authority = authority
    }

    /// The legs on which HTTP/2 may be spoken; what is left out speaks HTTP/1.1.
    public struct HTTP2Legs: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// Clients may speak it.
        public static let client = HTTP2Legs(rawValue: 1 << 0)
        /// Servers are offered it.
        public static let upstream = HTTP2Legs(rawValue: 1 << 1)
    }

    /// How long to wait for what.
    public struct Timeouts: Sendable {
        /// For resolving, connecting and the TLS handshake with a server, each.
        public var connect = TimeAmount.seconds(15)
        /// For the next byte of an exchange that waits for its server or its client.
        public var idle = TimeAmount.seconds(600)
        /// For a request head, or a TLS handshake of a client, from its first byte on.
        public var requestHead = TimeAmount.seconds(60)
        /// For the next request on a client's connection.
        public var keepAlive = TimeAmount.seconds(300)
        /// For the next use of a server's connection.
        public var pooled = TimeAmount.seconds(60)
        /// For the first byte in a fresh tunnel before the server is taken to speak first.
        public var serverFirst = TimeAmount.milliseconds(200)

        /// Creates the default limits.
        public init() {}
    }
}

/// The rules in force, replaced as a whole when a profile is loaded anew.
///
/// Exchanges keep those they began with.
public struct ProxyRules: Sendable {
    /// The stages.
    public var chain: StageChain
    /// Whether TLS to a host (in lower case) and port is decrypted.
    public var decrypts: @Sendable (_ host: String, _ port: Int) -> Bool
    /// Which clients may use the proxy, beside those that its configuration allows; asked when they connect.
    public var access: AccessRules?

    /// Creates rules; by default there are no stages, every host is decrypted, and no further clients are allowed.
    public init(
        chain: StageChain = StageChain(),
        decrypts: @escaping @Sendable (_ host: String, _ port: Int) -> Bool = { _, _ in true },
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
}

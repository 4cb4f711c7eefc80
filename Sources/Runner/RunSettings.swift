public import ProxyServer
public import Recording

/// What a headless run was asked to do.
public struct RunSettings: Sendable {
    /// The host to listen on.
    public var host = "127.0.0.1"
    /// The port to listen on; 0 for a free one.
    public var port = 8080
    /// The networks that may use the proxy beside this machine.
    public var allowed: [AccessRules.Network] = []
    /// The session file; `nil` for a new one among the user's sessions.
    public var session: String?
    /// Whether nothing is recorded.
    public var recordsNothing = false
    /// What gives way when the disk is slower than the traffic.
    public var recorder = RecorderConfiguration.Mode.lossless
    /// The files of the rule profile, in the order in which their rules stand.
    public var profiles: [String] = []
    /// What is printed for each exchange.
    public var output = ExchangeLog.Form.lines
    /// A certificate authority to use in place of the user's own: PEM or PKCS #12.
    public var authority: String?
    /// The file with the authority's key, where it is not in `authority`.
    public var authorityKey: String?
    /// The password of a PKCS #12 authority.
    public var authorityPassword: String?
    /// Further authorities for verifying servers: PEM files.
    public var upstreamAuthorities: [String] = []
    /// Whether no server is verified.
    public var skipsVerification = false
    /// Hosts that are not verified.
    public var insecureHosts: [String] = []
    /// Hosts with which old and weak TLS is spoken.
    public var legacyHosts: [String] = []
    /// Whether hosts whose clients refuse our certificate are passed through unread.
    public var tunnelsRefusingHosts = true
    /// On which legs HTTP/2 is spoken.
    public var http2: ProxyConfiguration.HTTP2Legs = [.client, .upstream]
    /// Time limits.
    public var timeouts = ProxyConfiguration.Timeouts()
    /// Whether the profile is put in force anew when its files change.
    public var watchesProfile = true
    /// Whether there is a control socket.
    public var hasControl = true
    /// How long exchanges may take to finish when Sluice is stopped.
    public var grace = Duration.seconds(3)

    /// Creates the default settings.
    public init() {}
}

package import ProxyServer
package import Recording

/// The settings of a run.
package struct RunSettings: Sendable {
    /// Where clients are listened for, and in which modes; one at least.
    package var listeners = [Listener()]
    package var reverse = ProxyConfiguration.ReverseOptions()
    /// The networks that may use the proxy beside this machine.
    package var allowed: [AccessRules.Network] = []
    /// The file of the users who may use the proxy, with the hashes of their passwords; `nil` where clients need none.
    package var proxyUsers: String?
    /// Whether `--mode regular@…` says where the forward proxy listens, and not `--listen`.
    package var hasPlaceInMode = false
    /// The session file; `nil` for a new one among the user's sessions.
    package var session: String?
    package var recordsNothing = false
    /// When the recording goes on in another file, and under which names; then `session` is not used.
    package var rotation: SessionRotation?
    /// How many bytes a session may have, and the same in the user's words; `nil` for any size.
    package var largestSession: (bytes: Int64, words: String)?
    /// Whether rotations are reported; the console tells of them itself.
    package var reportsRotations = true
    /// Whether exchanges are recorded from the start on; it can be switched later.
    package var isRecording = true
    /// What is given up when the disk is slower than the traffic.
    package var recorder = RecorderConfiguration.Mode.lossless
    /// The files of the rule profile, in the order of their rules.
    package var profiles: [String] = []
    /// Whether the session is the one that `last` names from then on.
    package var becomesLast = false
    /// The file that gets the lines of exchanges; `nil` for standard output.
    package var log: String?
    package var output = ExchangeLog.Form.lines
    /// Whether lines of JSON keep secrets.
    package var keepsSecrets = false
    /// A certificate authority to use in place of the user's own: PEM or PKCS #12.
    package var authority: String?
    /// The file with the authority's key, where it is not in `authority`.
    package var authorityKey: String?
    /// The password of a PKCS #12 authority.
    package var authorityPassword: String?
    /// Further authorities for verifying servers: PEM files.
    package var upstreamAuthorities: [String] = []
    /// Whether no server is verified.
    package var skipsVerification = false
    /// Hosts that are not verified.
    package var insecureHosts: [String] = []
    /// Hosts with which old and weak TLS is spoken.
    package var legacyHosts: [String] = []
    /// Whether hosts whose clients refuse our certificate are passed through unread.
    package var tunnelsRefusingHosts = true
    /// The legs with HTTP/2.
    package var http2: ProxyConfiguration.HTTP2Legs = [.client, .upstream]
    /// The proxy for what no rule of the profile is for.
    package var upstreamProxy: UpstreamOption?
    /// How many connections clients may have open.
    package var connections = ConnectionLimits()
    package var timeouts = ProxyConfiguration.Timeouts()
    /// What answers in place of servers, to which no connection is made then.
    package var answers: (any RecordedAnswers)?
    /// Whether the profile is put in force again when its files change.
    package var watchesProfile = true
    package var hasControl = true
    /// How long exchanges may take to finish when Sluice is stopped.
    package var grace = Duration.seconds(3)

    package init() {}
}

package import ProxyServer
package import Recording

package struct RunSettings: Sendable {
    /// At least one.
    package var listeners = [Listener()]
    package var reverse = ProxyConfiguration.ReverseOptions()
    /// Networks that may use the proxy beside this machine.
    package var allowed: [AccessRules.Network] = []
    /// The file of the users who may use the proxy.
    package var proxyUsers: String?
    /// Whether `--mode regular@…` says where the forward proxy listens, and not `--listen`.
    package var hasPlaceInMode = false
    /// `nil` is a new session.
    package var session: String?
    package var recordsNothing = false
    /// Then `session` is not used.
    package var rotation: SessionRotation?
    /// Also in the user's words.
    package var largestSession: (bytes: Int64, words: String)?
    /// The console reports rotations itself.
    package var reportsRotations = true
    package var isRecording = true
    package var recorder = RecorderConfiguration.Mode.lossless
    package var profiles: [String] = []
    /// Whether `last` names this session from then on.
    package var becomesLast = false
    /// `nil` is standard output.
    package var log: String?
    package var output = ExchangeLog.Form.lines
    /// In lines of JSON.
    package var keepsSecrets = false
    /// PEM or PKCS #12, in place of the user's own.
    package var authority: String?
    /// If it is not in `authority`.
    package var authorityKey: String?
    package var authorityPassword: String?
    /// PEM files, beside the system's authorities.
    package var upstreamAuthorities: [String] = []
    package var skipsVerification = false
    package var insecureHosts: [String] = []
    /// With old and weak TLS.
    package var legacyHosts: [String] = []
    /// Whether hosts whose clients refuse the certificate are no longer decrypted.
    package var tunnelsRefusingHosts = true
    package var http2: ProxyConfiguration.HTTP2Legs = [.client, .upstream]
    /// If no rule of the profile applies.
    package var upstreamProxy: UpstreamOption?
    package var connections = ConnectionLimits()
    package var timeouts = ProxyConfiguration.Timeouts()
    /// Answers in place of servers.
    package var answers: (any RecordedAnswers)?
    package var watchesProfile = true
    package var hasControl = true
    /// For exchanges to finish at the end.
    package var grace = Duration.seconds(3)

    package init() {}
}

import NIOCore
package import ProxyServer
package import Recording
package import Store
package import Telemetry

package struct RunSettings: Sendable {
    /// At least one.
    package var listeners = [Listener()]
    package var reverse = ProxyConfiguration.ReverseOptions()
    /// Networks that may use the proxy besides this machine.
    package var allowed: [AccessRules.Network] = []
    /// The file of the users who may use the proxy.
    package var proxyUsers: String?
    /// Whether the forward proxy's address comes from `--mode regular@…` instead of `--listen`.
    package var hasPlaceInMode = false
    /// `nil` is a new session.
    package var session: String?
    package var recordsNothing = false
    /// If it is set, `session` is not used.
    package var rotation: SessionRotation?
    /// `words` is the size as the user wrote it.
    package var largestSession: (bytes: Int64, words: String)?
    /// `false` in the console, which reports rotations itself.
    package var reportsRotations = true
    package var isRecording = true
    package var recorder = RecorderConfiguration.Mode.lossless
    package var profiles: [String] = []
    /// Whether `last` names this session from then on.
    package var becomesLast = false
    /// `nil` is standard output.
    package var log: String?
    package var output = ExchangeLog.Form.lines
    /// Whether secrets stay unmasked in JSON lines.
    package var keepsSecrets = false
    /// Where spans are sent; `nil` sends none.
    package var spans: SpanSettings?
    /// PEM or PKCS #12, in place of the user's own.
    package var authority: String?
    /// The private key, if it is not in the `authority` file.
    package var authorityKey: String?
    package var authorityPassword: String?
    /// PEM files, beside the system's authorities.
    package var upstreamAuthorities: [String] = []
    package var skipsVerification = false
    package var insecureHosts: [String] = []
    /// Hosts with which Sluice uses old and weak TLS.
    package var legacyHosts: [String] = []
    /// Whether hosts whose clients refuse the certificate are no longer decrypted.
    package var tunnelsRefusingHosts = true
    package var http2: ProxyConfiguration.HTTP2Legs = [.client, .upstream]
    /// Used if no rule of the profile applies.
    package var upstreamProxy: UpstreamOption?
    package var connections = ConnectionLimits()
    package var timeouts = ProxyConfiguration.Timeouts()
    /// Recorded answers that Sluice sends instead of asking servers.
    package var answers: (any RecordedAnswers)?
    package var watchesProfile = true
    package var hasControl = true
    /// The time that exchanges get to finish at the end.
    package var grace = Duration.seconds(3)

    package var store: StoreSettings?

    package init() {}
}

/// The store that a run sends its exchanges to, beside the session.
package struct StoreSettings: Sendable {
    package var shipper: Shipper.Settings
    /// `nil` is the session's own key.
    package var key: LabelKey?
    package var keepsSecrets = false

    package init(_ shipper: Shipper.Settings) { self.shipper = shipper }

    /// The key for the placeholders of a session; `nil` keeps its secrets. Throws `SessionError`.
    package func key(for session: SessionReader) throws -> LabelKey? {
        if keepsSecrets { return nil }
        return try key ?? session.labelKey().map { LabelKey(Array($0.readableBytesView)) } ?? LabelKey()
    }
}

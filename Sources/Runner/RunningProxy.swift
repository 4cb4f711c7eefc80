import ExchangeCore
import Foundation
package import HTTPModel
import Logging
package import NIOCore
import NIOPosix
package import ProxyServer
package import Recording
import Rules
import Synchronization
import Text
package import Wire

/// One running Sluice: the proxy, its recorder, its rules and its log.
package final class RunningProxy: Sendable {
    /// The address the proxy listens on.
    package let address: SocketAddress
    /// The session file; `nil` where nothing is recorded.
    package let session: String?
    /// What an earlier run left in flight in the session.
    package let recovered: RecoveryReport?
    /// The authority that signs what clients are shown.
    package let authority: CertificateAuthority
    /// What the profile holds, in one line; `nil` where there is none.
    package let profileSummary: String?
    /// What the profile says that is allowed but hardly meant, one line each.
    package let profileLints: [String]
    /// The first exchange of this run; a session that is continued has others before it.
    private let firstExchange: ExchangeID

    private let server: ProxyServer
    private let recorder: Recorder
    let rules: RulesInForce
    private let control = Mutex<ControlServer?>(nil)
    private let watcher = Mutex<FileWatcher?>(nil)
    private let settings: RunSettings
    private let complain: @Sendable (String) -> Void
    private let recordingProblem: RecordingProblem

    /// Why the recording stopped, once it has.
    private final class RecordingProblem: Sendable {
        let words = Mutex<String?>(nil)
    }

    /// Starts everything.
    ///
    /// - Parameters:
    ///   - settings: what to do.
    ///   - files: what the settings name, where it was read already.
    ///   - onFinished: told of the exchanges that ended, beside the log.
    ///   - print: where log lines go.
    ///   - complain: where errors go that are not of one exchange.
    /// - Returns: what is running.
    /// - Throws: `StartFailure`, `SessionError`, `CertificateFailure` or `ProfileError`, each with words for the user.
    package static func start(
        _ settings: RunSettings,
        files: StartFiles? = nil,
        onFinished: (@Sendable ([ExchangeRecord]) -> Void)? = nil,
        print: @escaping @Sendable (String) -> Void = StandardStreams.out,
        complain: @escaping @Sendable (String) -> Void = StandardStreams.error
    ) async throws -> RunningProxy {
        let files = try files ?? StartFiles(settings)
        let (profile, authority) = (files.profile, files.authority)
        try checkAccess(settings, profile)
        TemporaryDirectory.sweep()
        let session = try sessionPath(settings)
        let isNew = session.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let log = ExchangeLog(form: settings.output, write: print)
        let problem = RecordingProblem()
        let recorder = try Recorder(
            RecorderConfiguration(path: session, mode: settings.recorder, sluiceVersion: SluiceVersion.current),
            onFinished: { records in
                log.add(records)
                onFinished?(records)
            },
            onFailure: { error in
                problem.words.withLock { $0 = "\(error)" }
                complain("sluice: recording stopped: \(error)\nThe traffic goes on unrecorded.\n")
            }
        )
        do {
            let configuration = try configuration(settings, files, recorder)
            let server = try await ProxyServer.start(
                configuration,
                rules: try RulesInForce.rules(profile),
                makeOutlet: { onRoom in recorder.makeProducer(onCredit: onRoom).submit },
                logger: logger(complain)
            )
            let rules = RulesInForce(
                profile: profile,
                paths: settings.profiles,
                server: server,
                recorder: recorder
            )
            let running = RunningProxy(
                server,
                recorder,
                rules,
                authority,
                profile,
                session,
                settings,
                problem,
                complain
            )
            await running.beginControl(complain)
            await running.watchProfile()
            return running
        } catch {
            recorder.close()
            // A session in which nothing could be recorded would only be in the way of 'last'.
            if isNew, let session { try? FileManager.default.removeItem(atPath: session) }
            throw describe(error, settings)
        }
    }

    private init(
        _ server: ProxyServer,
        _ recorder: Recorder,
        _ rules: RulesInForce,
        _ authority: CertificateAuthority,
        _ profile: RuleProfile?,
        _ session: String?,
        _ settings: RunSettings,
        _ recordingProblem: RecordingProblem,
        _ complain: @escaping @Sendable (String) -> Void
    ) {
        self.complain = complain
        self.recordingProblem = recordingProblem
        self.server = server
        self.recorder = recorder
        self.rules = rules
        self.authority = authority
        profileSummary = profile?.summary
        profileLints = profile?.lints.map(\.description) ?? []
        firstExchange = ExchangeID(recorder.nextExchangeID)
        self.session = session
        self.settings = settings
        address = server.address
        recovered = recorder.recovered
    }

    /// The messages that wait for a decision.
    package var holds: HoldBoard { server.holds }

    /// The file with the authority's certificate, that clients can trust: the one that the settings name, else the user's own.
    package var authorityPath: String {
        settings.authority.map { URL(fileURLWithPath: $0).path } ?? StandardPaths.authorityCertificate
    }

    /// Counts up whenever the session has changed.
    package var revision: Int { recorder.revision }

    /// Waits until everything that was seen so far is in the session file.
    package func flush() {
        recorder.flush()
    }

    /// Without a control socket everything else works, so that is no reason not to start.
    private func beginControl(_ complain: @escaping @Sendable (String) -> Void) async {
        guard settings.hasControl else { return }
        do {
            let server = try await ControlServer.start(controlTarget)
            control.withLock { $0 = server }
        } catch {
            complain("sluice: \(error)\nHolds and tools cannot be steered from another shell.\n")
        }
    }

    /// What can be asked of the proxy and steered: what the control socket offers, without the socket.
    package var controlTarget: any ControlTarget {
        RunningTarget(
            address: "\(address.ipAddress.map { $0.contains(":") ? "[\($0)]" : $0 } ?? ""):\(address.port ?? 0)",
            authority: AuthorityInUse(path: authorityPath, certificate: Data(authority.certificateDER)),
            session: session,
            recordingProblem: { [recordingProblem] in recordingProblem.words.withLock { $0 } },
            rules: rules,
            holds: holds,
            decryptAgain: { [server] in server.decryptAgain($0, port: $1) },
            undecryptedHosts: { [server] in server.undecryptedHosts },
            onProfileFiles: { [weak self] in await self?.watchProfile() }
        )
    }

    /// Watches the profile's files, those that have come to it too, and puts them in force anew whenever they change.
    func watchProfile() async {
        let rules = rules
        let files = await rules.states.map(\.file)
        guard settings.watchesProfile, !files.isEmpty else { return }
        let complain = complain
        watcher.withLock { watcher in
            if let watcher {
                watcher.watch(files)
            } else {
                watcher = FileWatcher(files) {
                    await RunningProxy.followFiles(rules, complain)
                    return await rules.states.map(\.file)
                }
            }
        }
    }

    private static func followFiles(_ rules: RulesInForce, _ complain: @Sendable (String) -> Void) async {
        do {
            switch try await rules.followFiles() {
            case .none: break
            case .changed(let difference, let lints):
                complain("sluice: profile read again: \(difference)\n")
                for lint in lints { complain("\(lint)\n") }
            case .conflict(let files):
                let names = files.joined(separator: ", ")
                complain(
                    "sluice: \(names) has changed, but edits that are not saved are in force; they stay.\n"
                        + "Save them over the file, or reload the file and lose them.\n"
                )
            }
        } catch {
            complain("\(error)\nsluice: the profile has errors; the rules stay as they were\n")
        }
    }

    /// Stops accepting, lets exchanges finish for the grace period, cuts the rest, and closes the session.
    package func stop() async -> RecorderSummary {
        await watcher.withLock { $0 }?.stop()
        await control.withLock { $0 }?.stop()
        await server.stop(grace: settings.grace)
        return recorder.close()
    }

    /// Checks what the profile asserts of the traffic; to be asked after `stop`.
    ///
    /// - Returns: what came of each assertion.
    /// - Throws: `StartFailure` where nothing was recorded; `SessionError` where the session cannot be read.
    package func checkAssertions() async throws -> [AssertionResult] {
        guard let assertions = await rules.profile?.assertions, !assertions.isEmpty else { return [] }
        guard let session else {
            throw StartFailure(
                "The profile has assertions, and nothing was recorded to check them against.",
                hint: "Leave out --no-session."
            )
        }
        return try Assertions.check(assertions, session: session, from: firstExchange)
    }

    // MARK: - Setting up

    /// A proxy that anybody on the network can use must be asked for.
    private static func checkAccess(_ settings: RunSettings, _ profile: RuleProfile?) throws {
        let isLoopback = ["localhost", "::1"].contains(settings.host) || settings.host.hasPrefix("127.")
        guard !isLoopback, settings.allowed.isEmpty, profile?.access.isEmpty ?? true else { return }
        throw StartFailure(
            "Listening on \(settings.host) lets other machines reach the proxy.",
            hint: "Say which ones may use it, for example --allow 192.168.0.0/16 or 'access' in a profile, "
                + "or listen on 127.0.0.1."
        )
    }

    /// Loads the authority that the settings name, or the user's own, which is made at first use.
    package static func loadAuthority(_ settings: RunSettings) throws -> CertificateAuthority {
        if let file = settings.authority {
            return try CertificateAuthority.load(
                file: file,
                keyFile: settings.authorityKey,
                password: settings.authorityPassword
            )
        }
        try StandardPaths.makeDirectory(StandardPaths.configuration)
        return try CertificateAuthority.open(directory: StandardPaths.configuration)
    }

    private static func sessionPath(_ settings: RunSettings) throws -> String? {
        if settings.recordsNothing { return nil }
        if let session = settings.session { return session }
        try StandardPaths.makeDirectory(StandardPaths.sessions)
        return StandardPaths.newSession()
    }

    private static func configuration(
        _ settings: RunSettings,
        _ files: StartFiles,
        _ recorder: Recorder
    ) throws -> ProxyConfiguration {
        var configuration = ProxyConfiguration(authority: files.authority)
        configuration.host = settings.host
        configuration.port = settings.port
        configuration.access = AccessRules(networks: settings.allowed)
        configuration.trust = files.trust
        configuration.skipsVerification = settings.skipsVerification
        configuration.insecureHosts = hosts(settings.insecureHosts)
        configuration.legacyHosts = hosts(settings.legacyHosts)
        configuration.tunnelsRefusingHosts = settings.tunnelsRefusingHosts
        configuration.http2 = settings.http2
        configuration.timeouts = settings.timeouts
        configuration.firstExchange = recorder.nextExchangeID
        configuration.firstConnection = recorder.nextConnectionID
        if let path = ProcessInfo.processInfo.environment["SSLKEYLOGFILE"], !path.isEmpty {
            let file = try KeyLogFile(path: path)
            configuration.keyLog = { file.append($0) }
        }
        return configuration
    }

    /// Hosts as URLs have them.
    private static func hosts(_ names: [String]) -> Set<String> {
        Set(names.map { RequestURL.splitAuthority($0)?.host ?? $0.lowercased() })
    }

    private static func logger(_ complain: @escaping @Sendable (String) -> Void) -> Logger {
        Logger(label: "sluice") { _ in ComplainingLogHandler(complain: complain) }
    }

    private static func describe(_ error: any Error, _ settings: RunSettings) -> any Error {
        guard let error = error as? IOError else { return error }
        let place = "\(settings.host):\(settings.port)"
        switch error.errnoCode {
        case EADDRINUSE:
            return StartFailure(
                "\(place) is in use by another program.",
                hint: "Stop that one, or choose another port: --listen 127.0.0.1:8081, or :0 for any free one."
            )
        case EACCES:
            return StartFailure(
                "\(place) may not be listened on.",
                hint: "Ports below 1024 need privileges; choose a higher one."
            )
        case EADDRNOTAVAIL:
            return StartFailure("\(settings.host) is no address of this machine.", hint: "")
        default: return StartFailure("\(place) cannot be listened on: \(error).", hint: "")
        }
    }
}

/// Passes what is worth telling the user on, in words and with its facts.
private struct ComplainingLogHandler: LogHandler {
    let complain: @Sendable (String) -> Void
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.notice

    init(complain: @escaping @Sendable (String) -> Void) {
        self.complain = complain
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let text = "\(event.message)\(facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")"
        complain("sluice: \(VisibleText.of(text))\n")
    }
}

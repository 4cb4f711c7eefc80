import ExchangeCore
import Foundation
package import HTTPModel
package import Jobs
import Logging
import Masking
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
    /// The address the proxy listens on as a forward proxy; the first listener's where it is none.
    package let address: SocketAddress
    /// All listeners, in the order of the settings.
    package let listening: [ProxyServer.Listening]
    /// What an earlier run left in flight in the session.
    package let recovered: RecoveryReport?
    /// The authority that signs what clients are shown.
    package let authority: CertificateAuthority
    /// The profile's summary, in one line; `nil` without a profile.
    package let profileSummary: String?
    /// The profile's warnings, one line each.
    package let profileLints: [String]
    /// The first exchange of this run; a session that is continued has others before it.
    private let firstExchange: ExchangeID

    /// The credentials with which Sluice's own requests pass the proxy; `nil` where clients need none.
    package let ownCredentials: BasicCredentials?

    private let server: ProxyServer
    private let recorder: Recorder
    private let log: ExchangeLog
    private let logFile: LogFile?
    let rules: RulesInForce
    private let control = Mutex<ControlServer?>(nil)
    private let watcher = Mutex<FileWatcher?>(nil)
    private let settings: RunSettings
    private let report: @Sendable (String) -> Void
    private let recordingProblem: RecordingProblem

    /// Why the recording stopped, once it has.
    private final class RecordingProblem: Sendable {
        let text = Mutex<String?>(nil)
    }

    /// Starts everything that the settings ask for; `files` are those that they name, where they were read already.
    ///
    /// `onFinished` gets the exchanges that ended, beside the log; `print` log lines; `report` errors that are not of
    /// one exchange, and with `reportsRefusals` each host that is passed undecrypted as a client refused it. Throws `StartError`, `SessionError`, `CertificateError` or `ProfileError`, each with a text
    /// for the user.
    package static func start(
        _ settings: RunSettings,
        files: StartFiles? = nil,
        onFinished: (@Sendable ([ExchangeRecord]) -> Void)? = nil,
        print: @escaping @Sendable (String) -> Void = StandardStreams.out,
        report: @escaping @Sendable (String) -> Void = StandardStreams.error,
        reportsRefusals: Bool = true
    ) async throws -> RunningProxy {
        let files = try files ?? StartFiles(settings)
        try checkAccess(settings, files.profile)
        try checkAuthentication(settings)
        TemporaryDirectory.sweep()
        let session = try sessionPath(settings)
        let isNew = session.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let mask = settings.keepsSecrets ? nil : files.profile?.mask ?? MaskRules()
        let logFile = try settings.log.map { try LogFile(path: $0, report: report) }
        let log = ExchangeLog(form: settings.output, mask: mask, write: logFile?.append ?? print)
        let problem = RecordingProblem()
        var recording = RecorderConfiguration(
            path: session,
            mode: settings.recorder,
            sluiceVersion: SluiceVersion.current
        )
        recording.isRecording = settings.isRecording
        recording.rotation = settings.recordsNothing ? nil : settings.rotation
        recording.largestSession = settings.largestSession?.bytes
        recording.largestSessionText = settings.largestSession?.words ?? ""
        let recorder = try Recorder(
            recording,
            onFinished: { exchanges in
                log.add(exchanges)
                onFinished?(exchanges.map(\.record))
            },
            onFailure: { error in
                problem.text.withLock { $0 = "\(error)" }
                report("sluice: recording stopped: \(error)\n")
            },
            onRemark: { remark in
                if case .rotated(_, let new) = remark, settings.becomesLast { StandardPaths.rememberSession(new) }
                if case .rotated = remark, !settings.reportsRotations { return }
                report("sluice: \(remark.text)\n")
            }
        )
        do {
            let running = try await RunningProxy(
                settings,
                files,
                recorder,
                log,
                logFile,
                problem,
                report,
                reportsRefusals ? .notice : .warning
            )
            if settings.becomesLast, let path = running.session { StandardPaths.rememberSession(path) }
            await running.beginControl()
            await running.watchProfile()
            return running
        } catch {
            recorder.close()
            // An empty session would be found as 'last'.
            let isOurs = isNew || settings.rotation != nil
            if isOurs, let path = recorder.path { try? FileManager.default.removeItem(atPath: path) }
            throw describe(error, settings)
        }
    }

    private init(
        _ settings: RunSettings,
        _ files: StartFiles,
        _ recorder: Recorder,
        _ log: ExchangeLog,
        _ logFile: LogFile?,
        _ recordingProblem: RecordingProblem,
        _ report: @escaping @Sendable (String) -> Void,
        _ logLevel: Logger.Level
    ) async throws {
        (self.settings, self.recorder, self.log, self.logFile) = (settings, recorder, log, logFile)
        (self.recordingProblem, self.report) = (recordingProblem, report)
        let profile = files.profile
        authority = files.authority
        ownCredentials = files.authentication?.own
        profileSummary = profile?.summary
        profileLints = profile?.lints.map(\.description) ?? []
        firstExchange = ExchangeID(recorder.nextExchangeID)
        recovered = recorder.recovered
        server = try await ProxyServer.start(
            try RunningProxy.configuration(settings, files, recorder),
            rules: try RulesInForce.rules(profile, access: files.access),
            makeOutlet: { onRoom in recorder.makeProducer(onCredit: onRoom).submit },
            logger: Logger(label: "sluice") { _ in StandardErrorLogHandler(report: report, logLevel: logLevel) }
        )
        address = server.address
        listening = server.listening
        rules = RulesInForce(
            profile: profile,
            paths: settings.profiles,
            server: server,
            recorder: recorder,
            access: files.access,
            upstream: settings.upstreamProxy,
            secrets: files.secrets
        )
    }

    /// How much was masked in what was printed of exchanges; `nil` for nothing.
    package var maskedSummary: String? { log.summary }

    /// Whether every line for the file that `--log` names was written.
    package var isLogWhole: Bool { logFile?.isWhole ?? true }

    /// The proxy that `--upstream-proxy` names, in words; `nil` without the option.
    package var upstreamSummary: String? { settings.upstreamProxy?.text }

    /// Where it is a forward proxy; `nil` where it listens in other modes only.
    package var forwardAddress: SocketAddress? { listening.first { $0.mode == .regular }?.address }

    /// The messages that wait for a decision.
    package var holds: HoldBoard { server.holds }

    /// The file with the authority's certificate: the one that the settings name, else the user's own.
    package var authorityPath: String {
        settings.authority.map { URL(fileURLWithPath: $0).path } ?? StandardPaths.authorityCertificate
    }

    /// The session file that is recorded to now; `nil` where nothing is recorded.
    package var session: String? { recorder.path }

    /// What all certificates that it mints have in common, as ``AuthorityInUse/leafKeyHash``.
    package var leafKeyHash: String? { server.leafKeyHash.map { Data($0).base64EncodedString() } }

    /// Rises whenever the session has changed.
    package var revision: Int { recorder.revision }

    /// Waits until everything recorded so far is in the session file.
    package func flush() { recorder.flush() }

    /// Opens the control socket; a failure is reported, since everything else works without.
    private func beginControl() async {
        guard settings.hasControl else { return }
        do {
            let server = try await ControlServer.start(controlTarget) { [report] path in
                report("sluice: the control socket was gone, and is there again: \(path)\n")
            }
            control.withLock { $0 = server }
        } catch {
            report(ErrorLine.text("\(error)\nHolds and tools cannot be controlled from another shell."))
        }
    }

    /// What the control socket offers, without the socket.
    package var controlTarget: any ControlTarget {
        RunningTarget(
            address: address.place,
            listeners: listening.map { ListenerState(mode: "\($0.mode)", address: $0.address.place) },
            authority: AuthorityInUse(
                path: authorityPath,
                certificate: Data(authority.certificateDER),
                leafKeyHash: leafKeyHash
            ),
            ownCredentials: ownCredentials,
            recordingProblem: { [recordingProblem] in recordingProblem.text.withLock { $0 } },
            rules: rules,
            recorder: recorder,
            holds: holds,
            decryptAgain: { [server] in server.decryptAgain($0, port: $1) },
            setVerified: { [server] in server.setVerified($0, $1) },
            undecryptedHosts: { [server] in server.undecryptedHosts },
            onProfileFiles: { [weak self] in await self?.watchProfile() }
        )
    }

    /// What brings exchanges of other files into the session; `nil` where nothing is recorded.
    package var imports: (any SessionImports)? {
        session.map { _ in
            RunningImports(
                recorder: recorder,
                makeExchange: { [server] in server.makeExchangeID() },
                makeConnection: { [server] in server.makeConnectionID() }
            )
        }
    }

    /// Watches the profile's files, new ones too, and puts them in force again whenever they change.
    func watchProfile() async {
        let rules = rules
        let files = await rules.states.map(\.file)
        guard settings.watchesProfile, !files.isEmpty else { return }
        let report = report
        watcher.withLock { watcher in
            if let watcher {
                watcher.watch(files)
            } else {
                watcher = FileWatcher(files) {
                    await RunningProxy.followFiles(rules, report)
                    return await rules.states.map(\.file)
                }
            }
        }
    }

    private static func followFiles(_ rules: RulesInForce, _ report: @Sendable (String) -> Void) async {
        do {
            switch try await rules.followFiles() {
            case .none: break
            case .changed(let difference, let lints):
                report("sluice: profile read again: \(difference)\n")
                for lint in lints { report("\(lint)\n") }
            case .conflict(let files):
                let names = files.joined(separator: ", ")
                report(
                    "sluice: \(names) has changed, but edits that are not saved are in force; they stay.\n"
                        + "Save them over the file, or reload the file and lose them.\n"
                )
            }
        } catch {
            report("\(error)\nsluice: the profile has errors; the rules stay as they were\n")
        }
    }

    /// Stops accepting, lets exchanges finish for the grace period, cuts the rest, and closes the session. Later
    /// calls return the same summary.
    package func stop() async -> RecorderSummary {
        await watcher.withLock { $0 }?.stop()
        await control.withLock { $0.take() }?.stop()
        await server.stop(grace: settings.grace)
        return recorder.close()
    }

    /// Checks the profile's assertions on the traffic, after ``stop()``.
    ///
    /// Throws `StartError` where nothing was recorded, `SessionError` where the session cannot be read.
    package func checkAssertions() async throws -> [AssertionResult] {
        guard let assertions = await rules.profile?.assertions, !assertions.isEmpty else { return [] }
        let summary = recorder.close()
        guard let session = summary.path else {
            throw StartError(
                "The profile has assertions, and nothing was recorded to check them against.",
                hint: "Leave out --no-session."
            )
        }
        let all = summary.earlierPaths + [session]
        let sessions = all.filter { FileManager.default.fileExists(atPath: $0) }
        if sessions.count < all.count {
            let count = all.count - sessions.count
            report("sluice: \(count) of \(all.count) files of this run are removed; the assertions see the others\n")
        }
        return try Assertions.check(assertions, sessions: sessions, from: firstExchange)
    }

    // MARK: - Setting up

    /// Refuses what is no address, and to listen for other machines where neither the settings nor the profile say which
    /// ones.
    private static func checkAccess(_ settings: RunSettings, _ profile: RuleProfile?) throws {
        if let wrong = settings.listeners.first(where: { isWrongAddress($0.host) }) {
            throw StartError("\(wrong.host.prefix(80)) is no address.", isUsage: true)
        }
        guard settings.allowed.isEmpty, profile?.access.isEmpty ?? true,
            let open = settings.listeners.first(where: { !$0.isLoopback })
        else { return }
        let what = open.mode == .regular ? "the proxy" : "the listener \(open.mode)"
        throw StartError(
            "Listening on \(open.host) lets other machines reach \(what).",
            hint: "Say which ones may use it, for example --allow 192.168.0.0/16 or 'access' in a profile, "
                + "or listen on 127.0.0.1.",
            isUsage: true
        )
    }

    /// Whether a host has the form of an address and is none, as 999.1.1.1; names are looked up when they are listened on.
    private static func isWrongAddress(_ host: String) -> Bool {
        // The C library knows short forms as 127.1, too.
        let isIPv4 = host.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 == 0x2E } && host.count(where: { $0 == "." }) > 2
        guard isIPv4 || host.contains(":") else { return false }
        return (try? SocketAddress(ipAddress: String(host.prefix { $0 != "%" }), port: 0)) == nil
    }

    /// Refuses listeners whose clients cannot be asked who they are, where clients are to be asked.
    private static func checkAuthentication(_ settings: RunSettings) throws {
        guard settings.proxyUsers != nil, let open = settings.listeners.first(where: { !$0.mode.canAuthenticate })
        else {
            return
        }
        throw StartError(
            "--proxy-auth cannot ask the clients of the listener \(open.mode), which know nothing of a proxy.",
            hint: "Say with --allow which machines may use it, or start it by itself without --proxy-auth."
        )
    }

    /// Loads the authority that the settings name, or the user's own, which is made at first use.
    package static func loadAuthority(_ settings: RunSettings) throws -> CertificateAuthority {
        if let file = settings.authority {
            let (key, password) = (settings.authorityKey, settings.authorityPassword)
            return try CertificateAuthority.load(file: file, keyFile: key, password: password)
        }
        try StandardPaths.makeDirectory(StandardPaths.configuration)
        return try CertificateAuthority.open(directory: StandardPaths.configuration)
    }

    private static func sessionPath(_ settings: RunSettings) throws -> String? {
        if settings.recordsNothing { return nil }
        if let rotation = settings.rotation {
            if try rotation.pattern == StandardPaths.sessionPattern() {
                try StandardPaths.makeDirectory(StandardPaths.sessions)
            }
            return nil
        }
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
        configuration.listeners = settings.listeners
        configuration.reverse = settings.reverse
        configuration.access = AccessRules(networks: settings.allowed)
        configuration.authentication = files.authentication
        configuration.trust = files.trust
        configuration.skipsVerification = settings.skipsVerification
        configuration.insecureHosts = hosts(settings.insecureHosts)
        configuration.legacyHosts = hosts(settings.legacyHosts)
        configuration.tunnelsRefusingHosts = settings.tunnelsRefusingHosts
        configuration.http2 = settings.http2
        configuration.timeouts = settings.timeouts
        configuration.connections = settings.connections
        configuration.answers = settings.answers
        configuration.clientProcesses = ClientProcesses()
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
        Set(names.map { $0.splitHost?.host ?? $0.lowercased() })
    }

    private static func describe(_ error: any Error, _ settings: RunSettings) -> any Error {
        guard let error = error as? ListeningError else { return error }
        let (listener, place) = (error.listener, error.listener.place)
        let mode = listener.mode == .regular ? "" : " (\(listener.mode))"
        switch (error.cause as? IOError)?.errnoCode {
        case EADDRINUSE:
            let other =
                listener.mode == .regular && !settings.hasPlaceInMode
                ? "--listen 127.0.0.1:8081, or :0 for any free one"
                : "--mode \(listener.mode)@8081, or @0 for any free one"
            let running = RunningSluices.processes(within: .milliseconds(300)).first { $0.meaning == place }
            return StartError(
                "\(place)\(mode) is in use by another \(running == nil ? "program" : "Sluice").",
                hint: running.map {
                    "Open that one with 'sluice attach --control \($0.word)', or choose another port: \(other)."
                }
                    ?? "Stop that one, or choose another port: \(other)."
            )
        case EACCES:
            let hint = "Ports below 1024 need privileges; choose a higher one."
            return StartError("\(place)\(mode) may not be listened on.", hint: hint)
        default:
            let words = ListeningRefusal.words(error.cause, host: listener.host, place: place, mode: mode)
            return StartError("\(words).")
        }
    }
}

extension SocketAddress {
    /// The address as `host:port`, an IPv6 host in brackets.
    package var place: String {
        let host = ipAddress ?? ""
        return "\(host.contains(":") ? "[\(host)]" : host):\(port ?? 0)"
    }
}

/// Passes messages and their metadata on to the user.
private struct StandardErrorLogHandler: LogHandler {
    let report: @Sendable (String) -> Void
    var logLevel: Logger.Level
    var metadata = Logger.Metadata()

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let facts = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let text = "\(event.message)\(facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")"
        report("sluice: \(VisibleText.of(text))\n")
    }
}

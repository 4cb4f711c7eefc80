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
import Store
import Synchronization
import Telemetry
import Text
package import Wire

package final class RunningProxy: Sendable {
    private let settings: RunSettings
    private let files: StartFiles
    private let server: ProxyServer
    private let recorder: Recorder
    private let log: ExchangeLog
    private let logFile: LogFile?
    private let spans: SpanExporter?
    let rules: RulesInForce
    private let control = Mutex<ControlServer?>(nil)
    private let watcher = Mutex<FileWatcher?>(nil)
    private let report: @Sendable (String) -> Void
    private let recordingProblem = RecordingProblem()
    private let shipper: Shipper?

    /// Why the recording stopped.
    private final class RecordingProblem: Sendable {
        let text = Mutex<String?>(nil)
    }

    /// `onFinished` receives ended exchanges, and `print` receives log lines. `report` receives errors that belong to
    /// no exchange and, if `reportsRefusals`, each host that is no longer decrypted. Throws `StartError`,
    /// `SessionError`, `CertificateError` or `ProfileError`.
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
        // A directory of temporary files may have thousands of entries.
        DispatchQueue.global(qos: .utility).async { TemporaryDirectory.sweep() }
        let logLevel = reportsRefusals ? Logger.Level.notice : .warning
        let running = try await RunningProxy(settings, files, onFinished, print, report, logLevel)
        if settings.becomesLast, let path = running.session { StandardPaths.rememberSession(path) }
        await running.beginControl()
        await running.watchProfile()
        return running
    }

    private init(
        _ settings: RunSettings,
        _ files: StartFiles,
        _ onFinished: (@Sendable ([ExchangeRecord]) -> Void)?,
        _ print: @escaping @Sendable (String) -> Void,
        _ report: @escaping @Sendable (String) -> Void,
        _ logLevel: Logger.Level
    ) async throws {
        self.settings = settings
        self.files = files
        self.report = report
        let session = try RunningProxy.sessionPath(settings)
        let isNew = session.map { !FileManager.default.fileExists(atPath: $0) } ?? false
        let maskRules = files.profile?.mask ?? MaskRules()
        logFile = try settings.log.map { try LogFile(path: $0, report: report) }
        let mask = settings.keepsSecrets ? nil : maskRules
        let log = ExchangeLog(form: settings.output, mask: mask, write: logFile?.append ?? print)
        let spans = try settings.spans.map { try SpanExporter($0, mask: maskRules, report: report) }
        (self.log, self.spans) = (log, spans)
        var recording = RunningProxy.recording(settings, session)
        let shipper = settings.store.map { Shipper($0.shipper) { report("sluice: \($0)\n") } }
        self.shipper = shipper
        if let shipper, let store = settings.store {
            recording.labels = store.shipper.labels
            recording.labelKey = LabelKey().bytes
            recording.isNeeded = shipper.needs
            recording.onRemoved = shipper.lose
        }
        let recorder = try Recorder(
            recording,
            onFinished: { exchanges in
                shipper?.add(exchanges.filter { !$0.isUnrecorded }.map(\.record.id.number))
                log.add(exchanges)
                spans?.add(exchanges)
                onFinished?(exchanges.map(\.record))
            },
            onFailure: { [recordingProblem] error in
                recordingProblem.text.withLock { $0 = "\(error)" }
                report("sluice: recording stopped: \(error)\n")
            },
            onRemark: { remark in
                if case .rotated(_, let new) = remark, settings.becomesLast { StandardPaths.rememberSession(new) }
                if case .rotated = remark, !settings.reportsRotations { return }
                report("sluice: \(remark.text)\n")
            }
        )
        self.recorder = recorder
        do {
            server = try await ProxyServer.start(
                try RunningProxy.configuration(settings, files, recorder),
                rules: try RulesInForce.rules(files.profile, access: files.access),
                makeOutlet: { onRoom in recorder.makeProducer(onCredit: onRoom).submit },
                logger: Logger(label: "sluice") { _ in StandardErrorLogHandler(report: report, logLevel: logLevel) }
            )
        } catch {
            recorder.close()
            // Otherwise the session name `last` would mean this empty session.
            let isOurs = isNew || settings.rotation != nil
            if isOurs, let path = recorder.path { try? FileManager.default.removeItem(atPath: path) }
            throw RunningProxy.describe(error, settings)
        }
        if let path = recorder.path, let store = settings.store {
            let masks = files.profile?.mask ?? MaskRules()
            @Sendable func makeSource() throws -> SessionSource {
                let reader = try SessionReader(path: path)
                return SessionSource(reader, masks, key: try store.key(for: reader))
            }
            shipper?.start(edits: { recorder.edits }, makeSource: makeSource)
        }
        rules = RulesInForce(
            profile: files.profile,
            paths: settings.profiles,
            server: server,
            recorder: recorder,
            access: files.access,
            upstream: settings.upstreamProxy,
            secrets: files.secrets
        )
    }

    /// The address of the forward proxy, or of the first listener.
    package var address: SocketAddress { server.address }

    package var listening: [ProxyServer.Listening] { server.listening }

    /// Exchanges of the session that an earlier run left in flight.
    package var recovered: RecoveryReport? { recorder.recovered }

    package var authority: CertificateAuthority { files.authority }

    package var profileSummary: String? { files.profile?.summary }

    package var profileLints: [String] { files.profile?.lints.map(\.description) ?? [] }

    /// For Sluice's own requests, if the proxy requires credentials.
    package var ownCredentials: BasicCredentials? { files.authentication?.own }

    package var maskedSummary: String? { log.summary }

    /// What became of the spans; `nil` if none are sent.
    package var spanSummary: String? { spans?.summary }

    package var hasLostSpans: Bool { spans.map { $0.counts.all > $0.counts.sent } ?? false }

    package var isLogWhole: Bool { logFile?.isWhole ?? true }

    package var upstreamSummary: String? { settings.upstreamProxy?.text }

    package var forwardAddress: SocketAddress? { listening.first { $0.mode == .regular }?.address }

    package var holds: HoldBoard { server.holds }

    /// The certificate file of the authority in the settings, or of the user's own authority.
    package var authorityPath: String {
        settings.authority.map { URL(fileURLWithPath: $0).path } ?? StandardPaths.authorityCertificate
    }

    /// The current file; `nil` if nothing is recorded.
    package var session: String? { recorder.path }

    /// See ``AuthorityInUse/leafKeyHash``.
    package var leafKeyHash: String? { server.leafKeyHash.map { Data($0).base64EncodedString() } }

    /// Increases with each change of the session.
    package var revision: Int { recorder.revision }

    package func flush() { recorder.flush() }

    /// Starts the control socket. A failure is only reported, because everything else works without the socket.
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
            store: { [shipper] in shipper?.status },
            spans: { [spans] in spans?.counts },
            rules: rules,
            recorder: recorder,
            server: server,
            onProfileFiles: { [weak self] in await self?.watchProfile() }
        )
    }

    package var imports: (any SessionImports)? {
        session.map { _ in
            SessionImport(
                recorder: recorder,
                makeExchange: { [server] in server.makeExchangeID() },
                makeConnection: { [server] in server.makeConnectionID() }
            )
        }
    }

    /// Watches the files of the profile, and reloads the profile when a file changes.
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
                    "sluice: \(names) has changed, but unsaved edits are in force and kept.\n"
                        + "Save them over the file, or reload the file and lose them.\n"
                )
            }
        } catch {
            report("\(error)\nsluice: the profile has errors; the rules are unchanged\n")
        }
    }

    /// Stops accepting, waits for exchanges (``RunSettings/grace``), closes the session, and sends the last spans. May be
    /// called again.
    package func stop() async -> RecorderSummary {
        await watcher.withLock { $0 }?.stop()
        await control.withLock { $0.take() }?.stop()
        await server.stop(grace: settings.grace)
        // A reader would keep the session's log from being removed.
        if let shipper {
            recorder.flush()
            shipper.stop(patience: max(3, Double(settings.grace.components.seconds)), most: 60)
        }
        let summary = recorder.close()
        await spans?.finish()
        return summary
    }

    /// Whether exchanges have yet to be sent to the store, or never will be.
    package var hasUnsent: Bool { shipper.map { $0.status.waiting + $0.status.lost > 0 } ?? false }

    /// What the store has of this run and what not, after ``stop()``; `nil` without a store.
    package var storeSummary: String? {
        guard let shipper, let store = settings.store else { return nil }
        return RunSummary.text(shipper.status, store.shipper.address.shown)
    }

    /// For after ``stop()``. Throws `StartError` if nothing was recorded, `SessionError` if the session is unreadable.
    package func checkAssertions() async throws -> [AssertionResult] {
        guard let profile = await rules.profile, !profile.assertions.isEmpty else { return [] }
        let summary = recorder.close()
        guard let session = summary.path else {
            throw StartError("The profile has assertions, but nothing is recorded.", hint: "Omit --no-session.")
        }
        let all = summary.earlierPaths + [session]
        let sessions = all.filter { FileManager.default.fileExists(atPath: $0) }
        if sessions.count < all.count {
            let count = all.count - sessions.count
            report("sluice: \(count) of \(all.count) files of this run are removed; the assertions see the others\n")
        }
        let first = ExchangeID(recorder.nextExchangeID)
        let mask = settings.keepsSecrets ? nil : RecordMask(profile.mask)
        return try profile.assertions.map { try Assertions.check($0, sessions: sessions, from: first, mask: mask) }
    }

    // MARK: - Setting up

    /// Throws if an address is wrong, or if other machines can connect and no allowed networks are set.
    private static func checkAccess(_ settings: RunSettings, _ profile: RuleProfile?) throws {
        if let wrong = settings.listeners.first(where: { isWrongAddress($0.host) }) {
            throw StartError("\(wrong.host.prefix(80)) is not an address.", isUsage: true)
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

    /// True for a malformed IP address such as 999.1.1.1. Host names are resolved later, when the listener starts.
    private static func isWrongAddress(_ host: String) -> Bool {
        // Fewer than four numbers are not an error, because the C library accepts short forms such as 127.1.
        let isIPv4 = host.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 == 0x2E } && host.count(where: { $0 == "." }) > 2
        guard isIPv4 || host.contains(":") else { return false }
        return (try? SocketAddress(ipAddress: String(host.prefix { $0 != "%" }), port: 0)) == nil
    }

    /// Throws if clients must authenticate, but the mode of a listener has no authentication.
    private static func checkAuthentication(_ settings: RunSettings) throws {
        guard settings.proxyUsers != nil, let open = settings.listeners.first(where: { !$0.mode.canAuthenticate })
        else { return }
        throw StartError(
            "--proxy-auth cannot ask the clients of the listener \(open.mode), which know nothing of a proxy.",
            hint: "Say with --allow which machines may use it, or start it by itself without --proxy-auth."
        )
    }

    /// The authority of the settings, or the user's own authority, which is created at first use.
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
        return try settings.session ?? StandardPaths.newSession()
    }

    private static func recording(_ settings: RunSettings, _ session: String?) -> RecorderConfiguration {
        let version = SluiceVersion.current
        var recording = RecorderConfiguration(path: session, mode: settings.recorder, sluiceVersion: version)
        recording.isRecording = settings.isRecording
        recording.rotation = settings.recordsNothing ? nil : settings.rotation
        recording.largestSession = settings.largestSession?.bytes
        recording.largestSessionText = settings.largestSession?.words ?? ""
        return recording
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
            let owner = running == nil ? "program" : "Sluice"
            let way = running.map { "Open that one with 'sluice attach --control \($0.word)'" } ?? "Stop that one"
            let hint = "\(way), or choose another port: \(other)."
            return StartError("\(place)\(mode) is in use by another \(owner).", hint: hint)
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
    /// For a listener on all addresses (`0.0.0.0`, `::`), the loopback address, to which local clients can connect.
    package var reachable: SocketAddress {
        guard let host = ipAddress, ["0.0.0.0", "::"].contains(host) else { return self }
        return (try? SocketAddress(ipAddress: host == "::" ? "::1" : "127.0.0.1", port: port ?? 0)) ?? self
    }

    /// `host:port`, an IPv6 host in brackets.
    package var place: String { HostAddress.withPort(ipAddress ?? "", port ?? 0) }
}

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

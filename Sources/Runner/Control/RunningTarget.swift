import ExchangeCore
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Recording
import Rules
import Store
import Telemetry
import Wire

struct RunningTarget: LocalHolds {
    let address: String
    var listeners: [ListenerState] = []
    let authority: AuthorityInUse
    var ownCredentials: BasicCredentials?
    var recordingProblem: @Sendable () -> String? = { nil }
    var store: @Sendable () -> Shipper.Status? = { nil }
    var spans: @Sendable () -> SpanCounts? = { nil }
    let rules: RulesInForce
    let recorder: Recorder
    let server: ProxyServer
    private var session: String? { recorder.path }
    var onProfileFiles: @Sendable () async -> Void = {}

    func status() async -> ControlStatus {
        ControlStatus(
            version: SluiceVersion.current,
            address: address,
            listeners: listeners,
            pid: ProcessInfo.processInfo.processIdentifier,
            authority: authority,
            proxyAuthorization: ownCredentials?.fieldValue,
            mark: LocalAnswer.mark,
            session: session,
            recordingProblem: recordingProblem(),
            recording: RecordingState(isOn: recorder.isRecording, passed: recorder.passed, leftOut: recorder.leftOut),
            store: store(),
            spans: spans(),
            edits: recorder.edits,
            profiles: await rules.profile?.sources.map(\.file) ?? [],
            tools: await rules.tools,
            holds: server.holds.all.count,
            rules: await rules.revision
        )
    }

    func stop() -> String {
        kill(getpid(), SIGTERM)
        return "Sluice is stopping."
    }

    func tools() async -> [ToolState] { await rules.tools }

    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState] {
        try await rules.set(try ToolNames.stages(names), isOn: isOn)
        return await rules.tools
    }

    func resetTools(_ names: [String]) async throws -> [ToolState] {
        await rules.profile?.resetCounts(of: try ToolNames.stages(names))
        return await rules.tools
    }

    func waitingHolds() async -> [WaitingHold] {
        let now = NIODeadline.now()
        return server.holds.all.map { held in
            let age = Double((now - held.since).nanoseconds) / 1e9
            return WaitingHold(
                id: held.id,
                message: held.message,
                method: held.method,
                url: held.url.description,
                age: age,
                unanswered: held.limit.map {
                    .init(resolution: $0.resolution, remaining: max(0, Double($0.after.nanoseconds) / 1e9 - age))
                }
            )
        }
    }

    func resolve(_ id: HoldID, _ resolution: HoldResolution) async -> Bool { server.holds.resolve(id, resolution) }

    func decrypt(_ place: String) async throws -> String {
        guard let (host, port) = RequestURL.splitAuthority(place) else {
            throw ControlError("'\(place.prefix(80))' is not a host or host:port.", hint: "For example localhost:8443.")
        }
        let count = server.decryptAgain(host, port: port)
        guard count > 0 else {
            let others = server.undecryptedHosts.prefix(20).joined(separator: ", ")
            let usual = "Other hosts are excluded by the profile's 'intercept'."
            let hint = others.isEmpty ? usual : "Not decrypted: \(others)."
            throw ControlError("No client has refused Sluice's certificate for \(place) twice.", hint: hint)
        }
        let clients = count == 1 ? "" : " for \(count) clients"
        return "\(place) is decrypted again\(clients) from the next connection on."
    }

    func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String {
        guard let (host, _) = RequestURL.splitAuthority(place) else {
            throw ControlError("'\(place.prefix(80))' is not a host.", hint: "For example api.example.com.")
        }
        return server.setVerified(host, isOn.map { !$0 })
            ? "The certificate of \(host) is verified again."
            : "The certificate of \(host) is not verified from the next request on, until Sluice ends."
    }

    func setRecording(_ isOn: Bool) async throws -> String {
        try requireSession()
        if isOn, let problem = recordingProblem() {
            throw ControlError("The recording has stopped for good: \(problem)")
        }
        recorder.setRecording(isOn)
        return isOn ? "Recording is on for new exchanges." : "Recording is off. Rules and breakpoints still apply."
    }

    private func requireSession() throws(ControlError) {
        if session == nil {
            throw ControlError("Nothing is recorded here.", hint: "It was started with --no-session.")
        }
    }

    func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
        try requireSession()
        do {
            return try await recorder.edit(edit)
        } catch let error as SessionError {
            throw ControlError(error.message, hint: error.hint)
        }
    }

    func profile() async -> ProfileInForce { await rules.current }

    func applyProfile(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> AppliedProfile {
        if let unnamed = texts.first(where: { $0.file.isEmpty || $0.file.utf8.contains(0) }) {
            throw ControlError("'\(unnamed.file)' is not a file name.")
        }
        let difference = try await RunningTarget.explaining { try await rules.apply(texts, madeFrom: revision) }
        await onProfileFiles()
        return (difference.description, await rules.current)
    }

    func loadProfile(_ files: [String]?, discardsEdits: Bool) async throws -> String {
        let difference = try await RunningTarget.explaining {
            try await rules.load(files, discardsEdits: discardsEdits)
        }
        guard let difference else { throw ControlError("No profile is in use.", hint: "Start with --profile FILE.") }
        await onProfileFiles()
        return difference.description
    }

    func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String] {
        let saved = try await rules.save(files, isForced: isForced)
        await onProfileFiles()
        return saved
    }

    private static func explaining<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as ProfileError {
            let end = error.description.last?.isPunctuation == true ? "" : "."
            throw ControlError(error.description + end, hint: "The rules are unchanged.")
        }
    }
}

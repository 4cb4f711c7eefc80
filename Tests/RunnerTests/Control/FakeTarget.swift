import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Recording
import Rules
import Synchronization

@testable import Runner

/// A running Sluice that only remembers what it was told.
final class FakeTarget: LocalHolds {
    struct State: Sendable {
        var tools = [
            ToolState(name: "block", isOn: true, rules: 2, enabled: 1),
            ToolState(name: "throttle", isOn: true, rules: 1, enabled: 1),
        ]
        var holds: [WaitingHold] = []
        var profiles: [ProfileSource] = []
        var edits: [SessionEdit] = []
        var isStopped = false
        var decisions: [(id: String, resolution: HoldResolution)] = []
    }

    let state: Mutex<State>
    let address: String
    let process: Int32

    init(holds: [WaitingHold] = [], address: String = "127.0.0.1:8080", process: Int32 = getpid()) {
        var state = State()
        state.holds = holds
        self.state = Mutex(state)
        self.address = address
        self.process = process
    }

    func status() async -> ControlStatus {
        let (tools, holds) = state.withLock { ($0.tools, $0.holds.count) }
        return ControlStatus(
            version: "1.2.3",
            address: address,
            pid: process,
            session: "/tmp/s.sluice",
            profiles: ["base.yaml"],
            tools: tools,
            holds: holds
        )
    }

    func stop() async -> String {
        state.withLock { $0.isStopped = true }
        return "stopping"
    }

    func tools() async -> [ToolState] { state.withLock { $0.tools } }

    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState] {
        let names = try ToolNames.stages(names).map(\.name)
        return state.withLock { state in
            for index in state.tools.indices where names.contains(state.tools[index].name) {
                state.tools[index].isOn = isOn
            }
            return state.tools
        }
    }

    func resetTools(_ names: [String]) async throws -> [ToolState] {
        let names = try ToolNames.stages(names).map(\.name)
        return state.withLock { state in
            for index in state.tools.indices where names.contains(state.tools[index].name) {
                state.tools[index].counts = nil
            }
            return state.tools
        }
    }

    func waitingHolds() async -> [WaitingHold] { state.withLock { $0.holds } }

    func resolve(_ id: HoldID, _ resolution: HoldResolution) async -> Bool {
        state.withLock { state in
            guard let index = state.holds.firstIndex(where: { $0.id == id }) else { return false }
            state.holds.remove(at: index)
            state.decisions.append((id.description, resolution))
            return true
        }
    }

    func decrypt(_ place: String) async throws -> String {
        guard place == "h.example:443" else { throw ControlError("No client has refused it.", hint: "Try another.") }
        return "\(place) is decrypted again"
    }

    func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String {
        "\(place): \(isOn.map { $0 ? "insecure" : "verified" } ?? "turned")"
    }

    func setRecording(_ isOn: Bool) async throws -> String { "recording is \(isOn ? "on" : "off")" }

    func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
        state.withLock { $0.edits.append(edit) }
        var result = SessionEditResult()
        (result.changed, result.inFlight, result.mark) = (3, 1, 17)
        return result
    }

    func profile() async -> ProfileInForce { ProfileInForce(profiles: state.withLock { $0.profiles }, rules: "r1") }

    func applyProfile(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> AppliedProfile {
        guard revision ?? "r1" == "r1" else { throw ControlError("The rules were changed elsewhere.") }
        state.withLock { $0.profiles = texts.map { ProfileSource(file: $0.file, text: $0.text, isUnsaved: true) } }
        return ("1 rule added", await profile())
    }

    func loadProfile(_ files: [String]?, discardsEdits: Bool) async throws -> String {
        guard let files else {
            if discardsEdits { return "1 rule removed" }
            throw ControlError("base.yaml:1:1: the profile is empty", hint: "The rules are unchanged.")
        }
        guard files.allSatisfy({ $0.hasPrefix("/") }) else { throw ControlError("\(files) is not absolute") }
        return "\(files.count) loaded\(discardsEdits ? ", edits lost" : "")"
    }

    func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String] {
        guard isForced else { throw ControlError("base.yaml was changed since it was read.", conflict: .changed) }
        return files ?? ["base.yaml"]
    }

    var decisions: [(id: String, resolution: HoldResolution)] { state.withLock { $0.decisions } }

    /// What was decided, for example `12.1 cancel`.
    var decided: [String] { decisions.map { "\($0.id) \($0.resolution.decision.rawValue)" } }
}

/// A directory for sockets, which goes with the test; its path is short, as sockets' must be.
final class SocketDirectory: Sendable {
    let path = "/tmp/sluice-\(UInt32.random(in: 0 ... .max))"

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}

extension WaitingHold {
    init(_ exchange: Int64, ordinal: Int = 1, _ message: HeldMessage) {
        self.init(
            id: HoldID(exchange: ExchangeID(exchange), ordinal: ordinal),
            message: message,
            method: "GET",
            url: "https://api.example.com/old",
            age: 75,
            unanswered: Outcome(resolution: .cancel, remaining: 18.4)
        )
    }
}

import Foundation
package import HTTPModel
package import Jobs
package import Recording

/// A Sluice in another process. Each request has its own connection, so that no connection is open while a user edits.
package struct ControlClient: Sendable {
    package let path: String
    private let timeout: Duration

    /// Finds the running Sluice by its socket or process, or the only running one. `timeout` is for each request.
    package init(
        _ choice: String?,
        in directories: [String] = ControlPaths.directories,
        timeout: Duration = .seconds(10)
    ) throws(StartError) {
        self.timeout = timeout
        path = if let choice { try Self.chosen(choice, directories) } else { try Self.only(directories, timeout) }
    }

    private static func chosen(_ choice: String, _ directories: [String]) throws(StartError) -> String {
        guard let process = Int32(choice) else {
            guard choice.contains("/") || FileManager.default.fileExists(atPath: choice) else {
                throw StartError("--control takes a socket's path or a process number; not '\(choice)'.", isUsage: true)
            }
            return choice
        }
        let paths = directories.map { ControlPaths.socket(of: process, in: $0) }
        guard let path = paths.first(where: { FileManager.default.fileExists(atPath: $0) }) else {
            throw StartError("Process \(process) has no control socket.", hint: startHint)
        }
        return path
    }

    private static let startHint = "Start one with sluice run, as the same user."

    private static func only(_ directories: [String], _ timeout: Duration) throws(StartError) -> String {
        var running: [(path: String, process: Int32, status: ControlStatus?)] = []
        for (process, path) in ControlPaths.sockets(in: directories) {
            do {
                let request = ControlRequest(command: .status)
                running.append((path, process, try ask(path, request, by: .now + timeout).status))
            } catch ControlSocket.SocketError.refused {
                // The socket is left over from a killed process.
                continue
            } catch {
                running.append((path, process, nil))
            }
        }
        if running.count == 1 { return running[0].path }
        guard !running.isEmpty else { throw StartError("No Sluice is running.", hint: startHint) }
        let lines = running.map { entry in
            guard let status = entry.status else { return "  \(entry.process)  (does not answer)  \(entry.path)" }
            let profiles = status.profiles.isEmpty ? "no profile" : status.profiles.joined(separator: ", ")
            return "  \(status.pid)  \(status.address)  \(profiles)"
        }
        throw StartError("Several Sluices are running:\n\(lines.joined(separator: "\n"))", hint: "Use --control PID.")
    }

    /// Sends a request on its own thread. Throws ``ControlError`` if Sluice refuses, ``StartError`` without a reply.
    private func ask<Answer>(_ request: ControlRequest, _ read: (ControlReply) -> Answer?) async throws -> Answer {
        let reply = try await OwnThread.run { () throws(StartError) in try self.reply(to: request) }
        if let failure = reply.failure { throw failure }
        guard let answer = read(reply) else { throw StartError("The reply from \(path) is not for this request.") }
        return answer
    }

    private func reply(to request: ControlRequest) throws(StartError) -> ControlReply {
        do {
            return try ControlClient.ask(path, request, by: .now + timeout)
        } catch let failure as ControlSocket.SocketError {
            throw explain(failure)
        } catch let failure as ControlError {
            throw StartError("The reply from \(path) is invalid: \(failure.message)")
        } catch {
            throw StartError("\(path) cannot be reached: \(error).")
        }
    }

    static func ask(
        _ path: String,
        _ request: ControlRequest,
        by deadline: ContinuousClock.Instant
    ) throws -> ControlReply {
        let line = try ControlLine.encode(request)
        guard line.count <= ControlProtocol.longestLine else {
            throw ControlError("the request is longer than \(ControlProtocol.longestLine >> 20) MiB")
        }
        let socket = try ControlSocket(path: path, deadline: deadline)
        try socket.sendLine(line)
        return try ControlLine.decode(ControlReply.self, try socket.receiveLine())
    }

    private func explain(_ failure: ControlSocket.SocketError) -> StartError {
        switch failure {
        case .refused: StartError("Nobody listens at \(path).", hint: ControlClient.startHint, isGone: true)
        case .timeout: StartError("The Sluice at \(path) does not answer.")
        case .gone:
            StartError("The Sluice at \(path) closed the connection.", hint: "It may be stopping.", isGone: true)
        case .tooLong: StartError("The reply from \(path) is too long; it is not a Sluice.")
        case .system(let code):
            StartError("\(path) cannot be reached: \(String(cString: strerror(code))).", isGone: code == ENOENT)
        }
    }
}

extension ControlClient: ControlTarget {
    package func status() async throws -> ControlStatus { try await ask(.init(command: .status), \.status) }

    package func stop() async throws -> String { try await ask(.init(command: .stop), \.message) }

    package func tools() async throws -> [ToolState] { try await ask(.init(command: .toolList), \.tools) }

    package func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState] {
        try await ask(.init(command: .toolSet, tools: names, on: isOn), \.tools)
    }

    package func resetTools(_ names: [String]) async throws -> [ToolState] {
        try await ask(.init(command: .toolReset, tools: names), \.tools)
    }

    package func holds() async throws -> [HoldSummary] { try await ask(.init(command: .holdList), \.holds) }

    package func hold(_ id: String) async throws -> HoldDetails {
        try await ask(.init(command: .holdShow, id: id), \.hold)
    }

    package func editHold(_ id: String, _ edit: HoldEdit) async throws -> String {
        try await ask(.init(command: .holdEdit, id: id, edit: edit), \.decided?.first)
    }

    package func decide(_ ids: [String], _ decision: HoldDecision) async throws -> HoldsDecided {
        let command: ControlRequest.Command =
            switch decision {
            case .execute: .holdExecute
            case .cancel: .holdCancel
            case .abort: .holdAbort
            }
        return try await ask(.init(command: command, ids: ids)) { reply in
            reply.decided.map { HoldsDecided(decided: $0, gone: reply.gone ?? []) }
        }
    }

    package func decrypt(_ place: String) async throws -> String {
        try await ask(.init(command: .decrypt, host: place), \.message)
    }

    package func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String {
        try await ask(.init(command: .insecureHost, on: isOn, host: place), \.message)
    }

    package func setRecording(_ isOn: Bool) async throws -> String {
        try await ask(.init(command: .recordSet, on: isOn), \.message)
    }

    package func edit(_ edit: SessionEdit) async throws -> SessionEditResult {
        var request: ControlRequest
        switch edit {
        case .delete(let numbers): request = .init(command: .delete, exchanges: numbers.description)
        case .restore(let mark): request = .init(command: .restore, mark: mark)
        case .annotate(let numbers, .comment(let text)):
            request = .init(command: .annotate, exchanges: numbers.description, comment: text ?? "")
        case .annotate(let numbers, .colour(let colour)):
            request = .init(command: .annotate, exchanges: numbers.description, colour: colour?.rawValue ?? "")
        }
        return try await ask(request, \.changed)
    }

    package func loadProfile(_ files: [String]?, discardsEdits: Bool) async throws -> String {
        // The other process may have another working directory.
        let paths = files?.map { URL(fileURLWithPath: $0).path }
        return try await ask(.init(command: .profileReload, files: paths, force: discardsEdits), \.message)
    }

    package func profile() async throws -> ProfileInForce { try await ask(.init(command: .profileShow), \.profile) }

    package func applyProfile(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> AppliedProfile {
        try await ask(.init(command: .profileApply, profiles: texts, rules: revision)) { reply in
            reply.profile.map { (reply.message ?? "", $0) }
        }
    }

    package func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String] {
        try await ask(.init(command: .profileSave, files: files, force: isForced), \.saved)
    }
}

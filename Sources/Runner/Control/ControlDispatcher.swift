import ExchangeCore
import Foundation
import HTTPModel
import Synchronization

/// Carries out what clients ask: reads a line, asks the target, writes a line.
final class ControlDispatcher: Sendable {
    /// How many lines are being answered, over all clients.
    let inProgress = Atomic(0)
    private let target: any ControlTarget

    init(_ target: any ControlTarget) {
        self.target = target
    }

    /// Answers one line, whatever is in it.
    func reply(to line: Data) async -> Data {
        var reply: ControlReply
        do {
            reply = try await answer(try ControlLine.decode(ControlRequest.self, line))
        } catch let failure as ControlFailure {
            reply = ControlReply(failure)
        } catch {
            reply = ControlReply(ControlFailure("It could not be done: \(error)."))
        }
        if let line = try? ControlLine.encode(reply), line.count <= ControlProtocol.longestLine { return line }
        return Data(#"{"error":"The reply is too long for a line.","ok":false}"#.utf8) + [0x0A]
    }

    /// Answers one request.
    func answer(_ request: ControlRequest) async throws -> ControlReply {
        var reply = ControlReply()
        switch request.command {
        case .status: reply.status = await target.status()
        case .toolList: reply.tools = await target.tools()
        case .toolSet: reply.tools = try await setTools(request)
        case .holdList: reply.holds = await target.waitingHolds().map { HoldSummary($0) }
        case .holdShow: reply.hold = HoldDetails(try await hold(request))
        case .holdEdit: reply.decided = [try await edit(request)]
        case .holdExecute: try await decide(request, .execute(nil), &reply)
        case .holdCancel: try await decide(request, .cancel, &reply)
        case .holdAbort: try await decide(request, .abort, &reply)
        case .decrypt:
            guard let host = request.host else { throw ControlFailure("'decrypt' needs a 'host'.") }
            reply.message = try await target.decrypt(host)
        case .profileReload:
            reply.message = try await target.reloadProfile(discardsEdits: request.isForced ?? false)
        case .profileShow: (reply.profiles, reply.rules) = await target.profiles()
        case .profileApply: try await apply(request, &reply)
        case .profileSave:
            reply.saved = try await target.saveProfiles(request.files, isForced: request.isForced ?? false)
        }
        return reply
    }

    private func setTools(_ request: ControlRequest) async throws -> [ToolState] {
        let names = (request.tools ?? []) + (request.tool.map { [$0] } ?? [])
        guard !names.isEmpty, let isOn = request.isOn else {
            throw ControlFailure("'tool.set' needs a 'tool' and whether it is to be 'on'.")
        }
        return try await target.setTools(names, isOn: isOn)
    }

    private func apply(_ request: ControlRequest, _ reply: inout ControlReply) async throws {
        guard let profiles = request.profiles, !profiles.isEmpty else {
            throw ControlFailure("'profile.apply' needs 'profiles', each with its 'file' and 'text'.")
        }
        if let unnamed = profiles.first(where: { $0.file.isEmpty || $0.file.utf8.contains(0) }) {
            throw ControlFailure("'\(unnamed.file)' is no name of a file.")
        }
        reply.message = try await target.applyProfiles(profiles, madeFrom: request.rules)
        (reply.profiles, reply.rules) = await target.profiles()
    }

    // MARK: - Holds

    private func hold(_ request: ControlRequest) async throws -> WaitingHold {
        guard let id = request.id ?? request.ids?.first, request.ids?.count ?? 1 == 1 else {
            throw ControlFailure("'\(request.command.rawValue)' needs the 'id' of one message.")
        }
        let found = try ControlDispatcher.choose(id, await target.waitingHolds())
        guard let hold = found.first else { throw ControlFailure("No message waits.") }
        guard found.count == 1 else {
            throw ControlFailure(
                "'\(id)' is more than one message.",
                hint: "Choose one: \(ControlDispatcher.ids(found))."
            )
        }
        return hold
    }

    private func edit(_ request: ControlRequest) async throws -> String {
        guard let edit = request.edit else { throw ControlFailure("'hold.edit' needs an 'edit'.") }
        let hold = try await hold(request)
        guard await target.decide(hold.id, try edit.resolution(for: hold.message)) else {
            throw ControlDispatcher.gone(hold.id.description)
        }
        return hold.id.description
    }

    private func decide(
        _ request: ControlRequest,
        _ resolution: HoldResolution,
        _ reply: inout ControlReply
    ) async throws {
        let wanted = (request.ids ?? []) + (request.id.map { [$0] } ?? [])
        guard !wanted.isEmpty else {
            throw ControlFailure("'\(request.command.rawValue)' needs the 'id' of a message, 'ids', or 'all'.")
        }
        let waiting = await target.waitingHolds()
        var chosen: [HoldID] = []
        // All must be there, so that a slip of the finger decides about nothing.
        for word in wanted {
            for hold in try ControlDispatcher.choose(word, waiting) where !chosen.contains(hold.id) {
                chosen.append(hold.id)
            }
        }
        var decided: [String] = []
        var gone: [String] = []
        for id in chosen {
            if await target.decide(id, resolution) {
                decided.append(id.description)
            } else {
                gone.append(id.description)
            }
        }
        reply.decided = decided
        reply.gone = gone
    }

    /// The holds that a word means: `all`, `12.1`, or `12` for those of exchange 12.
    private static func choose(_ word: String, _ holds: [WaitingHold]) throws(ControlFailure) -> [WaitingHold] {
        if word == "all" { return holds }
        let parts = word.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let exchange = Int64(parts[0]),
            let ordinal = parts.count == 1 ? 0 : Int(parts[1])
        else {
            throw ControlFailure(
                "'\(word.prefix(40))' names no message.",
                hint: "They are named like 12.1; 'all' means every one."
            )
        }
        let found = holds.filter {
            $0.id.exchange == ExchangeID(exchange) && (parts.count == 1 || $0.id.ordinal == ordinal)
        }
        guard !found.isEmpty else {
            guard holds.isEmpty else {
                throw ControlFailure("No message \(word) waits.", hint: "There wait: \(ids(holds)).")
            }
            throw gone(word)
        }
        return found
    }

    private static func gone(_ id: String) -> ControlFailure {
        ControlFailure(
            "No message \(id) waits any more.",
            hint: "It was decided about, its time ran out, or its client went away."
        )
    }

    private static func ids(_ holds: [WaitingHold]) -> String {
        let shown = holds.prefix(20).map(\.id.description).joined(separator: ", ")
        return holds.count > 20 ? "\(shown), …" : shown
    }
}

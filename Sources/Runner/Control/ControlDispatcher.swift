import Foundation
import HTTPModel
import Recording
import Synchronization

final class ControlDispatcher: Sendable {
    /// Lines being answered, over all clients.
    let inProgress = Atomic(0)
    private let target: any ControlTarget

    init(_ target: any ControlTarget) { self.target = target }

    func reply(to line: Data) async -> Data {
        let reply: ControlReply
        do {
            reply = try await answer(try ControlLine.decode(StrictRequest.self, line).request)
        } catch {
            reply = ControlReply(error as? ControlError ?? ControlError("It failed: \(error)."))
        }
        if let line = try? ControlLine.encode(reply), line.count <= ControlProtocol.longestLine { return line }
        return Data(#"{"error":"The reply is too long for a line.","ok":false}"#.utf8) + [0x0A]
    }

    private func answer(_ request: ControlRequest) async throws -> ControlReply {
        let isForced = request.force ?? false
        switch request.command {
        case .status: return ControlReply(status: try await target.status())
        case .stop: return ControlReply(message: try await target.stop())
        case .toolList: return ControlReply(tools: try await target.tools())
        case .toolSet:
            let names = (request.tools ?? []) + (request.tool.map { [$0] } ?? [])
            let isOn = try request.needed(names.isEmpty ? nil : request.on, "a 'tool' and 'on'")
            return ControlReply(tools: try await target.setTools(names, isOn: isOn))
        case .toolReset:
            let names = (request.tools ?? []) + (request.tool.map { [$0] } ?? [])
            return ControlReply(
                tools: try await target.resetTools(try request.needed(names.isEmpty ? nil : names, "a 'tool'"))
            )
        case .holdList: return ControlReply(holds: try await target.holds())
        case .holdShow: return ControlReply(hold: try await target.hold(try oneHold(request)))
        case .holdEdit:
            let id = try oneHold(request)
            return ControlReply(decided: [try await target.editHold(id, try request.needed(request.edit, "an 'edit'"))])
        case .holdExecute: return try await decide(request, .execute)
        case .holdCancel: return try await decide(request, .cancel)
        case .holdAbort: return try await decide(request, .abort)
        case .decrypt:
            return ControlReply(message: try await target.decrypt(try request.needed(request.host, "a 'host'")))
        case .insecureHost:
            let host = try request.needed(request.host, "a 'host'")
            return ControlReply(message: try await target.setInsecureHost(host, isOn: request.on))
        case .recordSet:
            let isOn = try request.needed(request.on, "'on'")
            return ControlReply(message: try await target.setRecording(isOn))
        case .delete: return try await edit(.delete(try exchanges(request)))
        case .restore: return try await edit(.restore(mark: request.mark))
        case .annotate: return try await annotate(request)
        case .profileReload:
            let files = request.files?.isEmpty == false ? request.files : nil
            return ControlReply(message: try await target.loadProfile(files, discardsEdits: isForced))
        case .profileShow: return ControlReply(try await target.profile())
        case .profileApply:
            let texts = try request.needed(request.profiles, "'profiles', each with its 'file' and 'text'")
            let (message, profile) = try await target.applyProfile(texts, madeFrom: request.rules)
            return ControlReply(profile, message: message)
        case .profileSave: return ControlReply(saved: try await target.saveProfile(request.files, isForced: isForced))
        }
    }

    private func edit(_ edit: SessionEdit) async throws -> ControlReply {
        ControlReply(changed: try await target.edit(edit))
    }

    private func annotate(_ request: ControlRequest) async throws -> ControlReply {
        let notes = [
            try request.comment.map { try ExchangeNote(comment: $0) },
            try request.colour.map { try ExchangeNote(colour: $0) },
        ].compactMap { $0 }
        _ = try request.needed(notes.first, "a 'comment' or a 'colour'")
        var result = SessionEditResult()
        for note in notes { result = try await target.edit(.annotate(try exchanges(request), note)) }
        return ControlReply(changed: result)
    }

    private func exchanges(_ request: ControlRequest) throws -> ExchangeNumbers {
        let text = try request.needed(request.exchanges, "'exchanges', numbers and ranges such as \"1-5,9\"")
        guard let numbers = ExchangeNumbers(text) else {
            throw ControlError("'\(text.prefix(40))' is not a list of exchanges.", hint: "For example \"1-5,9\".")
        }
        return numbers
    }

    private func decide(_ request: ControlRequest, _ decision: HoldDecision) async throws -> ControlReply {
        let ids = holds(request)
        let named = try request.needed(ids.isEmpty ? nil : ids, "the 'id' of a message, 'ids', or 'all'")
        let result = try await target.decide(named, decision)
        return ControlReply(decided: result.decided, gone: result.gone)
    }

    private func oneHold(_ request: ControlRequest) throws(ControlError) -> String {
        let ids = holds(request)
        return try request.needed(ids.count == 1 ? ids.first : nil, "the 'id' of one message")
    }

    private func holds(_ request: ControlRequest) -> [String] { (request.ids ?? []) + (request.id.map { [$0] } ?? []) }
}

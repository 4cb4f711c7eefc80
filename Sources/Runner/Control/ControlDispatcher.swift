import Foundation
import Synchronization

/// Carries out what clients of the control socket ask: reads a line, asks the target, writes a line.
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
            reply = .refused(failure)
        } catch {
            reply = .refused(ControlFailure("It could not be done: \(error)."))
        }
        if let line = try? ControlLine.encode(reply), line.count <= ControlProtocol.longestLine { return line }
        return Data(#"{"error":"The reply is too long for a line.","ok":false}"#.utf8) + [0x0A]
    }

    private func answer(_ request: ControlRequest) async throws -> ControlReply {
        switch request {
        case .status: return .status(try await target.status())
        case .tools: return .tools(try await target.tools())
        case .setTools(let names, let isOn): return .tools(try await target.setTools(names, isOn: isOn))
        case .holds: return .holds(try await target.holds())
        case .hold(let id): return .hold(try await target.hold(id))
        case .editHold(let id, let edit): return .edited(try await target.editHold(id, edit))
        case .decide(let ids, let decision): return .decided(try await target.decide(ids, decision))
        case .decrypt(let place): return .done(try await target.decrypt(place))
        case .profile: return .profile(try await target.profile())
        case .applyProfile(let texts, let revision):
            let (message, profile) = try await target.applyProfile(texts, madeFrom: revision)
            return .applied(message, profile)
        case .reloadProfile(let discardsEdits):
            return .done(try await target.reloadProfile(discardsEdits: discardsEdits))
        case .saveProfile(let files, let isForced):
            return .saved(try await target.saveProfile(files, isForced: isForced))
        }
    }
}

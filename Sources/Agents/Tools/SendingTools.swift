import Clients
import Foundation
import HTTPModel
import Recording
import Runner

extension AgentTools {
    private static let longestBody = 16 << 20

    private static let edits = [
        AgentTool.Parameter(name: "method", kind: .text(40), meaning: "Another method."),
        AgentTool.Parameter(
            name: "path",
            kind: .text(8_000),
            meaning: "Another path with its query, beginning with '/'."
        ),
        AgentTool.Parameter(
            name: "headers",
            kind: .pairs,
            meaning: "Header fields that replace those of their name; an empty value removes them."
        ),
        AgentTool.Parameter(name: "body", kind: .text(1_000_000), meaning: "Another body, as text."),
    ]

    private static func edit(_ arguments: AgentTool.Arguments) throws -> HoldEdit {
        var edit = HoldEdit()
        edit.method = arguments.text("method")
        edit.status = arguments.integer("status").map { Int($0) }
        if let path = arguments.text("path") {
            guard path.hasPrefix("/") else { throw ToolError("'path' begins with '/'; the host cannot be changed.") }
            edit.path = path
        }
        for (name, value) in arguments.pairs("headers") ?? [] {
            if [":authority", "host"].contains(name.lowercased()) { throw ToolError("The host cannot be changed.") }
            if value.isEmpty {
                edit.removeHeaders.append(name)
            } else {
                edit.headers.append(HoldEdit.Pair(name, value))
            }
        }
        edit.body = arguments.text("body").map { HoldEdit.Body(Data($0.utf8)) }
        return edit
    }

    /// Sends recorded requests again.
    func again(_ target: any ControlTarget) -> AgentTool {
        AgentTool(
            name: "repeat",
            title: "Send a request again",
            meaning:
                "Sends a recorded request again, through the running proxy and its rules, to the host that it had. Returns the number of the new exchange.",
            parameters: [Self.number("number", "The exchange to repeat.")] + Self.edits,
            effect: .changesTraffic
        ) { arguments in
            let edit = try Self.edit(arguments)
            let (exchange, body) = try await session.recorded(
                arguments.integer("number") ?? 0,
                longestBody: Self.longestBody
            )
            let host = exchange.record.url.host.lowercased()
            guard allowed.hosts.contains(host) else {
                throw ToolError(
                    "Requests may be sent to: \(allowed.hosts.sorted().joined(separator: ", ")). The person who started the server can add a host: --allow send=HOST."
                )
            }
            try await sends.take()
            let original = try ComposedRequest(exchange, body: body)
            let request = edit.isEmpty ? original : try original.edited(edit)
            let sender = try RequestSender(try await target.status(), limit: .seconds(60))
            let outcome = await sender.send(request)
            let made = await session.reader.exchange(of: outcome, by: sender)
            if let made { await note("sent by an agent", on: ["\(made.id.number)"], target) }
            return .members([
                "number": made.map { .integer($0.id.number) }, "status": outcome.status.map { .integer(Int64($0)) },
                "ms": .number(Double(outcome.duration) / 1_000),
                "untrusted": outcome.failure.map { ["failure": .string($0.cut(to: 1_000))] },
            ])
        }
    }

    /// Notes in the running session what an agent did; the identifiers are those of exchanges or of their messages.
    private func note(_ text: String, on ids: [String], _ target: any ControlTarget) async {
        let numbers = ids.compactMap { Int64($0.prefix { $0 != "." }) }
        _ = try? await target.edit(.annotate(ExchangeNumbers(numbers), .comment(text)))
    }

    func holds(_ target: any ControlTarget) -> AgentTool {
        AgentTool(
            name: "holds",
            title: "Held messages",
            meaning:
                "Lists, shows, edits and releases messages that breakpoints hold: 'execute' sends one, 'cancel' sends it unchanged, 'abort' closes the client's connection.",
            parameters: [
                .init(
                    name: "action",
                    kind: .choice(["list", "show", "edit", "execute", "cancel", "abort"]),
                    meaning: "What to do.",
                    isRequired: true
                ),
                .init(name: "id", kind: .text(40), meaning: "The message, such as 12.1; from 'list'."),
                .init(name: "status", kind: .integer(100...999), meaning: "Another status of a response."),
            ] + Self.edits,
            effect: .changesTraffic
        ) { arguments in
            let action = arguments.text("action") ?? ""
            if action == "list" {
                var holds: [JSON] = []
                for hold in try await target.holds() {
                    let url = await session.masked(shown: [hold.url])[0]
                    holds.append(
                        .members([
                            "id": .string(hold.id), "seconds": .number(hold.age),
                            "status": hold.status.map { .integer(Int64($0)) }, "side": .string(hold.side),
                            "untrusted": [
                                "method": .string(hold.method.cut(to: 40)), "url": .string(url.cut(to: 2_000)),
                            ],
                        ])
                    )
                }
                return ["holds": .array(holds)]
            }
            guard let id = arguments.text("id"), id != "all" else {
                throw ToolError("'\(action)' needs 'id'; 'list' has them.")
            }
            switch action {
            case "show":
                let hold = try await target.hold(id)
                let shown = await session.masked(shown: [hold.head, hold.body?.text ?? ""])
                let isText = hold.body?.text != nil || hold.body == nil
                return [
                    "id": .string(hold.summary.id), "isText": .bool(isText),
                    "untrusted": [
                        "head": .string(shown[0].cut(to: 65_536)), "body": .string(shown[1].cut(to: 65_536)),
                    ],
                ]
            case "edit":
                let edit = try Self.edit(arguments)
                if edit.isEmpty { throw ToolError("'edit' needs a change: method, path, status, headers or body.") }
                let decided = try await target.editHold(id, edit)
                await note("edited by an agent", on: [decided], target)
                return ["decided": [.string(decided)], "gone": []]
            default:
                let decision = HoldDecision(rawValue: action) ?? .cancel
                let result = try await target.decide([id], decision)
                await note("a breakpoint's message was decided by an agent: \(action)", on: result.decided, target)
                return [
                    "decided": .array(result.decided.map { .string($0) }),
                    "gone": .array(result.gone.map { .string($0) }),
                ]
            }
        }
    }
}

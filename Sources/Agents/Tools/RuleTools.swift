import ExchangeCore
import HTTPModel
import Rules
import Runner

extension AgentTools {
    private static let profile = AgentTool.Parameter(
        name: "profile",
        kind: .text(AgentProfile.longest),
        meaning: "Rules as YAML, for example: {version: 1, block: [{at: 'https://api.example.com/*', action: 503}]}",
        isRequired: true
    )

    private func compiled(_ arguments: AgentTool.Arguments) throws -> RuleProfile {
        try AgentProfile.compile(arguments.text("profile") ?? "", sendingTo: allowed.hosts, session.maskRules)
    }

    var profileCheck: AgentTool {
        AgentTool(
            name: "profile_check",
            title: "Check rules",
            meaning: "Whether rules are right and an agent may use them; nothing is changed.",
            parameters: [Self.profile]
        ) { arguments in
            func issue(_ issue: ProfileIssue) -> JSON {
                [
                    "severity": .string("\(issue.severity)"), "line": .integer(Int64(issue.line)),
                    "column": .integer(Int64(issue.column)), "message": .string(issue.message),
                ]
            }
            do {
                return ["valid": true, "issues": .array(try compiled(arguments).lints.map(issue))]
            } catch let error as ProfileError {
                return ["valid": false, "issues": .array(error.issues.map(issue))]
            } catch let error as ToolError {
                return ["valid": false, "issues": [["severity": "error", "message": .string(error.description)]]]
            }
        }
    }

    var tryRule: AgentTool {
        AgentTool(
            name: "try_rule",
            title: "Try rules on recorded traffic",
            meaning: "What rules would do to recorded exchanges, without changing or sending anything.",
            parameters: [
                Self.profile, Self.filter,
                .init(
                    name: "limit",
                    kind: .integer(1...100),
                    meaning: "How many of the newest exchanges; 20 if left out."
                ),
            ]
        ) { arguments in
            let profile = try compiled(arguments)
            let filter = try AgentFilter(arguments.text("filter") ?? "")
            let (found, _, _) = try await session.find(filter, limit: Int(arguments.integer("limit") ?? 20))
            var examples: [JSON] = []
            for (id, played) in try await session.play(profile, on: found) {
                let fired = played.trace.filter { $0.outcome == .fired }
                if fired.isEmpty { continue }
                let tools = Set(fired.map(\.stage)).sorted()
                let text = fired.map { "\($0.stage)\($0.rule.map { " (\($0))" } ?? ""): \($0.text)" }.joined(
                    separator: "\n"
                )
                examples.append([
                    "number": .integer(id.number), "did": .array(tools.map { .string($0) }),
                    "untrusted": .string(await session.masked(text: text).cut(to: 2_000)),
                ])
            }
            return [
                "played": .integer(Int64(found.count)), "acted": .integer(Int64(examples.count)),
                "examples": .array(Array(examples.prefix(20))),
            ]
        }
    }

    func rules(_ target: any ControlTarget) -> AgentTool {
        var profile = Self.profile
        profile.isRequired = false
        return AgentTool(
            name: "rules",
            title: "Change the running rules",
            meaning:
                "Puts rules of yours in force, after those of the person's profile; a second 'put' replaces them. 'withdraw' removes them.",
            parameters: [
                .init(
                    name: "action",
                    kind: .choice(["put", "withdraw", "show"]),
                    meaning: "What to do.",
                    isRequired: true
                ),
                profile,
            ],
            effect: .changesTraffic
        ) { arguments in
            let own = try await target.profile().profiles.first { $0.file == AgentProfile.file }
            switch arguments.text("action") {
            case "put":
                _ = try compiled(arguments)
                let text = arguments.text("profile") ?? ""
                let applied = try await target.applyProfile(
                    [ProfileSource(file: AgentProfile.file, text: text)],
                    madeFrom: nil
                )
                return ["message": .string(applied.message)]
            case "withdraw":
                guard own != nil else { throw ToolError("No rules of yours are in force.") }
                let blank = ProfileSource(file: AgentProfile.file, text: "version: 1\n")
                return ["message": .string(try await target.applyProfile([blank], madeFrom: nil).message)]
            default:
                return .members([
                    "message": own == nil ? "No rules of yours are in force." : "These are in force.",
                    "profile": own.map { .string($0.text) },
                ])
            }
        }
    }
}

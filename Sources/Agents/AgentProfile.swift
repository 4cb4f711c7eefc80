package import HTTPModel
import Masking
package import Rules
import Tools

/// Rules of an agent: only tools and keys that neither read nor write files, send nothing to other hosts, and cannot find
/// out a secret by trying.
package enum AgentProfile {
    /// The file by which the rules are known in a running Sluice; it is not written.
    package static let file = "agent-rules.yaml"
    /// In characters.
    static let longest = 100_000

    /// Compiles the rules. Throws ``ToolError`` with the place and the reason for what an agent cannot use, and
    /// `ProfileError`. `hosts` are those to which requests may be sent, besides this machine.
    package static func compile(_ text: String, sendingTo hosts: Set<String>, _ mask: MaskRules) throws -> RuleProfile {
        guard let tree = try Node.read(text, file: file) else {
            throw ToolError("The profile is empty; it begins with 'version: 1'.")
        }
        for member in tree.mapping ?? [] {
            let key = member.key.scalar?.string ?? ""
            if key == "version" || key == "name" { continue }
            guard let use = ToolRegistry.standard[key: key]?.forAgents else {
                let known = ToolRegistry.standard.tools.filter { $0.forAgents != nil }.map(\.key).joined(
                    separator: ", "
                )
                throw refusal(member.key, "an agent cannot use '\(key.prefix(40))'; it can use \(known)")
            }
            for rule in member.value.members {
                if let (node, reason) = use.refusal(rule, hosts) { throw refusal(node, reason) }
            }
        }
        let profile = try RuleProfile(
            sources: [ProfileSource(file: file, text: text)],
            tools: .standard,
            variables: .forRecordedRules
        )
        let names = SecretNames(also: mask.also, except: mask.except)
        for rule in profile.tools.flatMap(\.rules) {
            let places = (rule.scope.locations ?? []) + rule.scope.exceptions
            if places.contains(where: { $0.pattern.description.contains("?") }) {
                throw ToolError("\(rule.place): a location of an agent has no query; use when: 'req.query.NAME:VALUE'")
            }
            for test in rule.condition?.filter.root.tests ?? [] {
                if let problem = problem(test, names) { throw ToolError("\(rule.place): when: \(problem)") }
            }
        }
        return profile
    }

    private static func refusal(_ node: Node, _ reason: String) -> ToolError {
        ToolError("\(file):\(node.line):\(node.column): \(reason)")
    }

    /// Why a test in `when:` could find out a secret.
    private static func problem(_ test: FilterTest, _ names: SecretNames) -> String? {
        func isSecret(_ name: String) -> Bool {
            names.kind(of: name.utf8) != nil || name.lowercased().hasSuffix("cookie")
        }
        switch test {
        case .matches(.body, _), .matches(.url, _), .matches(.text(.query), _):
            return "rules of an agent test no whole body, query or URL; use a place, as in req.json.NAME:VALUE"
        case .matches(.field(_, let name), let pattern):
            if case .any = pattern { return nil }
            guard let literal = name.literal, !isSecret(literal) else {
                return "'\(name)' may be a secret; an agent can only test that it is there: \(name):*"
            }
            return nil
        case .place(let test):
            if case .text(let glob, _) = test.condition, glob.matchesEverything { return nil }
            let steps = test.place.steps
            let isOpen = steps.allSatisfy { if case .member(let name) = $0 { !isSecret(name) } else { true } }
            switch test.place.part {
            case .cookie: return "cookies are secrets; an agent can only test that one is there: \(test.place):*"
            case .body, .url: return "rules of an agent test no whole body, query or URL"
            default:
                return isOpen
                    ? nil : "\(test.place) may be a secret; an agent can only test that it is there: \(test.place):*"
            }
        default: return nil
        }
    }
}

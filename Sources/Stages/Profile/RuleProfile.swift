public import ExchangeCore
import Yams

/// A set-up of tools as a file describes it: read, checked and compiled.
public struct RuleProfile: Sendable {
    /// The tools in force, in their fixed order.
    public let chain: StageChain
    /// Which hosts are decrypted.
    public let intercept: InterceptRules
    /// The name that the profile gives itself; empty where it does not.
    public let name: String
    /// How many rules are in force.
    public let ruleCount: Int
    /// For example `2 block rules, 1 rewrite rule`.
    public let summary: String
    /// What is allowed but hardly meant.
    public let lints: [ProfileIssue]

    /// Reads a profile from a file.
    ///
    /// - Throws: ``ProfileError`` with everything that is wrong.
    public static func load(path: String) throws(ProfileError) -> RuleProfile {
        try RuleProfile(try ProfileText.read(path), file: path)
    }

    /// Reads a profile from text; `file` is what issues call it.
    ///
    /// - Throws: ``ProfileError`` with everything that is wrong.
    public init(_ text: String, file: String) throws(ProfileError) {
        var reader = ProfileReader(file: file)
        var stages: [any Stage] = []
        var counts: [String] = []
        var total = 0
        var intercept = InterceptRules()
        var name = ""
        let tree = try ProfileText.tree(text, file: file)
        if let tree, let fields = RuleProfile.topLevel(tree, &reader) {
            name = fields.name ?? ""
            RuleProfile.checkVersion(fields, &reader)
            if let node = fields["intercept"] { intercept = InterceptRules(node, &reader) ?? InterceptRules() }
            for tool in ToolRegistry.tools {
                guard let node = fields[tool.key], let result = tool.parse(node, &reader), fields.isEnabled else {
                    continue
                }
                stages.append(result.stage)
                total += result.ruleCount
                counts.append("\(result.ruleCount) \(tool.key) rule\(result.ruleCount == 1 ? "" : "s")")
            }
        } else if tree == nil {
            reader.note(.error, "the profile is empty; the least it has is 'version: 1'", line: 1, column: 1)
        }
        let issues = reader.issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
        if reader.hasErrors { throw ProfileError(issues: issues) }
        chain = StageChain(stages)
        self.intercept = intercept
        self.name = name
        ruleCount = total
        summary = counts.isEmpty ? "no rules" : counts.joined(separator: ", ")
        lints = issues
    }

    /// The top level's fields.
    ///
    /// A tool that this version does not have yet is told apart from a mistake.
    private static func topLevel(_ tree: Node, _ reader: inout ProfileReader) -> ProfileFields? {
        guard var mapping = tree.mapping else {
            reader.error("a profile is a mapping that begins with 'version: 1', not \(tree.kind)", at: tree)
            return nil
        }
        for (key, _) in mapping {
            guard let name = key.scalar?.string, ToolRegistry.later.contains(name) else { continue }
            reader.error("this version of Sluice does not have '\(name)' yet", at: key)
        }
        mapping = Node.Mapping(
            mapping.filter { !ToolRegistry.later.contains($0.key.scalar?.string ?? "") }.map { ($0.key, $0.value) },
            mapping.tag,
            mapping.style,
            mapping.mark
        )
        return reader.rule(
            .mapping(mapping),
            "a profile",
            keys: ["version", "intercept"] + ToolRegistry.tools.map(\.key)
        )
    }

    private static func checkVersion(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        guard let node = reader.required(fields, "version", "a profile"), let text = reader.text(node, "version"),
            text != "1"
        else { return }
        let hint = Int(text).map { $0 > 1 } == true ? "a newer Sluice may" : "it is 1"
        reader.error("this Sluice does not know version '\(text.prefix(20))' of the profile; \(hint)", at: node)
    }
}

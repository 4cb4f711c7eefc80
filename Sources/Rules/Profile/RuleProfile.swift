package import ExchangeCore
package import HTTPModel

/// A set-up of tools as one file or several describe it: read, checked and compiled.
///
/// The rules of several files stand one after the other, in the order of the files.
package struct RuleProfile: Sendable {
    /// The name that the profile gives itself; empty where it does not.
    package let name: String
    /// The files it was read from, those that are included before those that include them.
    package let sources: [ProfileSource]
    /// The tools that the files say something about, in the fixed order.
    package let tools: [ToolOutline]
    /// The tools that are switched off at first.
    package let off: Set<StageID>
    /// Which hosts are decrypted.
    package let intercept: InterceptRules
    /// Further networks that may use the proxy, as CIDR.
    package let access: [String]
    /// The profile's own tests.
    package let expectations: [Expectation]
    /// What must hold of the traffic of a run.
    package let assertions: [Assertion]
    /// What is allowed but hardly meant.
    package let lints: [ProfileIssue]

    package let registry: ToolRegistry
    let compiled: [Compiled]

    /// A tool with a rule that is in force.
    struct Compiled: Sendable {
        let tool: Tool
        let stage: any RuleTool
        /// `nil` where the stage is to be asked about every exchange.
        let headings: [RuleHeading]?
    }

    /// Reads a profile from its files and those that they include.
    ///
    /// - Parameters:
    ///   - paths: the files.
    ///   - edited: texts that count in the place of what is in the files of their names, which need not be there.
    ///   - takesPipes: whether the output of a command, as the shell's `<(…)` names it, will do for a file that is not an
    ///     included one. It is waited for, but not when it is silent for five seconds: for when a command begins.
    ///   - tools: the tools that the profile may name.
    /// - Returns: the profile, compiled.
    /// - Throws: ``ProfileError`` with everything that is wrong.
    package static func load(
        paths: [String],
        edited: [ProfileSource] = [],
        takesPipes: Bool = false,
        tools: ToolRegistry
    ) throws(ProfileError) -> RuleProfile {
        try RuleProfile(sources: try ProfileSource.read(paths, edited: edited, takesPipes: takesPipes), tools: tools)
    }

    /// Reads a profile from one text; `file` is what issues call it.
    ///
    /// - Throws: ``ProfileError`` with everything that is wrong.
    package init(_ text: String, file: String, tools: ToolRegistry) throws(ProfileError) {
        try self.init(sources: [ProfileSource(file: file, text: text)], tools: tools)
    }

    /// Compiles texts that have been read; what they include is among them already.
    ///
    /// - Throws: ``ProfileError`` with everything that is wrong.
    package init(sources: [ProfileSource], tools registry: ToolRegistry) throws(ProfileError) {
        var compiler = ProfileCompiler(registry)
        try compiler.add(sources)
        let issues = compiler.issues
        if issues.contains(where: { $0.severity == .error }) { throw ProfileError(issues: issues) }
        self.registry = registry
        name = compiler.name
        self.sources = sources
        off = compiler.off
        intercept = compiler.intercept
        access = compiler.access
        expectations = compiler.expectations
        assertions = compiler.assertions
        tools = compiler.tools.map { ToolOutline($0, $1.map(\.heading)) }
        lints = RuleProfile.sorted(issues + ProfileLints(tools, intercept: intercept).issues, by: sources)
        compiled = compiler.tools.filter { $0.rules.contains { $0.heading.isEnabled } }.map { tool, rules in
            Compiled(
                tool: tool,
                stage: tool.stage(rules),
                headings: tool.actsWithoutMatch ? nil : rules.map(\.heading)
            )
        }
        switchTools(without: off)
    }

    /// The tools in force at first.
    package var chain: StageChain { chain(without: off) }

    /// The tools in force, in their fixed order, where some are switched off.
    ///
    /// Tools that are switched in place stay even then: `switchTools` switches them.
    package func chain(without off: Set<StageID>) -> StageChain {
        let inForce = compiled.filter { !off.contains($0.tool.id) || $0.tool.isSwitchedInPlace }
        return StageChain(inForce.map(\.stage), preselection: HostPreselection(inForce.map(\.headings)))
    }

    /// The tools for a rehearsal, which write nothing.
    func rehearsalChain(without off: Set<StageID>) -> StageChain {
        let inForce = compiled.filter { !off.contains($0.tool.id) }
        return StageChain(inForce.map(\.stage.rehearsed), preselection: HostPreselection(inForce.map(\.headings)))
    }

    // MARK: - Exchanges that are under way

    /// Switches the tools whose switching reaches exchanges that are under way.
    ///
    /// A profile begins with what it says itself under `off`.
    package func switchTools(without off: Set<StageID>) {
        for compiled in compiled { compiled.stage.isOn = !off.contains(compiled.tool.id) }
    }

    /// Lets the tools take over what those of an older profile have counted; to be called before this one is in force.
    package func prepare(toReplace old: RuleProfile) {
        for compiled in compiled {
            if let before = old.stage(of: compiled.tool) { compiled.stage.prepare(toReplaceAny: before) }
        }
    }

    /// Tells the tools that those of another profile are in force in their place, or none.
    package func wasReplaced(by new: RuleProfile?) {
        for compiled in compiled { compiled.stage.wasReplaced(byAny: new?.stage(of: compiled.tool)) }
    }

    private func stage(of tool: Tool) -> (any RuleTool)? { compiled.first { $0.tool == tool }?.stage }

    /// In the order of the files, and of each from its top.
    private static func sorted(_ issues: [ProfileIssue], by sources: [ProfileSource]) -> [ProfileIssue] {
        let places = Dictionary(sources.enumerated().map { ($1.file, $0) }) { first, _ in first }
        return issues.sorted {
            (places[$0.file] ?? 0, $0.line, $0.column) < (places[$1.file] ?? 0, $1.line, $1.column)
        }
    }

    /// For example `2 block rules, 1 rewrite rule`.
    package var summary: String {
        let counts = tools.compactMap { tool -> String? in
            let count = tool.rules.count { $0.isEnabled }
            let state = off.contains(tool.tool.id) ? " (off)" : ""
            let noun = tool.tool.counted
            return count == 0 ? nil : "\(count) \(noun)\(count == 1 ? "" : "s")\(state)"
        }
        return counts.isEmpty ? "no rules" : counts.joined(separator: ", ")
    }
}

package import ExchangeCore
package import HTTPModel

/// The tools as profiles configure them: read, checked and compiled. Rules are in the order of the files.
@dynamicMemberLookup
package struct RuleProfile: Sendable {
    /// The settings in the files besides the rules of tools.
    package struct Settings: Sendable {
        /// May be empty.
        package internal(set) var name = ""
        /// Tools that are off at the start.
        package internal(set) var off: Set<StageID> = []
        package internal(set) var intercept = InterceptRules()
        package internal(set) var record = RecordRules()
        package internal(set) var upstream = UpstreamRules()
        package internal(set) var clientCertificates = ClientCertificateRules()
        package internal(set) var mask = MaskRules()
        package internal(set) var replay = ReplayRules()
        /// Descriptor sets for gRPC messages, with absolute paths.
        package internal(set) var protobuf: [String] = []
        package internal(set) var access: [String] = []
        /// What `vars` read from the environment and from files, as `key: environment variable API_KEY`.
        package internal(set) var variableSources: [String] = []
        package internal(set) var expectations: [Expectation] = []
        package internal(set) var assertions: [Assertion] = []
    }

    let settings: Settings
    /// The files; included files come before the files that include them.
    package let sources: [ProfileSource]
    /// In the fixed order.
    package let tools: [ToolOutline]
    package let lints: [ProfileIssue]

    let registry: ToolRegistry
    private let compiled: [Compiled]

    private typealias Compiled = (tool: Tool, stage: any RuleTool, headings: [RuleHeading])

    package subscript<Value>(dynamicMember path: KeyPath<Settings, Value>) -> Value { settings[keyPath: path] }

    /// Compiles texts and the texts that they include. Throws all errors together.
    package init(
        sources: [ProfileSource],
        tools registry: ToolRegistry,
        variables: VariableInputs = .ofProcess
    ) throws(ProfileError) {
        var compiler = ProfileCompiler(registry, variables)
        try compiler.add(sources)
        try ProfileError.check(compiler.issues)
        self.registry = registry
        self.sources = sources
        settings = compiler.settings
        tools = compiler.tools.map { ToolOutline($0, $1.map(\.heading)) }
        lints = RuleProfile.sorted(compiler.issues + ProfileLints(tools, settings).issues, by: sources)
        compiled = compiler.tools.filter { $0.rules.contains { $0.heading.isEnabled } }
            .map { ($0, $0.stage($1), $1.map(\.heading)) }
        switchTools(without: settings.off)
    }

    /// The masking rules in texts that were in force, even if this Sluice cannot read the rest of the texts.
    package static func mask(in sources: [ProfileSource], tools: ToolRegistry) throws(ProfileError) -> MaskRules {
        var compiler = ProfileCompiler(tools, .forRecordedRules)
        try compiler.add(sources)
        return compiler.settings.mask
    }

    /// The chain with the tools that are on at the start.
    package var chain: StageChain { chain(without: settings.off) }

    /// The chain of the tools that are not in `off`; tools that are switched in place stay, for `switchTools`.
    package func chain(without off: Set<StageID>) -> StageChain {
        chain(compiled.filter { !off.contains($0.tool.id) || $0.tool.isSwitchedInPlace }) { $0 }
    }

    /// The chain for a dry run, which writes nothing.
    func dryRunChain(without off: Set<StageID>) -> StageChain {
        chain(compiled.filter { !off.contains($0.tool.id) }, isDryRun: true) { $0.dryRun }
    }

    private func chain(
        _ inForce: [Compiled],
        isDryRun: Bool = false,
        _ stage: (any RuleTool) -> any Stage
    ) -> StageChain {
        let preselection = HostPreselection(inForce.map { ($0.tool, $0.headings) })
        let conditions = ProfileConditions(inForce.map { ($0.tool, $0.headings) }, isDryRun: isDryRun).map {
            conditions in
            { @Sendable opening in conditions.begin(opening) }
        }
        return StageChain(inForce.map { stage($0.stage) }, preselection: preselection, conditions: conditions)
    }

    /// Switches the tools that are switched in place, also for running exchanges. At first `off` of the profile counts.
    package func switchTools(without off: Set<StageID>) {
        for compiled in compiled { compiled.stage.isOn = !off.contains(compiled.tool.id) }
    }

    /// Lets the tools continue the counts of an older profile; to be called before this profile is in force.
    package func prepare(toReplace old: RuleProfile) {
        func prepare<Stage: RuleTool>(_ stage: Stage, _ old: (any RuleTool)?) { (old as? Stage).map(stage.prepare) }
        for compiled in compiled {
            prepare(compiled.stage, old.stage(of: compiled.tool))
            let older = old.compiled.first { $0.tool == compiled.tool }?.headings ?? []
            for heading in compiled.headings {
                guard let values = heading.values else { continue }
                older.first { $0.name == heading.name }?.values.map { values.goOn(from: $0) }
            }
        }
    }

    /// Notifies the tools that a different profile, or none, has replaced this one.
    package func wasReplaced(by new: RuleProfile?) {
        func replace<Stage: RuleTool>(_ stage: Stage, _ new: (any RuleTool)?) { stage.wasReplaced(by: new as? Stage) }
        for compiled in compiled { replace(compiled.stage, new?.stage(of: compiled.tool)) }
    }

    /// The rules of a tool that count their requests.
    package func counts(of tool: Tool) -> [RuleCount] { stage(of: tool)?.counts ?? [] }

    /// Starts the counts of these tools again.
    package func resetCounts(of tools: Set<StageID>) {
        for compiled in compiled where tools.contains(compiled.tool.id) { compiled.stage.resetCounts() }
    }

    private func stage(of tool: Tool) -> (any RuleTool)? { compiled.first { $0.tool == tool }?.stage }

    /// The content of each rule by its place; it is equal if only comments, quotes or the order of keys differ.
    package var ruleTexts: [ProfilePlace: String] {
        var texts: [ProfilePlace: String] = [:]
        for source in sources {
            guard let root = try? source.root else { continue }
            let reader = ProfileReader(file: source.file)
            for section in registry.sections {
                for rule in root[section.key]?.members ?? [] { texts[reader.place(rule)] = rule.text() }
            }
        }
        return texts
    }

    private static func sorted(_ issues: [ProfileIssue], by sources: [ProfileSource]) -> [ProfileIssue] {
        let places = Dictionary(sources.enumerated().map { ($1.file, $0) }) { first, _ in first }
        return issues.sorted {
            (places[$0.file] ?? 0, $0.line, $0.column) < (places[$1.file] ?? 0, $1.line, $1.column)
        }
    }

    /// For example `2 block rules, 1 rewrite rule`.
    package var summary: String {
        let ways = [
            (settings.upstream.rules.count { $0.heading.isEnabled }, "upstream rule"),
            (settings.clientCertificates.rules.count { $0.isEnabled }, "client certificate"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        let counts = tools.compactMap { tool -> String? in
            let count = tool.rules.count { $0.isEnabled }
            let state = settings.off.contains(tool.tool.id) ? " (off)" : ""
            let noun = tool.tool.counted
            return count == 0 ? nil : "\(count) \(noun)\(count == 1 ? "" : "s")\(state)"
        }
        let assertions = settings.assertions.count
        let checks = assertions == 0 ? [] : ["\(assertions) assertion\(assertions == 1 ? "" : "s")"]
        let parts = counts + ways + checks
        return parts.isEmpty ? "no rules" : parts.joined(separator: ", ")
    }
}

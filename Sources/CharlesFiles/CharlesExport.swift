package import ExchangeCore
package import HTTPModel
package import Rules
import Tools

/// Converts a profile to Charles' settings, for Charles and for other readers of its files.
package struct CharlesExport: Sendable {
    package let settings: CharlesSettings
    package let report: FidelityReport
    /// The settings as the text of a file that Charles imports.
    package var xml: String { settings.xml }
    /// Whether there is a rule in the settings.
    package var isUsable: Bool { report.keptCount + report.approximatedCount > 0 }

    /// Converts a profile with all files that it includes.
    ///
    /// - Throws: ``ProfileError`` where a file is not YAML, which is never so for a loaded profile.
    package init(_ profile: RuleProfile) throws(ProfileError) { try self.init(profile.sources, off: profile.off) }

    /// Converts the files of a profile, included ones first, where some tools are switched off.
    ///
    /// - Throws: ``ProfileError`` where a file is not YAML.
    package init(_ sources: [ProfileSource], off: Set<StageID> = []) throws(ProfileError) {
        var converting = CharlesConverting(off: off)
        for source in sources { converting.add(try ProfileDocument(source)) }
        converting.run()
        settings = converting.settings
        report = converting.report
    }
}

/// Makes Charles' settings, tool by tool.
struct CharlesConverting {
    let off: Set<StageID>
    private var rules: [Tool: [WrittenRule]] = [:]
    /// The user's throttle presets by name in lower case.
    private(set) var presets: [String: WrittenRule] = [:]
    var settings = CharlesSettings()
    var report = FidelityReport(word: "exported")
    /// The keys of the top level beside tools, with the number of their members.
    private var others: [(key: String, count: Int)] = []

    init(off: Set<StageID>) { self.off = off }

    /// Adds the rules of one file of a profile that is known to be good.
    mutating func add(_ document: ProfileDocument) {
        let directory = document.directory
        for member in document.root?.mapping ?? [] {
            let key = member.key.string ?? ""
            if let tool = ToolRegistry.standard[key: key] {
                for node in member.value.members where node.scalar?.string != "false" {
                    let number = (rules[tool]?.count ?? 0) + 1
                    let rule = WrittenRule(tool: tool, number: number, directory: directory, node: node)
                    rules[tool, default: []].append(rule)
                }
            } else if key == "presets" {
                for preset in member.value.mapping ?? [] {
                    let rule = WrittenRule(tool: .throttle, number: 0, directory: directory, node: preset.value)
                    presets[preset.key.string?.lowercased() ?? ""] = rule
                }
            } else if !["version", "name", "include", "off"].contains(key) {
                others.append((key, member.value.members.count))
            }
        }
    }

    mutating func run() {
        for tool in ToolRegistry.standard.inOrder {
            guard let rules = rules[tool], !rules.isEmpty else { continue }
            let isOn = !off.contains(tool.id)
            switch tool {
            case .allowList: settings.allowList = list(rules, isOn: isOn)
            case .blockList: settings.blockList = list(rules, isOn: isOn)
            case .noCaching: settings.noCaching = everywhereTool(rules, isOn: isOn)
            case .blockCookies: settings.blockCookies = everywhereTool(rules, isOn: isOn)
            case .rewrite: settings.rewrite = CharlesTool(isEnabled: isOn, rules.compactMap { rewriteSet($0) })
            case .mapRemote: settings.mapRemote = CharlesTool(isEnabled: isOn, rules.flatMap { remoteMappings($0) })
            case .mapLocal: settings.mapLocal = CharlesTool(isEnabled: isOn, rules.flatMap { localMappings($0) })
            case .mirror: settings.mirror = everywhereTool(rules, isOn: isOn)
            case .breakpoints: settings.breakpoints = CharlesTool(isEnabled: isOn, rules.flatMap { breakpoints($0) })
            case .dnsSpoofing: settings.dnsSpoofing = CharlesTool(isEnabled: isOn, rules.flatMap { spoofs($0) })
            case .throttle: settings.throttle = throttle(rules, isOn: isOn)
            default: report.add(tool.key, .skipped(why: "Charles has nothing like it"))
            }
        }
        for (key, count) in others { addOther(key, count) }
    }

    private mutating func addOther(_ key: String, _ count: Int) {
        let why =
            switch key {
            case "intercept": "Charles has it under Proxy, SSL Proxying Settings, which an export of tools leaves alone"
            case "access": "Charles has it under Proxy, Access Control Settings, which an export of tools leaves alone"
            default: "Charles has nothing like it"
            }
        report.add(count > 1 ? "\(key) (\(count))" : key, .skipped(why: why))
    }

    // MARK: - Locations

    /// A note for each key of a rule's scope that Charles does not have.
    func scopeNotes(_ rule: WrittenRule, methods: Bool = false) -> [String] {
        var notes: [String] = []
        let exceptions = rule.locations("except").map(\.description)
        if !exceptions.isEmpty {
            notes.append("Charles has no exceptions: it is for \(exceptions.joined(separator: ", ")) too")
        }
        let list = rule.texts("method").joined(separator: ", ")
        if !methods, !list.isEmpty {
            notes.append("Charles does not ask for the method: it is for others than \(list) too")
        }
        return notes
    }

    func locations(_ rule: WrittenRule, _ key: String, _ notes: inout [String]) -> [CharlesLocation] {
        rule.locations(key).map { CharlesLocation($0, &notes) }
    }

    private func places(_ rule: WrittenRule, _ key: String, _ notes: inout [String]) -> [CharlesPlace] {
        locations(rule, key, &notes).map { CharlesPlace($0, isEnabled: rule.isEnabled) }
    }

    /// The allow list or the block list.
    private mutating func list(_ rules: [WrittenRule], isOn: Bool) -> CharlesLocationTool {
        let actions = rules.filter(\.isEnabled).map { $0.text("action") ?? "403" }
        let common = actions.first ?? rules.first?.text("action") ?? "403"
        var tool = CharlesLocationTool(isEnabled: isOn, usesLocations: true, action: common == "drop" ? 0 : 1)
        for rule in rules {
            if rule["share"] != nil {
                report.add(rule.words, .skipped(why: "Charles blocks all requests or none, not a share"))
                continue
            }
            var notes = scopeNotes(rule)
            let action = rule.text("action") ?? "403"
            if (action == "drop") != (common == "drop") {
                notes.append("Charles has one action for the whole list: here \(common == "drop" ? "drop" : "403")")
            } else if action != "drop", action != "403" {
                notes.append("Charles answers 403, not \(action)")
            }
            tool.locations += places(rule, "at", &notes)
            report.add(rule.words, notes: notes)
        }
        return tool
    }

    /// No Caching, Block Cookies or Mirror: for everything, if one rule is.
    private mutating func everywhereTool(_ rules: [WrittenRule], isOn: Bool) -> CharlesLocationTool {
        let isEverywhere = rules.contains { $0.isEnabled && $0["only"] == nil }
        var tool = CharlesLocationTool(isEnabled: isOn, usesLocations: !isEverywhere)
        for rule in rules {
            var notes = scopeNotes(rule)
            if rule["only"] == nil, !rule.isEnabled {
                if rules.count == 1 {
                    tool = CharlesLocationTool(isEnabled: false, usesLocations: false)
                } else {
                    notes.append("a rule for everything that is not enabled is left out")
                }
            }
            if rule.tool == .mirror {
                let directory = rule.text("to").map { ProfileText.absolute($0, in: rule.directory) } ?? ""
                notes.append("choose the directory in Charles: it was \(directory)")
            }
            tool.locations += places(rule, "only", &notes)
            report.add(rule.words, notes: notes)
        }
        return tool
    }
}

import ExchangeCore
import HTTPModel
import NIOCore

struct ProfileCompiler {
    private let registry: ToolRegistry
    private(set) var settings = RuleProfile.Settings()
    private(set) var issues: [ProfileIssue] = []
    private(set) var definitions: ProfileReader.Definitions = [:]
    private var variables: VariableReader
    private var rules: [StageID: [any ToolRule]] = [:]
    /// Tools whose keys a file has, even without rules.
    private var mentioned: Set<StageID> = []
    private var switchedOffAt: [StageID: ProfilePlace] = [:]
    /// The places of rules by their content, for tools whose matching rules all act.
    private var seen: [StageID: [String: ProfilePlace]] = [:]

    init(_ registry: ToolRegistry, _ inputs: VariableInputs = .ofProcess) {
        self.registry = registry
        variables = VariableReader(inputs)
    }

    /// The tools whose keys the files have, in the fixed order, with their rules.
    var tools: [(tool: Tool, rules: [any ToolRule])] {
        registry.inOrder.filter { mentioned.contains($0.id) }.map { ($0, rules[$0.id] ?? []) }
    }

    mutating func add(_ sources: [ProfileSource]) throws(ProfileError) {
        var trees: [(ProfileReader, ProfileFields)] = []
        for source in sources {
            var reader = ProfileReader(file: source.file, tools: registry)
            if let tree = try source.root {
                if let fields = topLevel(tree, &reader) {
                    trees.append((reader, fields))
                    continue
                }
            } else {
                reader.note(.error, "the profile is empty; it needs at least 'version: 1'", line: 1, column: 1)
            }
            finish(reader)
        }
        for index in trees.indices { readDefinitions(trees[index].1, &trees[index].0) }
        definitions[Variable.key] = variables.variables
        settings.variableSources = variables.sources
        settings.mask.secrets = variables.secrets
        var numbers = NeedNumbers()
        for (reader, fields) in trees {
            var reader = reader
            (reader.definitions, reader.numbers) = (definitions, numbers)
            read(fields, &reader)
            numbers = reader.numbers
            finish(reader)
        }
        checkNames()
    }

    /// Finds names of rules and tools that do not exist.
    private mutating func checkNames() {
        for expectation in settings.expectations {
            for case .fires(let names) in expectation.checks {
                for name in names {
                    let known = rules[name.tool, default: []].map(\.heading.name)
                    guard let rule = name.rule, !known.contains(rule) else { continue }
                    note(.error, "'\(name.tool.name)' has no rule '\(rule)'", at: expectation.place)
                }
            }
        }
        for (tool, place) in switchedOffAt where !mentioned.contains(tool) {
            note(.lint, "'\(tool.name)' is switched off, but the profile has no rules for it", at: place)
        }
    }

    private mutating func note(_ severity: ProfileIssue.Severity, _ message: String, at place: ProfilePlace) {
        issues.append(ProfileIssue(severity, message, at: place))
    }

    private mutating func finish(_ reader: ProfileReader) {
        issues += reader.sortedIssues
    }

    private func topLevel(_ tree: Node, _ reader: inout ProfileReader) -> ProfileFields? {
        guard tree.mapping != nil else {
            reader.error("a profile is a mapping that begins with 'version: 1', not \(tree.kind)", at: tree)
            return nil
        }
        return reader.fields(tree, "a profile", keys: ProfileGrammar.allKeys(registry))
    }

    private mutating func read(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        checkVersion(fields, &reader)
        if let text = reader.text(fields, "name") {
            settings.name += (settings.name.isEmpty || text.isEmpty ? "" : ", ") + text
        }
        for entry in fields["include"]?.members ?? [] { _ = reader.path(entry, "include") }
        for entry in fields["off"]?.members ?? [] {
            let choices = registry.inOrder.map { ($0.key, $0.id) }
            guard let tool = reader.choice(entry, "off", choices) else { continue }
            settings.off.insert(tool)
            switchedOffAt[tool] = reader.place(entry)
        }
        for entry in fields["access"]?.members ?? [] {
            guard let text = reader.text(entry, "access") else { continue }
            settings.access.append(text)
            if !ProfileCompiler.isNetwork(text) {
                reader.error("'\(text.prefix(60))' is not an address or a network such as 192.168.0.0/16", at: entry)
            }
        }
        settings.expectations += (fields["expect"]?.members ?? []).compactMap { Expectation($0, &reader) }
        settings.assertions += (fields["assert"]?.members ?? []).compactMap { Assertion($0, &reader) }
        settings.protobuf += (fields["protobuf"]?.members ?? []).compactMap { reader.path($0, "protobuf") }
        if let node = fields["intercept"] { settings.intercept.add(node, &reader) }
        if let node = fields["record"] { settings.record.add(node, &reader) }
        if let node = fields["upstream"] { settings.upstream.add(node, &reader) }
        if let node = fields["client-certificate"] { settings.clientCertificates.add(node, &reader) }
        if let node = fields["mask"] { settings.mask.add(node, &reader) }
        if let node = fields["replay"] { settings.replay.add(node, &reader) }
        for tool in registry.tools {
            guard let node = fields[tool.key] else { continue }
            mentioned.insert(tool.id)
            rules[tool.id, default: []] += tool.read(node, after: rules[tool.id]?.count ?? 0, &reader)
            if tool.selection == .all { lintRepeated(node, tool.id, &reader) }
        }
    }

    /// Warns about a repeated rule, which acts twice if all matching rules act.
    private mutating func lintRepeated(_ node: Node, _ tool: StageID, _ reader: inout ProfileReader) {
        for entry in node.members where entry.mapping != nil {
            let text = entry.text(without: "name")
            if let place = seen[tool]?[text] {
                reader.lint("the same rule is at \(place); both act", at: entry)
            } else {
                seen[tool, default: [:]][text] = reader.place(entry)
            }
        }
    }

    /// Whether a text is an IP address, or an address with a prefix length (RFC 4632 §3.1, RFC 4291 §2.3).
    private static func isNetwork(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0) else { return false }
        guard parts.count > 1 else { return true }
        let isV6 = if case .v6 = address { true } else { false }
        guard parts.count == 2, parts[1].utf8.allSatisfy({ $0 &- 0x30 < 10 }), let length = Int(parts[1]) else {
            return false
        }
        return length <= (isV6 ? 128 : 32)
    }

    /// Reads the user's definitions for tools; the rules of every file may refer to them.
    private mutating func readDefinitions(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        if let node = fields[Variable.key] { variables.add(node, &reader) }
        for kind in registry.tools.compactMap(\.definitions) {
            guard let node = fields[kind.key.name] else { continue }
            if node.mapping == nil {
                let message = "\(kind.key.name) must be a mapping of names to \(kind.values), not \(node.kind)"
                reader.error(message, at: node)
            }
            for member in node.mapping ?? [] {
                guard let name = reader.text(member.key, "the name of a \(kind.noun)")?.lowercased(),
                    let fields = reader.fields(member.value, "a \(kind.noun)", keys: kind.keys)
                else { continue }
                if name.isEmpty {
                    reader.error("a \(kind.noun) needs a name", at: member.key)
                } else if definitions[kind.key.name]?[name] != nil || kind.isTaken(name) {
                    let message = "there is a \(kind.noun) '\(name.prefix(40))' already; choose another name"
                    reader.error(message, at: member.key)
                } else {
                    definitions[kind.key.name, default: [:]][name] = kind.read(fields, &reader)
                }
            }
        }
    }

    private func checkVersion(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        guard let node = reader.required(fields, "version", "a profile"), let text = reader.text(node, "version"),
            text != "1"
        else { return }
        let hint = Int(text).map { $0 > 1 } == true ? "a newer Sluice may" : "it is 1"
        reader.error("this Sluice does not know version '\(text.prefix(20))' of the profile; \(hint)", at: node)
    }
}

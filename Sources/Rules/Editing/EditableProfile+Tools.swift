extension EditableProfile {
    /// The names that the user has defined for a tool's rules, such as presets, sorted.
    package func definedNames(for tool: Tool) -> [String] {
        tool.definitions.flatMap { definitions[$0.key.name] }?.keys.sorted() ?? []
    }

    /// The preset of the tool's enabled rule for all traffic; `nil` if no such rule is enabled.
    package func preset(of tool: Tool) -> String? {
        let entries = try? ProfileOutline(text, file: name)[.tool(tool)]?.entries
        return entries?.first { $0.isEnabled && $0.isGlobal }?.node["preset"]?.scalar?.string
    }

    /// Sets a preset for all traffic: edits the rule for all traffic, or adds one. Rules for some hosts stay before
    /// this rule, so that they still decide about these hosts. `nil` disables every rule for all traffic. The rules of
    /// `tool` must have a key `preset`.
    package mutating func setPreset(_ preset: String?, of tool: Tool) throws(ProfileError) {
        let section = ProfileSection.tool(tool)
        var edited = self
        let entries = try ProfileOutline(text, file: name)[section]?.entries ?? []
        let global = entries.indices.filter { entries[$0].isGlobal }
        let chosen = preset.flatMap { _ in global.first { entries[$0].isPreset } }
        if let preset, let chosen {
            let id = EditableRule.ID(section, chosen)
            if entries[chosen].node["preset"]?.scalar?.string != preset {
                try edited.set("preset", of: id, to: .text(preset))
            }
            try edited.setEnabled(id, true)
        } else if let preset {
            let rule = RuleText("preset: \(tool.presets?.named(preset)?.name ?? Node.text(preset).flow)")
            try edited.insert(rule, into: section, at: global.first { entries[$0].isEnabled })
        }
        // A rule before the chosen one would decide in its place; without a preset no such rule may decide.
        for index in global where entries[index].isEnabled && (preset == nil || chosen.map { index < $0 } == true) {
            try edited.setEnabled(EditableRule.ID(section, index), false)
        }
        self = edited
    }

    /// Lets a host, with a port or not, pass through undecrypted.
    package mutating func exclude(_ location: String) throws(ProfileError) {
        let written = Node.text(location).flow
        guard let rule = try rules(of: .intercept).first else {
            try insert(RuleText("except: [\(written)]"), into: .intercept)
            return
        }
        let node = try RuleLines(rule.text).node
        let text: String
        if let excepted = node["except"] {
            if excepted.members.contains(where: { $0.scalar?.string == location }) { return }
            // The list under 'except' is edited like the rules of a tool: as a section of a text of its own.
            text = try ProfileEditor(rule.yaml, name).adding(written, toListAt: "except")
        } else if rule.yaml.hasPrefix("{") {
            let comma = node.mapping?.isEmpty == false ? "," : ""
            text = "{ except: [\(written)]\(comma)\(rule.yaml.dropFirst())"
        } else {
            text = "except: [\(written)]\n\(rule.yaml)"
        }
        try replace(rule.id, with: RuleText(text))
    }

    /// Decrypts a host again after ``exclude(_:)``. Returns whether the text named the host.
    @discardableResult
    package mutating func include(_ location: String) throws(ProfileError) -> Bool {
        guard let rule = try rules(of: .intercept).first,
            let text = try ProfileEditor(rule.yaml, name).removing(location, fromListAt: "except")
        else { return false }
        let isEmpty = try ProfileOutline(text, file: name).pairs.isEmpty
        if isEmpty { try remove(rule.id) } else { try replace(rule.id, with: RuleText(text)) }
        return true
    }

    /// The tools that the text lists under `off`.
    package var off: [String] {
        let pair = try? ProfileOutline(text, file: name).pairs.first { $0.name == "off" }
        return pair?.node.members.compactMap { $0.scalar?.string } ?? []
    }

    /// Lists tools under `off`; an empty list removes the key.
    package mutating func setOff(_ tools: [String]) throws(ProfileError) {
        let editor = try ProfileEditor(text, name)
        let value = "[\(tools.joined(separator: ", "))]"
        let pair = editor.outline.pairs.first { $0.name == "off" }
        let edited: String
        switch pair {
        case let pair? where tools.isEmpty: edited = editor.removing(pair)
        case let pair?: edited = editor.text(replacing: pair.colon..<pair.value.upperBound, with: " " + value)
        case nil where tools.isEmpty: return
        case nil:
            guard !editor.outline.isBraced, let version = editor.outline.pairs.first(where: { $0.name == "version" })
            else { throw ProfileError("'off' cannot be added to a profile written this way", file: name) }
            let line = editor.blanks(editor.outline.column) + "off: " + value
            edited = editor.text(inserting: [line], at: editor.source.nextLine(version.value.upperBound))
        }
        var (before, after) = (editor.outline.meaning(self.tools), [String: [String]]())
        let new = with(text: edited)
        after = try ProfileOutline(edited, file: name).meaning(self.tools)
        (before["off"], after["off"]) = (nil, nil)
        guard before == after, new.off == tools else {
            throw ProfileError("'off' cannot be edited in a profile written this way", file: name, at: pair?.node)
        }
        self = new
    }
}

extension ProfileEditor {
    /// The text with a word removed from a list; `nil` if the list does not have the word.
    fileprivate func removing(_ word: String, fromListAt key: String) throws(ProfileError) -> String? {
        guard let pair = outline.pairs.first(where: { $0.name == key }) else { return nil }
        let isAlone = pair.node.members.count == 1 || pair.entries.isEmpty
        if isAlone { return pair.node.members.first?.scalar?.string == word ? removing(pair) : nil }
        guard let index = pair.entries.firstIndex(where: { $0.node.scalar?.string == word }) else { return nil }
        guard pair.form != .flow else {
            return text(replacing: rangeToRemove(index, of: pair.entries.map(\.range)), with: "")
        }
        let lines = outline.lines(pair.entries[index], in: pair)
        return text(removing: lines, isAtTop: lines.lowerBound == source.nextLine(pair.colon))
    }

    /// The text with a word added to a list; a single word becomes a list.
    fileprivate func adding(_ word: String, toListAt key: String) throws(ProfileError) -> String {
        guard let pair = outline.pairs.first(where: { $0.name == key }) else { return "" }
        switch (pair.form, pair.entries.last) {
        case (.block, let last?):
            let column = source.column(of: last.hyphen ?? last.range.lowerBound)
            return text(inserting: [blanks(column) + "- " + word], at: source.nextLine(last.range.upperBound))
        case (.block, nil): throw ProfileError("'\(key)' cannot be edited here", file: file, at: pair.node)
        case (.flow, let last?):
            return text(replacing: last.range.upperBound..<last.range.upperBound, with: ", \(word)")
        case (.flow, nil): return text(replacing: pair.value, with: "[\(word)]")
        case (.single, _), (.flag, _), (.nothing, _):
            let old = source.text(pair.value)
            let gap = source[pair.colon] == 0x20 ? "" : " "
            return text(replacing: pair.value, with: old.isEmpty ? "\(gap)[\(word)]" : "[\(old), \(word)]")
        }
    }
}

extension ProfileOutline.Entry {
    /// Whether the rule is for every request.
    fileprivate var isGlobal: Bool {
        node.mapping != nil && ["only", "except", "method"].allSatisfy { node[$0] == nil }
    }

    /// Whether the rule is a preset and nothing else.
    fileprivate var isPreset: Bool {
        guard let mapping = node.mapping, node["preset"] != nil else { return false }
        return mapping.allSatisfy { ["preset", "name", "enabled", "seed"].contains($0.key.scalar?.string ?? "") }
    }
}

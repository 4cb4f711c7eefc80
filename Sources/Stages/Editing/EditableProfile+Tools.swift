import ExchangeCore

/// Edits that know what a section is for.
extension EditableProfile {
    /// The preset of the rule that slows all traffic down; `nil` where there is none in force.
    package var throttlePreset: String? {
        guard let rules = try? rules(of: .tool(.throttle)), let outline = try? ProfileOutline(text, file: name) else {
            return nil
        }
        let entries = outline[.tool(.throttle)]?.entries ?? []
        return zip(rules, entries).first { $0.isEnabled && $1.isGlobal }?.1.node.mapping?["preset"]?.scalar?.string
    }

    /// Slows all traffic down as a preset has it: edits the rule that does so already, or makes one.
    ///
    /// Rules for some hosts stay before it, so that they go on deciding about those. `nil` switches off every rule that
    /// is for all traffic; it is kept.
    ///
    /// - Parameter preset: the preset's name.
    /// - Throws: ``ProfileError`` where there is no such preset, or the text cannot be edited.
    package mutating func setThrottle(preset: String?) throws(ProfileError) {
        let section = ProfileSection.tool(.throttle)
        var edited = self
        let entries = try ProfileOutline(text, file: name)[section]?.entries ?? []
        let global = entries.indices.filter { entries[$0].isGlobal }
        guard let preset else {
            for index in global where entries[index].isEnabled {
                try edited.setEnabled(EditableRule.ID(section, index), false)
            }
            self = edited
            return
        }
        let rule = RuleText("preset: \(ThrottlePreset.named(preset)?.name ?? Node.text(preset).flow)")
        if let index = global.first(where: { entries[$0].isPreset }) {
            let id = EditableRule.ID(section, index)
            if entries[index].node.mapping?["preset"]?.scalar?.string != preset {
                try edited.set("preset", of: id, to: preset)
            }
            if !entries[index].isEnabled { try edited.setEnabled(id, true) }
            // One before it would decide in its place.
            for other in global where other < index && entries[other].isEnabled {
                try edited.setEnabled(EditableRule.ID(section, other), false)
            }
        } else {
            let before = global.first { entries[$0].isEnabled }
            try edited.insert(rule, into: section, at: before)
        }
        self = edited
    }

    /// Has a host passed through unread.
    ///
    /// - Parameter location: the host, with a port if only that is meant.
    /// - Throws: ``ProfileError`` where it is no host, or the text cannot be edited.
    package mutating func exclude(_ location: String) throws(ProfileError) {
        guard let rule = try rules(of: .intercept).first else {
            try insert(RuleText("except: \(Node.list([.text(location)]).flow)"), into: .intercept)
            return
        }
        let written = Node.text(location).flow
        let lines = try RuleLines(rule.text)
        let fields = lines.node.mapping?["except"].map { ProfileReader(file: name).list($0) }
        guard let fields else {
            let isBraced = rule.yaml.hasPrefix("{")
            let count = lines.node.mapping?.count ?? 0
            let yaml =
                !isBraced
                ? "except: [\(written)]\n" + rule.yaml
                : "{ except: [\(written)]" + (count > 0 ? "," : "") + rule.yaml.dropFirst()
            try replace(rule.id, with: RuleText(yaml))
            return
        }
        guard !fields.contains(where: { $0.scalar?.string == location }) else { return }
        // The list under 'except' is edited as the rules of a tool are: as a section of a text of its own.
        try replace(rule.id, with: RuleText(try ProfileEditor(rule.yaml, name).adding(written, toListAt: "except")))
    }
}

extension ProfileEditor {
    /// The text with a word more in a list of words, or beside the only one.
    func adding(_ word: String, toListAt key: String) throws(ProfileError) -> String {
        guard let pair = outline.pairs.first(where: { $0.name == key }) else { return "" }
        switch pair.form {
        case .block:
            guard let last = pair.entries.last, let hyphen = last.hyphen else { break }
            let place = source.nextLine(last.range.upperBound)
            return text(
                replacing: place..<place,
                with: linesText([blanks(source.column(of: hyphen)) + "- " + word], at: place)
            )
        case .flow:
            guard let last = pair.entries.last else { return text(replacing: pair.value, with: "[\(word)]") }
            return text(replacing: last.range.upperBound..<last.range.upperBound, with: ", \(word)")
        case .single, .flag, .nothing:
            let old = source.text(pair.value)
            let gap = source[pair.colon] == 0x20 ? "" : " "
            return text(replacing: pair.value, with: old.isEmpty ? "\(gap)[\(word)]" : "[\(old), \(word)]")
        }
        throw ProfileOutline.failure("'\(key)' cannot be edited here", file, pair.node)
    }
}

extension ProfileOutline.Entry {
    /// Whether the rule is for every request.
    fileprivate var isGlobal: Bool {
        guard let mapping = node.mapping else { return false }
        return ["only", "except", "method"].allSatisfy { mapping[$0] == nil }
    }

    /// Whether the rule is a preset and nothing else.
    fileprivate var isPreset: Bool {
        guard let mapping = node.mapping, mapping["preset"] != nil else { return false }
        return mapping.allSatisfy { ["preset", "name", "enabled", "seed"].contains($0.key.scalar?.string ?? "") }
    }
}

/// Works out the text that an edit makes.
struct ProfileEditor {
    let outline: ProfileOutline
    let file: String

    var source: SourceText { outline.source }
    var newline: String { source.newline }

    /// What a line of a section is indented by.
    static let step = 2
    /// Longer lines are not made.
    private static let width = 118

    init(_ text: String, _ file: String) throws(ProfileError) {
        outline = try ProfileOutline(text, file: file)
        self.file = file
    }

    func rules(of section: ProfileSection) -> [ProfileOutline.Entry] { outline[section]?.entries ?? [] }

    func find(_ id: EditableRule.ID) throws(ProfileError) -> (ProfileOutline.Pair, ProfileOutline.Entry) {
        guard let pair = outline[id.section], pair.entries.indices.contains(id.index) else {
            throw ProfileOutline.failure("'\(id.section)' has no rule \(id.index + 1)", file, outline[id.section]?.node)
        }
        return (pair, pair.entries[id.index])
    }

    // MARK: - Text

    /// The text with other bytes in the place of some.
    func text(replacing range: Range<Int>, with text: String) -> String {
        self.text([(range, text)])
    }

    /// The text with other bytes in the place of some; the ranges do not overlap.
    func text(_ changes: [(range: Range<Int>, text: String)]) -> String {
        var bytes: [UInt8] = []
        var position = 0
        for change in changes.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            bytes += source.bytes[position..<change.range.lowerBound]
            bytes += change.text.utf8
            position = change.range.upperBound
        }
        return String(decoding: bytes + source.bytes[position...], as: UTF8.self)
    }

    /// Whole lines that are to begin at a place; at the end of a text whose last line has no break, one is added.
    func linesText(_ lines: [String], at position: Int) -> String {
        let isOpen = position == source.bytes.count && position > source.lineStart(position)
        return (isOpen ? newline : "") + lines.map { $0 + newline }.joined()
    }

    func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

    // MARK: - Changing one rule

    /// Puts a rule's text in the place of another's.
    func replace(_ id: EditableRule.ID, _ rule: RuleLines) throws(ProfileError) -> ProfileEdit {
        let (pair, entry) = try find(id)
        var model = ProfileModel(outline)
        model.rules[pair.name]?[id.index] = rule.node.text()
        let range = outline.wholeRange(entry, in: pair)
        if outline.isBraced || isFlow(pair) {
            let gap = isFlow(pair) && hasGapComments(pair)
            if !gap, let inline = rule.inline ?? (outline.isBraced ? rule.braced : nil), fits(inline, in: range) {
                return ProfileEdit(text: text(replacing: range, with: inline), model: model, node: entry.node)
            }
            return ProfileEdit(
                text: try opened(pair, id).replace(id, rule).text,
                model: model,
                node: entry.node
            )
        }
        let isOnKeyLine = entry.hyphen == nil && !source.isFirstInLine(entry.range.lowerBound)
        if isOnKeyLine, !rule.fitsKeyLine || source.line(of: range.lowerBound) != keyLine(pair) {
            // A block begins on a line of its own.
            let indent = blanks(source.column(of: pair.key.lowerBound) + ProfileEditor.step)
            let lines = (rule.above + rule.lines).map { newline + ($0.isEmpty ? "" : indent + $0) }
            let comments = source.comments(pair.colon..<range.lowerBound).map { " " + $0.text }
            let text = text(replacing: pair.colon..<range.upperBound, with: (comments + lines).joined())
            return ProfileEdit(text: text, model: model, node: entry.node)
        }
        let column = source.column(of: range.lowerBound)
        let line = source.lineStart(entry.hyphen ?? range.lowerBound)
        let above = rule.above.map { blanks(source.column(of: entry.hyphen ?? range.lowerBound)) + $0 + newline }
        return ProfileEdit(
            text: text([(line..<line, above.joined()), (range, rule.joined(indent: column, newline: newline))]),
            model: model,
            node: entry.node
        )
    }

    private func keyLine(_ pair: ProfileOutline.Pair) -> Int { source.line(of: pair.key.lowerBound) }

    /// Switches a rule on or off.
    func setEnabled(_ id: EditableRule.ID, _ isEnabled: Bool) throws(ProfileError) -> ProfileEdit {
        let (pair, entry) = try find(id)
        let word = isEnabled ? "true" : "false"
        guard entry.node.mapping == nil else {
            if isEnabled, entry.node.mapping?["enabled"] == nil {
                return ProfileEdit(text: source.text(0..<source.bytes.count), model: ProfileModel(outline))
            }
            return try set("enabled", of: id, to: word, word)
        }
        var model = ProfileModel(outline)
        model.rules[pair.name]?[id.index] = Node.text(word).text()
        return ProfileEdit(text: text(replacing: entry.range, with: word), model: model, node: entry.node)
    }

    /// Gives a rule another value for a key.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - id: the rule.
    ///   - written: the value as it stands in YAML, on one line.
    ///   - value: what that says.
    /// - Returns: the edit.
    /// - Throws: ``ProfileError`` where the rule has no keys, or the text is not understood.
    func set(
        _ key: String,
        of id: EditableRule.ID,
        to written: String,
        _ value: String
    ) throws(ProfileError) -> ProfileEdit {
        let (pair, entry) = try find(id)
        guard var mapping = entry.node.mapping else {
            throw ProfileOutline.failure("'\(pair.name)' has no keys here", file, entry.node)
        }
        let old = mapping[key]
        mapping[key] = .text(value)
        var model = ProfileModel(outline)
        model.rules[pair.name]?[id.index] = Node.mapping(mapping).text()
        let change = old.map { replacing($0, by: written) } ?? adding("\(key): \(written)", to: entry)
        guard let change else {
            throw ProfileOutline.failure("'\(key)' cannot be edited here", file, old ?? entry.node)
        }
        return ProfileEdit(text: text([change]), model: model, node: entry.node)
    }

    private func replacing(_ node: Node, by written: String) -> (range: Range<Int>, text: String)? {
        let start = source.start(of: node)
        guard node.scalar != nil, let end = source.end(of: node, indent: -1) else { return nil }
        // Nothing at all stands directly behind the colon.
        let isGlued = start == end && source[start - 1] == UInt8(ascii: ":")
        return (start..<end, (isGlued ? " " : "") + written)
    }

    /// Adds a key to a mapping, behind its name or else its first key.
    private func adding(_ field: String, to entry: ProfileOutline.Entry) -> (range: Range<Int>, text: String)? {
        guard let mapping = entry.node.mapping else { return nil }
        let start = entry.range.lowerBound
        let isBraced = source[start] == UInt8(ascii: "{")
        guard let first = mapping.first else { return (entry.range, "{ \(field) }") }
        let column = source.column(of: source.start(of: first.key))
        if isBraced {
            guard let last = mapping.last, let end = end(of: last.value, column) else { return nil }
            return (end..<end, ", \(field)")
        }
        // A pair alone between the commas of a list has no braces yet.
        if entry.hyphen == nil, source.lineStart(start) != start, !source.isFirstInLine(start) {
            return (entry.range, "{ \(source.text(entry.range)), \(field) }")
        }
        let behind = mapping.first { $0.key.scalar?.string == "name" } ?? first
        guard let end = end(of: behind.value, column) else { return nil }
        let next = source.nextLine(max(end, source.start(of: behind.key)))
        return (next..<next, linesText([blanks(column) + field], at: next))
    }

    private func end(of node: Node, _ column: Int) -> Int? {
        source.end(of: node, indent: column).map { max($0, source.start(of: node)) }
    }

    // MARK: - Between brackets

    func isFlow(_ pair: ProfileOutline.Pair) -> Bool {
        if case .flow = pair.form { true } else { false }
    }

    /// Whether there are comments between the rules of a list in brackets.
    func hasGapComments(_ pair: ProfileOutline.Pair) -> Bool {
        gaps(pair).contains { !source.comments($0).isEmpty }
    }

    /// What is between the brackets and the rules: before the first, between each two, behind the last.
    func gaps(_ pair: ProfileOutline.Pair) -> [Range<Int>] {
        var gaps: [Range<Int>] = []
        var position = pair.value.lowerBound + 1
        for entry in pair.entries {
            gaps.append(position..<entry.range.lowerBound)
            position = entry.range.upperBound
        }
        return gaps + [position..<(pair.value.upperBound - 1)]
    }

    /// Whether a line stays short enough with a text in the place of a range.
    func fits(_ text: String, in range: Range<Int>) -> Bool {
        let line = source.lineEnd(range.upperBound) - source.lineStart(range.lowerBound)
        return outline.isBraced || line - range.count + text.utf8.count <= ProfileEditor.width
    }

    /// The same with the rules of a section on lines of their own, each behind a hyphen.
    ///
    /// - Throws: ``ProfileError`` where the whole profile stands in braces, or the text is not understood.
    func opened(_ pair: ProfileOutline.Pair, _ id: EditableRule.ID) throws(ProfileError) -> ProfileEditor {
        guard !outline.isBraced else {
            throw ProfileOutline.failure(
                "the profile stands in braces, where a rule with comments cannot be put; write it without them first",
                file,
                pair.node
            )
        }
        let opened = try ProfileEditor(openedText(pair), file)
        guard let other = opened.outline[id.section], case .block = other.form,
            other.entries.count == pair.entries.count
        else {
            throw ProfileOutline.failure("this list cannot be edited as it is written", file, pair.node)
        }
        return opened
    }
}

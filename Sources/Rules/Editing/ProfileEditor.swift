/// Makes the text of an edited profile, which ``EditableProfile`` checks.
struct ProfileEditor {
    let outline: ProfileOutline
    let file: String

    var source: SourceText { outline.source }
    var newline: String { source.newline }

    /// The indentation of a section's lines.
    static let step = 2
    /// The maximum length of a new line, in bytes.
    private static let width = 118

    init(_ text: String, _ file: String) throws(ProfileError) {
        outline = try ProfileOutline(text, file: file)
        self.file = file
    }

    func find(_ id: EditableRule.ID) throws(ProfileError) -> (ProfileOutline.Pair, ProfileOutline.Entry) {
        guard let pair = outline[id.section], pair.entries.indices.contains(id.index) else {
            throw ProfileError("'\(id.section)' has no rule \(id.index + 1)", file: file, at: outline[id.section]?.node)
        }
        return (pair, pair.entries[id.index])
    }

    func text(replacing range: Range<Int>, with text: String) -> String { self.text([(range, text)]) }

    /// The text with replaced ranges, which must not overlap.
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

    /// The text with whole lines inserted; if the last line has no line break, it gets one first.
    func text(inserting lines: [String], at position: Int) -> String {
        let isOpen = position == source.bytes.count && position > source.lineStart(position)
        let added = (isOpen ? newline : "") + lines.map { $0 + newline }.joined()
        return text(replacing: position..<position, with: added)
    }

    /// The text without some lines. Empty lines beside them are removed if they would be doubled, or first or last.
    func text(removing lines: Range<Int>, isAtTop: Bool = false) -> String {
        var (start, end) = (lines.lowerBound, lines.upperBound)
        func isBlankAbove() -> Bool { start > 0 && source.kind(ofLineAt: source.lineStart(start - 1)) == .blank }
        if end == source.bytes.count {
            while isBlankAbove() { start = source.lineStart(start - 1) }
        } else if isAtTop || isBlankAbove() {
            while end < source.bytes.count, source.kind(ofLineAt: end) == .blank { end = source.nextLine(end) }
        }
        return text(replacing: start..<end, with: "")
    }

    func blanks(_ count: Int) -> String { String(repeating: " ", count: count) }

    func indented(_ lines: [String], by count: Int) -> [String] { lines.map { $0.isEmpty ? "" : blanks(count) + $0 } }

    func member(_ rule: RuleLines, indent: Int) -> [String] {
        indented(rule.above, by: indent) + member(rule.lines, indent: indent)
    }

    func member(_ lines: [String], indent: Int) -> [String] {
        ["\(blanks(indent))- \(lines.first ?? "")"] + indented(Array(lines.dropFirst()), by: indent + 2)
    }

    func replace(_ id: EditableRule.ID, _ rule: RuleLines) throws(ProfileError) -> String {
        let (pair, entry) = try find(id)
        let range = outline.wholeRange(entry, in: pair)
        if outline.isBraced || pair.form == .flow {
            if pair.form != .flow || !hasGapComments(pair),
                let inline = rule.inline ?? (outline.isBraced ? rule.braced : nil), fits(inline, in: range)
            {
                return text(replacing: range, with: inline)
            }
            return try opened(pair, id.section).replace(id, rule)
        }
        let isOnKeyLine = entry.hyphen == nil && !source.isFirstInLine(entry.range.lowerBound)
        let keyLine = source.line(of: pair.key.lowerBound)
        if isOnKeyLine, !rule.fitsKeyLine || source.line(of: range.lowerBound) != keyLine {
            // A block begins on a line of its own.
            let comments = source.comments(pair.colon..<range.lowerBound).map { " " + $0.text }
            let lines = indented(rule.above + rule.lines, by: source.column(of: pair.key.lowerBound) + Self.step)
            let block = (comments + lines.map { newline + $0 }).joined()
            return text(replacing: pair.colon..<range.upperBound, with: block)
        }
        let hyphen = entry.hyphen ?? range.lowerBound
        let line = source.lineStart(hyphen)
        let above = indented(rule.above, by: source.column(of: hyphen)).map { $0 + newline }.joined()
        return text([(line..<line, above), (range, rule.joined(indent: source.column(of: range.lowerBound), newline))])
    }

    /// Changes the value of a rule's key; a rule that is just `true` or `false` has only `enabled`.
    func set(_ key: String, of id: EditableRule.ID, to value: Node) throws(ProfileError) -> String {
        let (pair, entry) = try find(id)
        guard entry.node.mapping != nil else {
            guard key == "enabled" else {
                let reason = "'\(key)' cannot be set: this '\(pair.name)' rule is not a mapping"
                throw ProfileError(reason, file: file, at: entry.node)
            }
            return text(replacing: entry.range, with: value.flow)
        }
        let old = entry.node[key]
        guard let change = old.map({ replacing($0, by: value.flow) }) ?? adding("\(key): \(value.flow)", to: entry)
        else { throw ProfileError("'\(key)' cannot be edited here", file: file, at: old ?? entry.node) }
        return change
    }

    private func replacing(_ node: Node, by written: String) -> String? {
        let start = source.start(of: node)
        guard node.scalar != nil, let end = source.end(of: node, indent: -1) else { return nil }
        // An empty value begins directly at the colon, so the new value needs a space.
        let isGlued = start == end && source[start - 1] == UInt8(ascii: ":")
        return text(replacing: start..<end, with: (isGlued ? " " : "") + written)
    }

    /// Adds a key to a mapping: in braces at the end, otherwise after the key `name` or the first key.
    private func adding(_ field: String, to entry: ProfileOutline.Entry) -> String? {
        guard let mapping = entry.node.mapping else { return nil }
        let start = entry.range.lowerBound
        guard let first = mapping.first, let last = mapping.last else {
            return text(replacing: entry.range, with: "{ \(field) }")
        }
        let column = source.column(of: source.start(of: first.key))
        if source[start] == UInt8(ascii: "{") {
            return end(of: last.value, column).map { text(replacing: $0..<$0, with: ", \(field)") }
        }
        // A single pair in a list may have no braces; it needs them for a second key.
        if entry.hyphen == nil, !source.isFirstInLine(start) {
            return text(replacing: entry.range, with: "{ \(source.text(entry.range)), \(field) }")
        }
        let behind = mapping.first { $0.key.scalar?.string == "name" } ?? first
        guard let end = end(of: behind.value, column) else { return nil }
        let place = source.nextLine(max(end, source.start(of: behind.key)))
        return text(inserting: [blanks(column) + field], at: place)
    }

    private func end(of node: Node, _ column: Int) -> Int? {
        source.end(of: node, indent: column).map { max($0, source.start(of: node)) }
    }

    /// Whether a line stays short enough if a text replaces a range.
    func fits(_ text: String, in range: Range<Int>) -> Bool {
        let line = source.lineEnd(range.upperBound) - source.lineStart(range.lowerBound)
        return outline.isBraced || line - range.count + text.utf8.count <= ProfileEditor.width
    }

    /// The text with a new section and its first rule.
    func begin(_ section: ProfileSection, _ rule: RuleLines) throws(ProfileError) -> String {
        if outline.isBraced { return try beginInBraces(section, rule) }
        let isSingle = isSingle(section, rule)
        let (place, isBeforeOthers) = placeOfNewSection
        var lines = outline.pairs.contains { $0.name == "version" } ? [] : ["version: 1"]
        if place > 0 || !lines.isEmpty { lines.append("") }
        if isSingle, rule.fitsKeyLine {
            lines.append("\(section.key): \(rule.lines.first ?? "")")
        } else {
            let own = isSingle ? indented(rule.above + rule.lines, by: Self.step) : member(rule, indent: Self.step)
            lines += ["\(section.key):"] + own
        }
        lines = indented(lines, by: outline.column)
        if isBeforeOthers, source.kind(ofLineAt: place) != .blank { lines.append("") }
        return text(inserting: lines, at: place)
    }

    /// At the end, but before the profile's tests.
    private var placeOfNewSection: (place: Int, isBeforeOthers: Bool) {
        let last = outline.pairs.last { !["expect", "assert"].contains($0.name) }
        guard let last, last.key != outline.pairs.last?.key else { return (outline.end, false) }
        let end = source.nextLine(last.value.upperBound)
        return (source.commentsBelow(end, deeperThan: outline.column), true)
    }

    /// Whether the rule is the only value of its section.
    func isSingle(_ section: ProfileSection, _ rule: RuleLines) -> Bool {
        section == .intercept || rule.node.mapping == nil
    }

    private func beginInBraces(_ section: ProfileSection, _ rule: RuleLines) throws(ProfileError) -> String {
        let isSingle = isSingle(section, rule)
        guard let last = outline.pairs.last, let value = rule.braced ?? (isSingle ? rule.lines.first : nil) else {
            throw inBraces()
        }
        let key = source[last.key.lowerBound] == UInt8(ascii: "\"") ? "\"\(section.key)\"" : section.key
        let place = last.value.upperBound
        let pair = "\(key): \(isSingle ? value : "[ \(value) ]")"
        return text(replacing: place..<place, with: ",\(separator(before: last.key.lowerBound))\(pair)")
    }

    /// The text between two values, like the one before the value at `place`.
    func separator(before place: Int) -> String {
        source.isFirstInLine(place) ? newline + blanks(source.column(of: place)) : " "
    }

    func inBraces(_ node: Node? = nil) -> ProfileError {
        let message =
            "the profile is written in braces, and a rule with comments cannot be put there; remove the braces first"
        return ProfileError(message, file: file, at: node)
    }

    /// The text without a section.
    func removing(_ pair: ProfileOutline.Pair) -> String {
        guard let number = outline.pairs.firstIndex(where: { $0.key == pair.key }) else { return "" }
        if outline.isBraced {
            let ranges = outline.pairs.map { $0.key.lowerBound..<$0.value.upperBound }
            return text(replacing: rangeToRemove(number, of: ranges), with: "")
        }
        let line = source.lineStart(pair.key.lowerBound)
        // Comments above the first key are about the whole profile.
        let start = number == 0 ? line : source.commentsAbove(line, column: outline.column, notBefore: 0)
        let end = source.commentsBelow(source.nextLine(pair.value.upperBound), deeperThan: outline.column)
        return text(removing: start..<end)
    }

    /// The range of a value in a list with commas, with one comma beside it.
    func rangeToRemove(_ index: Int, of ranges: [Range<Int>]) -> Range<Int> {
        if index + 1 < ranges.count { return ranges[index].lowerBound..<ranges[index + 1].lowerBound }
        return (index > 0 ? ranges[index - 1].upperBound : ranges[index].lowerBound)..<ranges[index].upperBound
    }
}

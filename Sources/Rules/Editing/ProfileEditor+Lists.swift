/// Inserts, removes and moves rules in a section's list.
extension ProfileEditor {
    /// Inserts a rule at an index from 0 to the number of rules.
    func insert(_ rule: RuleLines, _ section: ProfileSection, at index: Int) throws(ProfileError) -> String {
        guard let pair = outline[section] else { return try begin(section, rule) }
        let isSingle = isSingle(section, rule)
        switch pair.form {
        // An empty value is replaced.
        case .flag(false), .nothing: return filled(pair, rule, isSingle: isSingle)
        case .flag, .single:
            guard !isSingle else {
                throw ProfileError("'\(section)' already exists; edit it", file: file, at: pair.node)
            }
        case .block, .flow:
            guard !isSingle else {
                throw ProfileError("'true' cannot be combined with other rules", file: file, at: pair.node)
            }
            if pair.form == .block { return inserting(rule, pair, at: index) }
            if let text = insertingInline(rule, pair, at: index) { return text }
            if pair.entries.isEmpty, !outline.isBraced { return filled(pair, rule, isSingle: false) }
        }
        return try opened(pair, section).insert(rule, section, at: index)
    }

    func remove(_ id: EditableRule.ID) throws(ProfileError) -> String {
        let (pair, entry) = try find(id)
        if pair.entries.count < 2 { return removing(pair) }
        guard pair.form == .flow else {
            let lines = outline.lines(entry, in: pair)
            return text(removing: lines, isAtTop: lines.lowerBound == source.nextLine(pair.colon))
        }
        if hasGapComments(pair), !outline.isBraced { return try opened(pair, id.section).remove(id) }
        return text(replacing: rangeToRemove(id.index, of: pair.entries.map(\.range)), with: "")
    }

    /// Moves a rule; text between the rules stays where it is.
    func move(_ id: EditableRule.ID, to index: Int) throws(ProfileError) -> String {
        let (pair, _) = try find(id)
        if index == id.index { return source.text(0..<source.bytes.count) }
        let isFlow = pair.form == .flow
        if isFlow, hasGapComments(pair), !outline.isBraced { return try opened(pair, id.section).move(id, to: index) }
        let ranges = pair.entries.map { isFlow ? $0.range : outline.lines($0, in: pair) }
        var texts = ranges.map { range in
            let end = range.upperBound
            let isOpen = !isFlow && end == source.bytes.count && end > source.lineStart(end)
            return source.text(range) + (isOpen ? newline : "")
        }
        texts.insert(texts.remove(at: id.index), at: index)
        return text(Array(zip(ranges, texts)).map { ($0, $1) })
    }

    /// The text with a rule inserted in a list with hyphens.
    private func inserting(_ rule: RuleLines, _ pair: ProfileOutline.Pair, at index: Int) -> String {
        guard let first = pair.entries.first else { return "" }
        let lines = member(rule, indent: source.column(of: first.hyphen ?? first.range.lowerBound))
        let ranges = pair.entries.map { outline.lines($0, in: pair) }
        // If empty lines separate all rules, the new rule gets one, too.
        let hasGaps = ranges.dropFirst().map {
            source.kind(ofLineAt: source.lineStart(max($0.lowerBound - 1, 0))) == .blank
        }
        let gap = !hasGaps.isEmpty && !hasGaps.contains(false) ? [""] : []
        return index < ranges.count
            ? text(inserting: lines + gap, at: ranges[index].lowerBound)
            : text(inserting: gap + lines, at: ranges[ranges.count - 1].upperBound)
    }

    /// The text with the first rule in a section that had no rules.
    private func filled(_ pair: ProfileOutline.Pair, _ rule: RuleLines, isSingle: Bool) -> String {
        let place = pair.colon..<pair.value.upperBound
        if outline.isBraced {
            let value = rule.braced ?? "{}"
            return text(replacing: place, with: isSingle ? " \(value)" : " [ \(value) ]")
        }
        if isSingle, rule.fitsKeyLine, source.comments(place).isEmpty {
            return text(replacing: place, with: " " + (rule.lines.first ?? ""))
        }
        let indent = source.column(of: pair.key.lowerBound) + ProfileEditor.step
        let lines = isSingle ? indented(rule.above + rule.lines, by: indent) : member(rule, indent: indent)
        return openedText(pair, [], lines)
    }

    /// Whether there are comments between the rules of a list in brackets.
    func hasGapComments(_ pair: ProfileOutline.Pair) -> Bool { gaps(pair).contains { !source.comments($0).isEmpty } }

    /// The gaps in a list in brackets: before the first rule, between rules, and after the last rule.
    private func gaps(_ pair: ProfileOutline.Pair) -> [Range<Int>] {
        let starts = [pair.value.lowerBound + 1] + pair.entries.map(\.range.upperBound)
        let ends = pair.entries.map(\.range.lowerBound) + [pair.value.upperBound - 1]
        return zip(starts, ends).map { $0..<$1 }
    }

    /// The text with a rule between the brackets; `nil` if it needs lines of its own.
    private func insertingInline(_ rule: RuleLines, _ pair: ProfileOutline.Pair, at index: Int) -> String? {
        guard outline.isBraced || !hasGapComments(pair), let inline = rule.braced else { return nil }
        guard !pair.entries.isEmpty else {
            return outline.isBraced ? text(replacing: pair.value, with: "[ \(inline) ]") : nil
        }
        let other = pair.entries[min(index, pair.entries.count - 1)].range
        let separator = separator(before: other.lowerBound)
        let (place, added) =
            index < pair.entries.count
            ? (other.lowerBound, "\(inline),\(separator)") : (other.upperBound, ",\(separator)\(inline)")
        guard separator != " " || fits(added, in: place..<place) else { return nil }
        return text(replacing: place..<place, with: added)
    }

    /// The same profile with the rules of a section on lines of their own, each after a hyphen.
    func opened(_ pair: ProfileOutline.Pair, _ section: ProfileSection) throws(ProfileError) -> ProfileEditor {
        if outline.isBraced { throw inBraces(pair.node) }
        let opened = try ProfileEditor(openedText(pair, pair.entries, []), file)
        guard let other = opened.outline[section], other.form == .block, other.entries.count == pair.entries.count
        else { throw ProfileError("a list written this way cannot be edited here", file: file, at: pair.node) }
        return opened
    }

    /// The text with rules of a section on lines of their own, and other lines below; comments stay beside their rules.
    private func openedText(
        _ pair: ProfileOutline.Pair,
        _ entries: [ProfileOutline.Entry],
        _ others: [String]
    ) -> String {
        if pair.form == .single, let entry = entries.first, source.isFirstInLine(entry.range.lowerBound) {
            // A mapping on lines of its own only needs a hyphen.
            let range = entry.range.lowerBound..<outline.wholeRange(entry, in: pair).upperBound
            let column = source.column(of: range.lowerBound)
            let lines = member(RuleLines.dedented(source, range), indent: column).joined(separator: newline)
            return text(replacing: source.lineStart(range.lowerBound)..<range.upperBound, with: lines)
        }
        let indent = source.column(of: pair.key.lowerBound) + ProfileEditor.step
        var head = source.comments(pair.colon..<pair.value.lowerBound).map(\.text)
        var lines: [String] = []
        for (number, gap) in (pair.form == .flow ? gaps(pair) : [0..<0]).enumerated() {
            for (comment, isTrailing) in source.comments(gap) {
                if !isTrailing {
                    lines.append(blanks(indent) + comment)
                } else if lines.isEmpty {
                    head.append(comment)
                } else {
                    lines[lines.count - 1] += " " + comment
                }
            }
            guard entries.indices.contains(number) else { continue }
            let isFlag = entries[number].node.mapping == nil
            let own = isFlag ? ["enabled: true"] : RuleLines.dedented(source, entries[number].range)
            lines += member(own, indent: indent)
        }
        let end = source.lineEnd(pair.value.upperBound)
        // The key's line has room for one comment; further comments get lines of their own.
        let comments = head + source.comments(pair.value.upperBound..<end).map(\.text)
        let keyLine = comments.first.map { " " + $0 } ?? ""
        let body = comments.dropFirst().map { blanks(indent) + $0 } + lines + others
        return text(replacing: pair.colon..<end, with: keyLine + body.map { newline + $0 }.joined())
    }
}

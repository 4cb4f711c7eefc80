/// Sections that come and go.
extension ProfileEditor {
    /// The text with a new section for its first rule.
    func begin(_ section: ProfileSection, _ rule: RuleLines, isSingle: Bool) throws(ProfileError) -> String {
        if outline.isBraced { return try beginInBraces(section, rule, isSingle: isSingle) }
        let (place, isBeforeOthers) = placeOfNewSection
        var lines: [String] = []
        if outline.others["version"] == nil { lines.append("version: 1") }
        if place > 0 || !lines.isEmpty { lines.append("") }
        let indent = outline.column + ProfileEditor.step
        if isSingle, rule.fitsKeyLine {
            lines.append("\(section.key): \(rule.lines.first ?? "")")
        } else if isSingle {
            lines += ["\(section.key):"] + (rule.above + rule.lines).map { $0.isEmpty ? "" : blanks(indent) + $0 }
        } else {
            lines += ["\(section.key):"] + member(rule, indent: indent)
        }
        lines = lines.map { line in line.isEmpty || line.hasPrefix(" ") ? line : blanks(outline.column) + line }
        if isBeforeOthers, source.kind(ofLineAt: place) != .blank { lines.append("") }
        return text(replacing: place..<place, with: linesText(lines, at: place))
    }

    /// Behind everything, but before the profile's tests.
    private var placeOfNewSection: (place: Int, isBeforeOthers: Bool) {
        let last = outline.pairs.last { !["expect", "assert"].contains($0.name) }
        guard let last, last.key != outline.pairs.last?.key else { return (outline.end, false) }
        let end = source.nextLine(last.value.upperBound)
        return (source.commentsBelow(end, deeperThan: outline.column), true)
    }

    private func beginInBraces(
        _ section: ProfileSection,
        _ rule: RuleLines,
        isSingle: Bool
    ) throws(ProfileError) -> String {
        guard let last = outline.pairs.last, let value = rule.braced ?? (isSingle ? rule.lines.first : nil) else {
            throw ProfileOutline.failure(
                "the profile stands in braces, where a rule with comments cannot be put; write it without them first",
                file,
                nil
            )
        }
        let isQuoted = source[last.key.lowerBound] == UInt8(ascii: "\"")
        let key = isQuoted ? "\"\(section.key)\"" : section.key
        let separator =
            source.isFirstInLine(last.key.lowerBound)
            ? newline + blanks(source.column(of: last.key.lowerBound)) : " "
        let place = last.value.upperBound
        return text(
            replacing: place..<place,
            with: ",\(separator)\(key): \(isSingle ? value : "[ \(value) ]")"
        )
    }

    /// The text without a section.
    func removing(_ pair: ProfileOutline.Pair) -> String {
        guard let number = outline.pairs.firstIndex(where: { $0.key == pair.key }) else { return "" }
        if outline.isBraced {
            let isLast = number == outline.pairs.count - 1
            if isLast, number == 0 { return text(replacing: pair.key.lowerBound..<pair.value.upperBound, with: "") }
            let range =
                isLast
                ? outline.pairs[number - 1].value.upperBound..<pair.value.upperBound
                : pair.key.lowerBound..<outline.pairs[number + 1].key.lowerBound
            return text(replacing: range, with: "")
        }
        let line = source.lineStart(pair.key.lowerBound)
        // What stands above the first key is about the whole profile.
        var start = number == 0 ? line : source.commentsAbove(line, column: outline.column, notBefore: 0)
        var end = source.commentsBelow(source.nextLine(pair.value.upperBound), deeperThan: outline.column)
        if end == source.bytes.count {
            while start > 0, source.kind(ofLineAt: source.lineStart(start - 1)) == .blank {
                start = source.lineStart(start - 1)
            }
        } else if start > 0, source.kind(ofLineAt: source.lineStart(start - 1)) == .blank {
            while end < source.bytes.count, source.kind(ofLineAt: end) == .blank { end = source.nextLine(end) }
        }
        return text(replacing: start..<end, with: "")
    }
}

extension ProfileOutline {
    /// The values of the keys that are no sections.
    var others: [String: Node] {
        Dictionary(pairs.filter { ProfileSection(key: $0.name) == nil }.map { ($0.name, $0.node) }) { first, _ in first
        }
    }

    /// How far the keys are indented.
    var column: Int { pairs.first.map { source.column(of: $0.key.lowerBound) } ?? 0 }
}

/// Edits of a section's list: rules that come, go and move.
extension ProfileEditor {
    /// Puts a rule in at a place from 0 to the number of rules.
    func insert(_ rule: RuleLines, _ section: ProfileSection, at index: Int) throws(ProfileError) -> ProfileEdit {
        var model = ProfileModel(outline)
        let isSingle = section == .intercept || rule.node.mapping == nil
        guard let pair = outline[section] else {
            model.rules[section.key] = [rule.node.text()]
            if outline.isEmpty || outline.others["version"] == nil, !outline.isBraced {
                model.others["version"] = Node.text("1").text()
            }
            return ProfileEdit(text: try begin(section, rule, isSingle: isSingle), model: model)
        }
        switch pair.form {
        case .flag(false), .nothing:
            // What says nothing gives way.
            model.rules[pair.name] = [rule.node.text()]
            return ProfileEdit(text: filled(pair, rule, isSingle: isSingle), model: model, node: pair.node)
        case .flag(true), .single:
            guard !isSingle else {
                throw ProfileOutline.failure("'\(section)' stands there already; edit that", file, pair.node)
            }
            if case .flag = pair.form { model.rules[pair.name] = ["{\"enabled\":\"true\"}"] }
            model.rules[pair.name]?.insert(rule.node.text(), at: index)
            let opened = try opened(pair, EditableRule.ID(section, index))
            return ProfileEdit(text: opened.inserting(rule, section, at: index), model: model, node: pair.node)
        case .block, .flow:
            guard !isSingle else {
                throw ProfileOutline.failure("'true' cannot stand beside other rules", file, pair.node)
            }
            model.rules[pair.name, default: []].insert(rule.node.text(), at: index)
            if case .flow = pair.form {
                if let text = insertingInline(rule, pair, at: index) {
                    return ProfileEdit(text: text, model: model, node: pair.node)
                }
                if pair.entries.isEmpty, !outline.isBraced {
                    return ProfileEdit(text: filled(pair, rule, isSingle: false), model: model, node: pair.node)
                }
                let opened = try opened(pair, EditableRule.ID(section, index))
                return ProfileEdit(text: opened.inserting(rule, section, at: index), model: model, node: pair.node)
            }
            return ProfileEdit(text: inserting(rule, section, at: index), model: model, node: pair.node)
        }
    }

    /// Takes a rule out.
    func remove(_ id: EditableRule.ID) throws(ProfileError) -> ProfileEdit {
        let (pair, entry) = try find(id)
        var model = ProfileModel(outline)
        model.rules[pair.name]?.remove(at: id.index)
        guard pair.entries.count > 1 else {
            model.rules[pair.name] = nil
            return ProfileEdit(text: removing(pair), model: model, node: pair.node)
        }
        if isFlow(pair) {
            if hasGapComments(pair), !outline.isBraced {
                let text = try opened(pair, id).remove(id).text
                return ProfileEdit(text: text, model: model, node: pair.node)
            }
            let isLast = id.index == pair.entries.count - 1
            let range =
                isLast
                ? pair.entries[id.index - 1].range.upperBound..<entry.range.upperBound
                : entry.range.lowerBound..<pair.entries[id.index + 1].range.lowerBound
            return ProfileEdit(text: text(replacing: range, with: ""), model: model, node: entry.node)
        }
        var (start, end) = (outline.linesBegin(entry, in: pair), outline.linesEnd(entry))
        let isFirst = start == source.lineStart(start) && start == source.nextLine(pair.colon)
        let isBlankBefore = start > 0 && source.kind(ofLineAt: source.lineStart(start - 1)) == .blank
        // Of two gaps that meet, one goes.
        if end == source.bytes.count {
            while start > 0, source.kind(ofLineAt: source.lineStart(start - 1)) == .blank {
                start = source.lineStart(start - 1)
            }
        } else if isFirst || isBlankBefore {
            while end < source.bytes.count, source.kind(ofLineAt: end) == .blank { end = source.nextLine(end) }
        }
        return ProfileEdit(text: text(replacing: start..<end, with: ""), model: model, node: entry.node)
    }

    /// Moves a rule; what is between the rules stays where it is.
    func move(_ id: EditableRule.ID, to index: Int) throws(ProfileError) -> ProfileEdit {
        let (pair, entry) = try find(id)
        let index = min(max(index, 0), pair.entries.count - 1)
        var model = ProfileModel(outline)
        guard index != id.index, var rules = model.rules[pair.name] else {
            return ProfileEdit(text: source.text(0..<source.bytes.count), model: model)
        }
        rules.insert(rules.remove(at: id.index), at: index)
        model.rules[pair.name] = rules
        if isFlow(pair), hasGapComments(pair), !outline.isBraced {
            return ProfileEdit(text: try opened(pair, id).move(id, to: index).text, model: model, node: entry.node)
        }
        let ranges = pair.entries.map { entry in
            isFlow(pair) ? entry.range : outline.linesBegin(entry, in: pair)..<outline.linesEnd(entry)
        }
        var texts = ranges.map { range in
            let text = source.text(range)
            let isOpen = range.upperBound == source.bytes.count && range.upperBound > source.lineStart(range.upperBound)
            return isOpen && !isFlow(pair) ? text + newline : text
        }
        texts.insert(texts.remove(at: id.index), at: index)
        return ProfileEdit(text: text(Array(zip(ranges, texts)).map { ($0, $1) }), model: model, node: entry.node)
    }

    // MARK: - Lists with hyphens

    /// A rule behind a hyphen.
    func member(_ rule: RuleLines, indent: Int) -> [String] {
        let lines = RuleLines.indented(rule.lines, indent: indent + 2)
        return rule.above.map { blanks(indent) + $0 }
            + lines.enumerated().map { $0 == 0 ? blanks(indent) + "- " + $1 : $1 }
    }

    /// The text with a rule in a list with hyphens.
    private func inserting(_ rule: RuleLines, _ section: ProfileSection, at index: Int) -> String {
        guard let pair = outline[section], let last = pair.entries.last else { return "" }
        let indent = source.column(of: pair.entries.first?.hyphen ?? last.range.lowerBound)
        let lines = member(rule, indent: indent)
        // Rules that stand apart stay apart.
        let isSpaced =
            pair.entries.count > 1
            && pair.entries.dropFirst().allSatisfy { entry in
                source.kind(ofLineAt: source.lineStart(max(outline.linesBegin(entry, in: pair) - 1, 0))) == .blank
            }
        if index < pair.entries.count {
            let place = outline.linesBegin(pair.entries[index], in: pair)
            return text(replacing: place..<place, with: linesText(lines + (isSpaced ? [""] : []), at: place))
        }
        let place = outline.linesEnd(last)
        return text(replacing: place..<place, with: linesText((isSpaced ? [""] : []) + lines, at: place))
    }

    /// The text with a section that had no rules.
    private func filled(_ pair: ProfileOutline.Pair, _ rule: RuleLines, isSingle: Bool) -> String {
        if outline.isBraced {
            let value = rule.braced ?? "{}"
            return text(replacing: pair.colon..<pair.value.upperBound, with: isSingle ? " \(value)" : " [ \(value) ]")
        }
        let comments =
            source.comments(pair.colon..<pair.value.lowerBound)
            + (isFlow(pair) ? source.comments(pair.value) : [])
        let head = comments.map { " " + $0.text }.prefix(1)
        let indent = source.column(of: pair.key.lowerBound) + ProfileEditor.step
        let end = source.lineEnd(pair.value.upperBound)
        let tail = source.text(pair.value.upperBound..<end)
        if isSingle, rule.fitsKeyLine, comments.isEmpty {
            return text(replacing: pair.colon..<pair.value.upperBound, with: " " + (rule.lines.first ?? ""))
        }
        let above = comments.dropFirst().map { blanks(indent) + $0.text }
        let lines =
            above + (isSingle ? (rule.above + rule.lines).map { blanks(indent) + $0 } : member(rule, indent: indent))
        let body = lines.map { newline + $0 }.joined()
        // A comment behind the value stays behind the key; there is room for one.
        let isTailFirst = head.isEmpty
        let text = isTailFirst ? tail + body : head.joined() + newline + blanks(indent) + tail.drop { $0 == " " } + body
        return self.text(
            replacing: pair.colon..<end,
            with: isTailFirst || !tail.allSatisfy(\.isWhitespace) ? text : head.joined() + body
        )
    }

    // MARK: - Lists in brackets

    /// The text with a rule between the brackets; `nil` where it needs lines of its own.
    private func insertingInline(_ rule: RuleLines, _ pair: ProfileOutline.Pair, at index: Int) -> String? {
        guard outline.isBraced || !hasGapComments(pair), let inline = rule.braced else { return nil }
        guard !pair.entries.isEmpty else {
            return outline.isBraced ? text(replacing: pair.value, with: "[ \(inline) ]") : nil
        }
        let other = pair.entries[min(index, pair.entries.count - 1)]
        let isOnOwnLine = source.isFirstInLine(other.range.lowerBound)
        let separator = isOnOwnLine ? newline + blanks(source.column(of: other.range.lowerBound)) : " "
        let (place, added) =
            index < pair.entries.count
            ? (other.range.lowerBound, "\(inline),\(separator)") : (other.range.upperBound, ",\(separator)\(inline)")
        guard isOnOwnLine || fits(added, in: place..<place) else { return nil }
        return text(replacing: place..<place, with: added)
    }

    /// The text with a section's rules on lines of their own, each behind a hyphen; the comments stay beside them.
    func openedText(_ pair: ProfileOutline.Pair) -> String {
        let column = source.column(of: pair.key.lowerBound)
        let indent = column + ProfileEditor.step
        if case .single = pair.form, let entry = pair.entries.first, source.isFirstInLine(entry.range.lowerBound) {
            return openedBlock(pair, entry)
        }
        var head = source.comments(pair.colon..<pair.value.lowerBound).map(\.text)
        var lines: [String] = []
        let end = source.lineEnd(pair.value.upperBound)
        let gaps = isFlow(pair) ? gaps(pair) : pair.entries.map { _ in pair.colon..<pair.colon }
        for (number, gap) in gaps.enumerated() {
            for (comment, isTrailing) in source.comments(gap) {
                if !isTrailing {
                    lines.append(blanks(indent) + comment)
                } else if lines.isEmpty {
                    head.append(comment)
                } else {
                    lines[lines.count - 1] += " " + comment
                }
            }
            guard pair.entries.indices.contains(number) else { continue }
            let entry = pair.entries[number]
            let isFlag = entry.node.mapping == nil
            let own = isFlag ? ["enabled: true"] : RuleLines.dedented(source, entry.range)
            lines += RuleLines.indented(own, indent: indent + 2).enumerated().map {
                $0 == 0 ? blanks(indent) + "- " + $1 : $1
            }
        }
        let tail = source.comments(pair.value.upperBound..<end).map(\.text)
        // One comment has room behind the key, others go on lines of their own.
        let comments = head + tail
        let first = comments.first.map { " " + $0 } ?? ""
        let body = comments.dropFirst().map { blanks(indent) + $0 } + lines
        return text(replacing: pair.colon..<end, with: first + body.map { newline + $0 }.joined())
    }

    /// A mapping on lines of its own, behind a hyphen.
    private func openedBlock(_ pair: ProfileOutline.Pair, _ entry: ProfileOutline.Entry) -> String {
        let range = source.lineStart(entry.range.lowerBound)..<outline.wholeRange(entry, in: pair).upperBound
        let indent = blanks(source.column(of: entry.range.lowerBound))
        let lines = RuleLines.dedented(source, entry.range.lowerBound..<range.upperBound)
        let text = lines.enumerated().map { number, line in
            number == 0 ? "\(indent)- \(line)" : line.isEmpty ? "" : "\(indent)  \(line)"
        }
        return self.text(replacing: range, with: text.joined(separator: newline))
    }
}

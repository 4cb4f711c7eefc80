/// A profile's text with the places of its sections and of the rules in them.
struct ProfileOutline {
    /// One rule: a member of a list, or the only value of its section.
    struct Entry {
        let node: Node
        /// Where its text begins and ends, without the hyphen, and without comments around it.
        let range: Range<Int>
        /// Where its hyphen is, in a list with hyphens.
        var hyphen: Int?
    }

    /// How the rules of a section are written.
    enum Form {
        /// Each behind a hyphen.
        case block
        /// In square brackets.
        case flow
        /// One mapping in place of a list.
        case single
        /// `true` or `false`.
        case flag(Bool)
        /// Nothing stands there.
        case nothing
    }

    /// A key at the top and its value.
    struct Pair {
        let name: String
        let key: Range<Int>
        /// The place behind the colon.
        let colon: Int
        let node: Node
        let value: Range<Int>
        let form: Form
        let entries: [Entry]
    }

    let source: SourceText
    let pairs: [Pair]
    /// Whether the whole profile stands in braces.
    let isBraced: Bool
    /// Where the profile's own text ends: before an end marker, or at the end.
    let end: Int
    /// Whether there is nothing in the text.
    let isEmpty: Bool

    /// Reads a text.
    ///
    /// - Throws: ``ProfileError`` where it is no YAML, or written in a way that cannot be edited.
    init(_ text: String, file: String) throws(ProfileError) {
        let source = SourceText(text)
        self.source = source
        guard let root = try ProfileText.tree(text, file: file), !root.isNothing else {
            (pairs, isBraced, isEmpty) = ([], false, true)
            end = ProfileOutline.documentEnd(source, from: 0)
            return
        }
        guard let mapping = root.mapping else {
            throw ProfileOutline.failure("a profile is a mapping that begins with 'version: 1'", file, root)
        }
        isEmpty = false
        let start = source.start(of: root)
        isBraced = source[start] == UInt8(ascii: "{")
        var pairs: [Pair] = []
        for member in mapping {
            guard let pair = ProfileOutline.pair(member.key, member.value, source) else {
                throw ProfileOutline.failure("this cannot be edited here, as it is written", file, member.key)
            }
            pairs.append(pair)
        }
        self.pairs = pairs.sorted { $0.key.lowerBound < $1.key.lowerBound }
        let last = isBraced ? source.end(of: root, indent: 0) : self.pairs.last?.value.upperBound
        end = ProfileOutline.documentEnd(source, from: last ?? start)
    }

    subscript(section: ProfileSection) -> Pair? { pairs.first { $0.name == section.key } }

    static func failure(_ message: String, _ file: String, _ node: Node?) -> ProfileError {
        ProfileError(issues: [
            ProfileIssue(
                severity: .error,
                file: file,
                line: node?.line ?? 1,
                column: node?.column ?? 1,
                message: message
            )
        ])
    }

    /// Where a rule's own lines begin, the comments directly above it included.
    ///
    /// To be asked in a list with hyphens.
    func linesBegin(_ entry: Entry, in pair: Pair) -> Int {
        let hyphen = entry.hyphen ?? entry.range.lowerBound
        let line = source.lineStart(hyphen)
        return source.commentsAbove(line, column: source.column(of: hyphen), notBefore: source.nextLine(pair.colon))
    }

    /// Where a rule's own lines end: behind its last line, and behind the comments below it that are indented as a part
    func linesEnd(_ entry: Entry) -> Int {
        let column = source.column(of: entry.hyphen ?? entry.range.lowerBound)
        // A mapping in place of a list is indented itself; what is as deep belongs to it.
        let limit = entry.hyphen == nil ? column - 1 : column
        return source.commentsBelow(source.nextLine(entry.range.upperBound), deeperThan: limit)
    }

    /// Everything that makes up a rule from its first character on: comments within it and behind it too.
    func wholeRange(_ entry: Entry, in pair: Pair) -> Range<Int> {
        let start = entry.range.lowerBound
        if isBraced { return entry.range }
        switch pair.form {
        case .flow: return entry.range
        case .single where source[start] != UInt8(ascii: "{"), .block:
            let end = linesEnd(entry)
            return start..<max(entry.range.upperBound, source.lineEnd(source.lineStart(max(end - 1, start))))
        case .single, .flag, .nothing: return start..<source.lineEnd(entry.range.upperBound)
        }
    }

    // MARK: - Reading

    private static func pair(_ key: Node, _ value: Node, _ source: SourceText) -> Pair? {
        let start = source.start(of: key)
        let column = source.column(of: start)
        guard let keyEnd = source.end(of: key, indent: column) else { return nil }
        let colon = source.skipBlank(keyEnd)
        let hasColon = source[colon] == UInt8(ascii: ":")
        let valueStart = max(source.start(of: value), hasColon ? colon + 1 : keyEnd)
        guard let valueEnd = source.end(of: value, indent: column),
            let (form, entries) = form(value, valueStart, max(valueEnd, valueStart), column, source)
        else { return nil }
        return Pair(
            name: key.scalar?.string ?? "",
            key: start..<keyEnd,
            colon: hasColon ? colon + 1 : keyEnd,
            node: value,
            value: valueStart..<max(valueEnd, valueStart),
            form: form,
            entries: entries
        )
    }

    private static func form(
        _ node: Node,
        _ start: Int,
        _ end: Int,
        _ column: Int,
        _ source: SourceText
    ) -> (Form, [Entry])? {
        if let list = node.sequence {
            let isFlow = source[start] == UInt8(ascii: "[")
            guard let entries = entries(list, start, isFlow: isFlow, source) else { return nil }
            return (isFlow ? .flow : .block, entries)
        }
        if node.mapping != nil { return (.single, [Entry(node: node, range: start..<end)]) }
        if node.isNothing { return (.nothing, []) }
        let isTrue = node.scalar?.string == "true"
        guard isTrue || node.scalar?.string == "false" else { return (.nothing, []) }
        return (.flag(isTrue), [Entry(node: node, range: start..<end)])
    }

    private static func entries(
        _ list: [Node],
        _ start: Int,
        isFlow: Bool,
        _ source: SourceText
    ) -> [Entry]? {
        var entries: [Entry] = []
        var position = isFlow ? start + 1 : start
        for member in list {
            position = source.skipBlank(position)
            var hyphen: Int?
            if isFlow {
                while source[position] == UInt8(ascii: ",") { position = source.skipBlank(position + 1) }
            } else {
                guard source[position] == UInt8(ascii: "-") else { return nil }
                hyphen = position
                position += 1
            }
            let begin = max(source.start(of: member), position)
            guard let end = source.end(of: member, indent: source.column(of: hyphen ?? start)) else { return nil }
            position = max(begin, end)
            entries.append(Entry(node: member, range: begin..<position, hyphen: hyphen))
        }
        return entries
    }

    /// Where `...` begins, or the text ends.
    private static func documentEnd(_ source: SourceText, from position: Int) -> Int {
        var position = source.skipBlank(position)
        if position < source.bytes.count, source.bytes[position...].starts(with: [0x2D, 0x2D, 0x2D]) {
            position = source.skipBlank(position + 3)
        }
        let isMarker = source.bytes[position...].starts(with: [0x2E, 0x2E, 0x2E])
        return isMarker && source.column(of: position) == 0 ? position : source.bytes.count
    }
}

/// What a profile says, apart from how it is written: by which an edit is checked.
struct ProfileModel: Equatable {
    /// The rules of each section.
    var rules: [String: [String]] = [:]
    /// The values of all other keys.
    var others: [String: String] = [:]

    init(_ outline: ProfileOutline) {
        for pair in outline.pairs {
            if ProfileSection(key: pair.name) == nil {
                others[pair.name] = pair.node.text()
            } else if case .nothing = pair.form {
                rules[pair.name] = pair.node.scalar.map { $0.string.isEmpty } == true ? nil : [pair.node.text()]
            } else if !pair.entries.isEmpty {
                rules[pair.name] = pair.entries.map { $0.node.text() }
            }
        }
    }
}

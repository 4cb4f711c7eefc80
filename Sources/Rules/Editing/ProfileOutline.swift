import HTTPModel

/// The places of a profile's sections and rules in its text, in bytes.
struct ProfileOutline {
    /// One rule: a member of a list, or the only value of its section.
    struct Entry {
        let node: Node
        /// Its text without the hyphen, and without comments around it.
        let range: Range<Int>
        var hyphen: Int?

        var isEnabled: Bool { (node.mapping == nil ? node : node["enabled"])?.scalar?.string != "false" }
    }

    /// How the rules of a section are written.
    enum Form: Equatable {
        /// Each after a hyphen.
        case block
        /// In square brackets.
        case flow
        /// One mapping in place of a list.
        case single
        case flag(Bool)
        case nothing
    }

    /// A top-level key and its value.
    struct Pair {
        let name: String
        let key: Range<Int>
        let colon: Int
        let node: Node
        let value: Range<Int>
        let form: Form
        let entries: [Entry]
    }

    let source: SourceText
    let pairs: [Pair]
    let isBraced: Bool
    /// Where the profile ends: before the end marker `...`, or at the end of the text.
    let end: Int

    init(_ text: String, file: String) throws(ProfileError) {
        let source = SourceText(text)
        self.source = source
        guard let root = try ProfileText.tree(text, file: file), !root.isNothing else {
            (pairs, isBraced) = ([], false)
            end = ProfileOutline.documentEnd(source, from: 0)
            return
        }
        guard let members = root.mapping else {
            throw ProfileError("a profile is a mapping that begins with 'version: 1'", file: file, at: root)
        }
        let start = source.start(of: root)
        isBraced = source[start] == UInt8(ascii: "{")
        var pairs: [Pair] = []
        for member in members {
            guard let pair = ProfileOutline.pair(member, source) else {
                throw ProfileError("this is written in a way that cannot be edited", file: file, at: member.key)
            }
            pairs.append(pair)
        }
        self.pairs = pairs.sorted { $0.key.lowerBound < $1.key.lowerBound }
        let last = isBraced ? source.end(of: root, indent: 0) : self.pairs.last?.value.upperBound
        end = ProfileOutline.documentEnd(source, from: last ?? start)
    }

    subscript(section: ProfileSection) -> Pair? { pairs.first { $0.name == section.key } }

    var column: Int { pairs.first.map { source.column(of: $0.key.lowerBound) } ?? 0 }

    /// The content of each key, whatever its style: its rules, or its value. Edits are checked with it.
    func meaning(_ tools: ToolRegistry) -> [String: [String]] {
        var meaning: [String: [String]] = [:]
        for pair in pairs {
            if tools.section(pair.name) == nil {
                meaning[pair.name] = [pair.node.text()]
            } else if pair.form == .nothing {
                meaning[pair.name] = pair.node.scalar?.string.isEmpty == true ? nil : [pair.node.text()]
            } else if !pair.entries.isEmpty {
                meaning[pair.name] = pair.entries.map { $0.node.text() }
            }
        }
        return meaning
    }

    /// The lines of a rule in a list with hyphens, with comments directly above it and indented comments below it.
    func lines(_ entry: Entry, in pair: Pair) -> Range<Int> {
        let start = entry.hyphen ?? entry.range.lowerBound
        let column = source.column(of: start)
        let line = source.lineStart(start)
        let above = source.commentsAbove(line, column: column, notBefore: source.nextLine(pair.colon))
        // A mapping in place of a list is indented itself, so comments with the same indentation belong to it.
        let limit = entry.hyphen == nil ? column - 1 : column
        return above..<source.commentsBelow(source.nextLine(entry.range.upperBound), deeperThan: limit)
    }

    /// A rule from its first character on, with the comments in it and after it.
    func wholeRange(_ entry: Entry, in pair: Pair) -> Range<Int> {
        let start = entry.range.lowerBound
        if isBraced { return entry.range }
        switch pair.form {
        case .flow: return entry.range
        case .single where source[start] != UInt8(ascii: "{"), .block:
            let end = lines(entry, in: pair).upperBound
            return start..<max(entry.range.upperBound, source.lineEnd(source.lineStart(max(end - 1, start))))
        case .single, .flag, .nothing: return start..<source.lineEnd(entry.range.upperBound)
        }
    }

    private static func pair(_ member: Node.Member, _ source: SourceText) -> Pair? {
        let start = source.start(of: member.key)
        let column = source.column(of: start)
        guard let keyEnd = source.end(of: member.key, indent: column) else { return nil }
        var colon = source.skipBlank(keyEnd)
        colon = source[colon] == UInt8(ascii: ":") ? colon + 1 : keyEnd
        let valueStart = max(source.start(of: member.value), colon)
        guard let valueEnd = source.end(of: member.value, indent: column) else { return nil }
        let value = valueStart..<max(valueEnd, valueStart)
        guard let (form, entries) = form(member.value, value, source) else { return nil }
        return Pair(
            name: member.key.scalar?.string ?? "",
            key: start..<keyEnd,
            colon: colon,
            node: member.value,
            value: value,
            form: form,
            entries: entries
        )
    }

    private static func form(_ node: Node, _ range: Range<Int>, _ source: SourceText) -> (Form, [Entry])? {
        switch node.content {
        case .list(let list):
            let isFlow = source[range.lowerBound] == UInt8(ascii: "[")
            return entries(list, range.lowerBound, isFlow: isFlow, source).map { (isFlow ? .flow : .block, $0) }
        case .mapping: return (.single, [Entry(node: node, range: range)])
        case .scalar(let scalar):
            guard ["true", "false"].contains(scalar.string) else { return (.nothing, []) }
            return (.flag(scalar.string == "true"), [Entry(node: node, range: range)])
        }
    }

    private static func entries(_ list: [Node], _ start: Int, isFlow: Bool, _ source: SourceText) -> [Entry]? {
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

    /// The place of `...`, or the end of the text.
    private static func documentEnd(_ source: SourceText, from position: Int) -> Int {
        var position = source.skipBlank(position)
        if source.bytes[position...].starts(with: "---".utf8) { position = source.skipBlank(position + 3) }
        let isMarker = source.bytes[position...].starts(with: "...".utf8)
        return isMarker && source.column(of: position) == 0 ? position : source.bytes.count
    }
}

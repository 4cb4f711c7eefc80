/// One rule as YAML of its own, for example `at: https://x.example/*` and `action: 403` on two lines.
package struct RuleText: Sendable, Hashable {
    /// A mapping in any style, without the hyphen of a list; or `true`, if the tool accepts it.
    package var yaml: String

    /// Accepts any text; ``RuleCheck`` finds the errors in it.
    package init(_ yaml: String) { self.yaml = yaml }

    static let file = "rule"

    /// The value of a key that accepts one word; `nil` if the key is missing or the text cannot be read.
    package func word(_ key: String) -> String? { (try? RuleLines(self))?.node[key]?.scalar?.string }

    /// The absolute path of a file that a rule in a profile names.
    package static func path(_ name: String, inProfile file: String) -> String {
        ProfileText.absolute(name, in: ProfileText.directory(of: file))
    }
}

/// A rule's text, ready to be put into a profile: lines without their common indentation.
struct RuleLines {
    let node: Node
    let above: [String]
    let lines: [String]

    /// Reads a rule's text, or the only member of a list. Throws ``ProfileError`` with places in the text.
    init(_ rule: RuleText) throws(ProfileError) {
        let text = RuleLines.plain(rule.yaml)
        guard let root = try ProfileText.tree(text, file: RuleText.file), root.scalar?.string != "" else {
            throw ProfileError("the rule is empty", file: RuleText.file)
        }
        let source = SourceText(text)
        var node = root
        if let list = root.sequence {
            guard list.count == 1, let only = list.first else {
                let message = list.isEmpty ? "the list is empty" : "this is a list of \(list.count) rules; give one"
                throw ProfileError(message, file: RuleText.file, at: root)
            }
            node = only
        }
        self.node = node
        let start = source.start(of: node)
        guard let end = source.end(of: node, indent: -1) else {
            throw ProfileError("this is written in a way that cannot be inserted", file: RuleText.file, at: node)
        }
        above = source.comments(0..<start).map(\.text)
        // After the end there can only be comments, or the closing bracket of a list with one member.
        let isBracketed = root.sequence != nil && source[source.start(of: root)] == UInt8(ascii: "[")
        let tail = isBracketed ? end : source.bytes.count
        lines = RuleLines.dedented(source, start..<max(tail, end))
    }

    /// The rule if it is one line in braces.
    var inline: String? {
        let isInline = lines.count == 1 && above.isEmpty && lines[0].hasPrefix("{") && lines[0].hasSuffix("}")
        return isInline ? lines[0] : nil
    }

    var fitsKeyLine: Bool { lines.count == 1 && above.isEmpty && (node.mapping == nil || lines[0].hasPrefix("{")) }

    /// Whether the rule may have comments; a text that looks like a comment counts.
    private var mayHaveComments: Bool {
        !above.isEmpty || lines.contains { $0.contains(" #") || $0.contains("\t#") || $0.hasPrefix("#") }
    }

    /// The rule on one line in braces; `nil` if comments would be lost.
    var braced: String? { inline ?? (mayHaveComments ? nil : node.flow) }

    /// The lines as one text: the first continues a line, the others are indented.
    func joined(indent: Int, _ newline: String) -> String {
        let blanks = String(repeating: " ", count: indent)
        return lines.enumerated().map { $0 == 0 || $1.isEmpty ? $1 : blanks + $1 }.joined(separator: newline)
    }

    static func dedented(_ source: SourceText, _ range: Range<Int>) -> [String] {
        let column = source.column(of: range.lowerBound)
        var lines = plain(source.text(range)).split(separator: "\n", omittingEmptySubsequences: false)
        while let last = lines.last, last.allSatisfy({ $0 == " " || $0 == "\t" }) { lines.removeLast() }
        let isBraced = "{[".utf8.contains(source[range.lowerBound])
        let depths = lines.dropFirst().filter { !$0.allSatisfy { $0 == " " } }.map { $0.prefix { $0 == " " }.count }
        let common = isBraced ? min(column, depths.min() ?? 0) : column
        return lines.enumerated().map { number, line in
            number == 0 ? String(line) : String(line.dropFirst(min(common, line.prefix { $0 == " " }.count)))
        }
    }

    /// A text whose lines end in line feeds, without a byte order mark.
    private static func plain(_ text: String) -> String {
        let plain = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return plain.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
    }
}

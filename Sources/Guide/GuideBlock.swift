package struct GuideRun: Sendable, Hashable {
    package enum Style: Sendable { case plain, bold, code }
    package var text: String
    package var style: Style

    package init(_ text: String, _ style: Style = .plain) { (self.text, self.style) = (text, style) }
}

extension [GuideRun] {
    package var text: String { map(\.text).joined() }
}

/// Blocks of the Markdown that the guide uses.
package enum GuideBlock: Sendable, Hashable {
    case heading(Int, [GuideRun])
    case paragraph([GuideRun])
    /// `-`, or a number with its dot.
    case item(mark: String, [GuideRun])
    /// The first row is the head.
    case table([[[GuideRun]]])
    case code(language: String, [String])
    /// An HTML comment, which only the guide's tests use.
    case comment(String)

    package var lines: [String] {
        switch self {
        case .heading(_, let runs), .paragraph(let runs), .item(_, let runs): [runs.text]
        case .table(let rows): rows.map { $0.map(\.text).joined(separator: "  ") }
        case .code(_, let lines): lines
        case .comment: []
        }
    }

    package static func read(_ text: String) -> [GuideBlock] {
        var reader = Reader(lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...])
        var blocks: [GuideBlock] = []
        while let block = reader.next() { blocks.append(block) }
        return blocks
    }

    private struct Reader {
        var lines: ArraySlice<String>

        mutating func next() -> GuideBlock? {
            while lines.first?.allSatisfy(\.isWhitespace) == true { lines.removeFirst() }
            guard let line = lines.first else { return nil }
            if line.hasPrefix("```") { return code() }
            if line.hasPrefix("<!--") { return comment() }
            if line.hasPrefix("|") { return table() }
            lines.removeFirst()
            if let level = Self.level(of: line) { return .heading(level, GuideInline.read(line.dropFirst(level + 1))) }
            if let mark = Self.mark(of: line) {
                return .item(mark: mark, GuideInline.read(joined(line.dropFirst(mark.count + 1), isItem: true)))
            }
            return .paragraph(GuideInline.read(joined(line[...], isItem: false)))
        }

        private static func level(of line: String) -> Int? {
            let level = line.prefix { $0 == "#" }.count
            return (1...6).contains(level) && line.dropFirst(level).first == " " ? level : nil
        }

        private static func mark(of line: String) -> String? {
            if line.hasPrefix("- ") { return "-" }
            let digits = line.prefix(3).prefix { $0.isASCII && $0.isNumber }
            return !digits.isEmpty && line.dropFirst(digits.count).hasPrefix(". ") ? digits + "." : nil
        }

        private mutating func joined(_ first: Substring, isItem: Bool) -> Substring {
            var text = String(first)
            while let line = lines.first, !line.allSatisfy(\.isWhitespace), !line.hasPrefix("```"),
                !line.hasPrefix("<!--"), !line.hasPrefix("|"), Self.level(of: line) == nil, Self.mark(of: line) == nil,
                !isItem || line.hasPrefix(" ")
            {
                text += " " + line.drop(while: \.isWhitespace)
                lines.removeFirst()
            }
            return text[...]
        }

        private mutating func code() -> GuideBlock {
            let language = lines.removeFirst().drop { $0 == "`" }
            let content = lines.prefix { !$0.hasPrefix("```") }
            lines = lines.dropFirst(content.count + 1)
            return .code(language: String(language), Array(content))
        }

        private mutating func comment() -> GuideBlock {
            var text = String(lines.removeFirst().dropFirst(4))
            while !text.contains("-->"), !lines.isEmpty { text += "\n" + lines.removeFirst() }
            let end = text.firstRange(of: "-->")?.lowerBound ?? text.endIndex
            let words = text[..<end].drop(while: \.isWhitespace)
            return .comment(String(words.reversed().drop(while: \.isWhitespace).reversed()))
        }

        private mutating func table() -> GuideBlock {
            let rows = lines.prefix { $0.hasPrefix("|") }
            lines = lines.dropFirst(rows.count)
            return .table(
                rows.enumerated().filter { $0.offset != 1 }.map { Self.cells($0.element).map { GuideInline.read($0) } }
            )
        }

        private static func cells(_ row: String) -> [Substring] {
            var cells: [String] = []
            var cell = ""
            var isEscaped = false
            for character in row.dropFirst() {
                if character == "|", !isEscaped {
                    cells.append(cell)
                    cell = ""
                } else {
                    // In a table only `\|` is an escape; other backslashes are kept.
                    if character == "|" { cell.removeLast() }
                    cell.append(character)
                }
                isEscaped = character == "\\" && !isEscaped
            }
            return cells.map { cell in
                let start = cell.drop { $0 == " " }
                return start.prefix(start.count - start.reversed().prefix { $0 == " " }.count)
            }
        }
    }
}

/// `**bold**`, code, `[text](address)` and `<doc:topic>`.
enum GuideInline {
    static func read(_ text: Substring) -> [GuideRun] {
        var runs: [GuideRun] = []
        var plain = ""
        func flush() {
            if !plain.isEmpty { runs.append(GuideRun(plain)) }
            plain = ""
        }
        var rest = text
        while let first = rest.first {
            if first == "`" {
                let mark = rest.prefix { $0 == "`" }
                let inner = rest.dropFirst(mark.count)
                if let end = inner.firstRange(of: mark) {
                    flush()
                    var code = inner[..<end.lowerBound]
                    // Code between two backticks may have a padding space on both sides.
                    if mark.count > 1, code.hasPrefix(" "), code.hasSuffix(" "), code.count > 2 {
                        code = code.dropFirst().dropLast()
                    }
                    runs.append(GuideRun(String(code), .code))
                    rest = inner[end.upperBound...]
                    continue
                }
            } else if rest.hasPrefix("**"), let end = rest.dropFirst(2).firstRange(of: "**") {
                flush()
                runs += read(rest.dropFirst(2)[..<end.lowerBound]).map { run in
                    GuideRun(run.text, run.style == .code ? .code : .bold)
                }
                rest = rest[end.upperBound...]
                continue
            } else if rest.hasPrefix("<doc:"), let end = rest.firstIndex(of: ">") {
                flush()
                runs.append(GuideRun("sluice guide \(rest.dropFirst(5)[..<end])", .code))
                rest = rest[end...].dropFirst()
                continue
            } else if first == "[", let link = rest.prefixMatch(of: /\[([^\]]*)\]\(([^)]*)\)/) {
                plain += link.1 == link.2 ? String(link.1) : "\(link.1) (\(link.2))"
                rest = rest[link.range.upperBound...]
                continue
            } else if first == "\\", let next = rest.dropFirst().first, next.isPunctuation || next.isSymbol {
                plain.append(next)
                rest = rest.dropFirst(2)
                continue
            }
            plain.append(first)
            rest = rest.dropFirst()
        }
        flush()
        return runs
    }
}

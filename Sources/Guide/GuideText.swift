import Text

package struct GuideText {
    /// In columns; lines of code are not wrapped.
    package var width: Int
    package var isStyled: Bool

    private static let codeIndent = 4

    package init(width: Int, isStyled: Bool) {
        self.width = max(width, 20)
        self.isStyled = isStyled
    }

    package func text(of page: GuidePage) -> String {
        ([[GuideRun(page.title.uppercased(), .bold)], []] + lines(of: page)).map { line in
            line.map { styled($0.text, $0.style) }.joined() + "\n"
        }.joined()
    }

    package func lines(of page: GuidePage) -> [[GuideRun]] {
        var lines: [[GuideRun]] = []
        var previous: GuideBlock?
        for block in page.blocks {
            if case .comment = block { continue }
            if case .item = block, case .item = previous {} else if previous != nil { lines.append([]) }
            lines += self.lines(of: block)
            previous = block
        }
        return lines
    }

    private func lines(of block: GuideBlock) -> [[GuideRun]] {
        switch block {
        case .heading(_, let runs): [[GuideRun(runs.text, .bold)]]
        case .paragraph(let runs): wrapped(runs, to: width)
        case .item(let mark, let runs):
            wrapped(runs, to: width - mark.count - 1).enumerated().map { index, line in
                [GuideRun(index == 0 ? mark + " " : Self.blanks(mark.count + 1))] + line
            }
        case .table(let rows): table(rows)
        case .code(_, let code): code.map { $0.isEmpty ? [] : [GuideRun(Self.blanks(Self.codeIndent) + $0)] }
        case .comment: []
        }
    }

    private static func blanks(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }

    private func styled(_ text: String, _ style: GuideRun.Style) -> String {
        guard isStyled, !text.isEmpty else { return text }
        return switch style {
        case .plain: text
        case .bold: "\u{1B}[1m\(text)\u{1B}[22m"
        case .code: "\u{1B}[36m\(text)\u{1B}[39m"
        }
    }

    /// A word that is longer than a line gets its own.
    private func wrapped(_ runs: [GuideRun], to columns: Int) -> [[GuideRun]] {
        let runs = isStyled ? runs : runs.map { $0.style == .code ? GuideRun("`\($0.text)`") : $0 }
        var lines: [[GuideRun]] = [[]]
        var used = 0
        for word in Self.words(runs) {
            let width = TextWidth.columns(word.text)
            if used > 0, used + 1 + width > columns {
                lines.append([])
                used = 0
            }
            if used > 0 { lines[lines.count - 1].append(GuideRun(" ")) }
            lines[lines.count - 1] += word
            used += width + (used > 0 ? 1 : 0)
        }
        return lines.map { line in
            // Neighbouring words of one style are one run.
            var joined: [GuideRun] = []
            for run in line {
                if let last = joined.last, last.style == run.style {
                    joined[joined.count - 1].text += run.text
                } else {
                    joined.append(run)
                }
            }
            return joined
        }
    }

    /// Each word as runs of one style.
    private static func words(_ runs: [GuideRun]) -> [[GuideRun]] {
        var words: [[GuideRun]] = []
        var word: [GuideRun] = []
        for run in runs {
            for (index, piece) in run.text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
                if index > 0, !word.isEmpty {
                    words.append(word)
                    word = []
                }
                if !piece.isEmpty { word.append(GuideRun(String(piece), run.style)) }
            }
        }
        return word.isEmpty ? words : words + [word]
    }

    private func columns(of runs: [GuideRun]) -> Int {
        TextWidth.columns(runs.text) + (isStyled ? 0 : 2 * runs.count { $0.style == .code })
    }

    private func table(_ rows: [[[GuideRun]]]) -> [[GuideRun]] {
        let count = rows.map(\.count).max() ?? 0
        guard count > 0 else { return [] }
        // In a table without styles, cells that are only code get no backticks.
        let rows = rows.map { row in
            row.map { $0.count == 1 && !isStyled ? [GuideRun($0[0].text)] : $0 }
        }
        var widths = (0..<count).map { column in
            rows.map { $0.indices.contains(column) ? columns(of: $0[column]) : 0 }.max() ?? 0
        }
        let room = max(width - 2 * (count - 1), count * 8)
        // The widest columns are reduced first.
        while widths.reduce(0, +) > room, let widest = widths.indices.max(by: { widths[$0] < widths[$1] }) {
            widths[widest] -= 1
        }
        var lines: [[GuideRun]] = []
        for (index, row) in rows.enumerated() {
            let cells = (0..<count).map { column in
                row.indices.contains(column) ? wrapped(row[column], to: widths[column]) : [[]]
            }
            for line in 0..<(cells.map(\.count).max() ?? 0) {
                lines.append(Self.row(cells.map { $0.indices.contains(line) ? $0[line] : [] }, widths))
            }
            if index == 0 {
                lines.append([GuideRun(widths.map { String(repeating: "─", count: $0) }.joined(separator: "  "))])
            }
        }
        return lines
    }

    private static func row(_ cells: [[GuideRun]], _ widths: [Int]) -> [GuideRun] {
        var line: [GuideRun] = []
        var missing = 0
        for (cell, width) in zip(cells, widths) {
            if !cell.isEmpty, missing > 0 {
                line.append(GuideRun(blanks(missing)))
                missing = 0
            }
            line += cell
            missing += max(0, width - TextWidth.columns(cell.text)) + 2
        }
        return line
    }
}

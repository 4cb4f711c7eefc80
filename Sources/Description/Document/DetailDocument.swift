/// What the detail pane shows of an exchange: lines, some of which open blocks that can be folded.
package struct DetailDocument: Sendable {
    package let lines: [DetailLine]
    /// Whether nothing was left out; if something was, the document says so.
    package let isWhole: Bool
    /// Which page of an exchange it is; `nil` for another document.
    package var page: DetailPage?
    /// How the body is shown, if the page has a body.
    package var bodyForm: BodyForm?
    package var isUnfinished = false
    package var messages: MessageWindow?
    /// Remembers how lines are broken into rows.
    package let breaks = BreaksMemory()

    package init(lines: [DetailLine] = [], isWhole: Bool = true) {
        self.lines = lines
        self.isWhole = isWhole
    }

    package var initialFolds: Set<Int> { Set(lines.indices.filter { lines[$0].fold?.startsFolded == true }) }

    /// The indices of the visible lines, if the blocks of the lines in `folds` are folded.
    package func folded(_ folds: Set<Int>) -> [Int] {
        var hiddenEnd = 0
        return lines.indices.filter { line in
            guard line >= hiddenEnd else { return false }
            if let end = lines[line].fold?.end, folds.contains(line) { hiddenEnd = end }
            return true
        }
    }

    /// The lines of the body, or of the messages.
    package var bodyLines: ArraySlice<DetailLine> {
        page == .messages ? lines[...] : lines[(lines.lastIndex { $0.name == "Body" } ?? lines.endIndex)...]
    }

    /// The first line of each difference on a difference page. Consecutive removed and added lines are one difference.
    package var differences: [Int] {
        guard page == .difference else { return [] }
        func isMoved(_ line: Int) -> Bool { [.added, .removed].contains(lines[line].spans.first?.role) }
        return lines.indices.filter { line in
            isMoved(line) ? line == 0 || !isMoved(line - 1) : lines[line].spans.first?.role == .changed
        }
    }

    /// The lines whose blocks hold a line, outermost first: what has to be unfolded to see it.
    package func enclosing(_ line: Int) -> [Int] {
        lines.indices.prefix(max(0, line)).filter { (lines[$0].fold?.end ?? 0) > line }
    }
}

import Text

/// A line that is longer than the area is wide takes several rows.
extension TextArea {
    /// The columns, in characters, where the rows of a line begin.
    func rows(of line: Int) -> [Int] {
        let text = lines[line]
        guard width < .max, text.utf8.count > width else { return [0] }
        var starts = [0]
        var used = 0
        for (index, character) in text.enumerated() {
            let columns = TextWidth.columns(character)
            if used + columns > width, used > 0 {
                starts.append(index)
                used = 0
            }
            used += columns
        }
        return starts
    }

    /// Which row of its line the cursor is in.
    var cursorRow: Int { rows(of: cursor.line).lastIndex { $0 <= cursor.column } ?? 0 }

    /// Moves the cursor up or down by rows.
    mutating func moveRows(_ by: Int) {
        var (line, row) = (cursor.line, cursorRow)
        var starts = rows(of: line)
        let offset = cursor.column - starts[row]
        for _ in 0..<abs(by) {
            if by < 0, row > 0 {
                row -= 1
            } else if by > 0, row + 1 < starts.count {
                row += 1
            } else if lines.indices.contains(line + by.signum()) {
                line += by.signum()
                starts = rows(of: line)
                row = by < 0 ? starts.count - 1 : 0
            }
        }
        let end = row + 1 < starts.count ? starts[row + 1] - 1 : lines[line].count
        move(line: line, column: min(starts[row] + offset, end))
    }

    /// Scrolls so that the cursor is among so many rows of so many columns.
    package mutating func reveal(rows height: Int, width: Int = .max) {
        guard height > 0 else { return }
        setWidth(max(1, width))
        let row = cursorRow
        if top >= lines.count || (cursor.line, row) < (top, topRow) { return scroll(to: cursor.line, row) }
        // Upwards from the cursor, at most as many rows as fit.
        var (line, first) = (cursor.line, row)
        for _ in 1..<height where (line, first) > (top, topRow) {
            if first > 0 {
                first -= 1
            } else if line > 0 {
                line -= 1
                first = rows(of: line).count - 1
            }
        }
        if (line, first) > (top, topRow) { scroll(to: line, first) }
    }

    /// The rows from the upper edge on: a line, and the range of its characters.
    func visibleRows(_ height: Int) -> [(line: Int, range: Range<Int>)] {
        var visible: [(line: Int, range: Range<Int>)] = []
        var (line, row) = (min(top, lines.count - 1), topRow)
        while visible.count < height, line < lines.count {
            let starts = rows(of: line)
            for index in min(row, starts.count - 1)..<starts.count where visible.count < height {
                let end = index + 1 < starts.count ? starts[index + 1] : lines[line].count
                visible.append((line, starts[index]..<end))
            }
            (line, row) = (line + 1, 0)
        }
        return visible
    }
}

package import Terminal
import Text

package struct TextArea: Sendable {
    package struct Position: Sendable, Hashable {
        package var line: Int
        package var column: Int
    }

    /// The maximum size that typing can reach, in bytes: larger than any message that is opened here.
    package static let longest = 16 << 20

    /// The lines without their line ends (LF, CR LF or CR); at least one line.
    package private(set) var lines: [String]
    private var ends: [Character]
    package private(set) var cursor = Position(line: 0, column: 0)
    /// The line at the upper edge, and the first visible row of this line.
    package private(set) var top = 0
    private(set) var topRow = 0
    /// The columns of a row; longer lines use several rows.
    private(set) var width = Int.max
    /// The states before each change, the newest last; characters typed one after the other count as one change.
    private var past: [(lines: [String], ends: [Character], cursor: Position)] = []
    private var isTyping = false
    private let original: String

    package init(_ text: String) {
        (lines, ends) = TextArea.split(text)
        original = text
    }

    package var text: String {
        var text = ""
        for (line, end) in zip(lines, ends) {
            text += line
            text.append(end)
        }
        return text + lines[lines.count - 1]
    }

    package var isChanged: Bool { !text.hasSameBytes(as: original) }

    package mutating func take(_ key: Key) -> Bool {
        switch (key.code, key.modifiers) {
        case (.character(let character), []), (.character(let character), .shift): insert(String(character))
        case (.enter, []): insert("\n")
        case (.tab, []): insert("  ")
        case (.left, []): step(-1)
        case (.right, []): step(1)
        case (.up, []): moveRows(-1)
        case (.down, []): moveRows(1)
        case (.pageUp, []): moveRows(-10)
        case (.pageDown, []): moveRows(10)
        case (.home, []), (.character("a"), .control): move(line: cursor.line, column: 0)
        case (.end, []), (.character("e"), .control): move(line: cursor.line, column: .max)
        case (.home, .control): move(line: 0, column: 0)
        case (.end, .control): move(line: .max, column: .max)
        case (.backspace, _): removeBefore()
        case (.delete, []), (.character("d"), .control): removeAfter()
        case (.character("k"), .control): removeToEnd()
        case (.character("u"), .control): removeToStart()
        case (.character("z"), .alt), (.character("_"), .control), (.character("/"), .control): undo()
        default: return false
        }
        return true
    }

    /// Inserts text at the cursor; its line ends become the line end of the line at the cursor.
    package mutating func insert(_ text: String) {
        guard text.utf8.count + lines.reduce(0, { $0 + $1.utf8.count + 1 }) <= Self.longest else { return }
        keep(isTyping: text.count == 1 && text != "\n")
        let (before, after) = halves()
        var new = TextArea.split(text).lines
        let last = new.count - 1
        let end = cursor.line < ends.count ? ends[cursor.line] : ends.last ?? "\n"
        ends.insert(contentsOf: repeatElement(end, count: last), at: cursor.line)
        new[0] = before + new[0]
        let column = new[last].count
        new[last] += after
        lines.replaceSubrange(cursor.line...cursor.line, with: new)
        cursor = Position(line: cursor.line + last, column: column)
    }

    package mutating func replace(with text: String) {
        keep(isTyping: false)
        (lines, ends) = TextArea.split(text)
        move(line: cursor.line, column: cursor.column)
    }

    package mutating func move(line: Int, column: Int) {
        isTyping = false
        let line = min(max(0, line), lines.count - 1)
        cursor = Position(line: line, column: min(max(0, column), lines[line].count))
    }

    /// Starts a line with the indentation of the current line, and deeper after a key without a value.
    mutating func insertIndentedLine() {
        let before = lines[cursor.line].prefix(cursor.column)
        let blanks = before.prefix { $0 == " " }
        let hyphen = before.dropFirst(blanks.count).hasPrefix("- ") ? "  " : ""
        insert("\n" + blanks + hyphen + (before.last == ":" ? "  " : ""))
    }

    private mutating func undo() {
        guard let last = past.popLast() else { return }
        (lines, ends, cursor) = last
        isTyping = false
    }

    private mutating func step(_ by: Int) {
        let column = cursor.column + by
        if column < 0, cursor.line > 0 {
            move(line: cursor.line - 1, column: .max)
        } else if column > lines[cursor.line].count, cursor.line + 1 < lines.count {
            move(line: cursor.line + 1, column: 0)
        } else {
            move(line: cursor.line, column: column)
        }
    }

    private mutating func removeBefore() {
        if cursor.column == 0 {
            guard cursor.line > 0 else { return }
            keep(isTyping: false)
            let column = lines[cursor.line - 1].count
            lines[cursor.line - 1] += lines.remove(at: cursor.line)
            ends.remove(at: cursor.line - 1)
            cursor = Position(line: cursor.line - 1, column: column)
        } else {
            keep(isTyping: true)
            let (before, after) = halves()
            lines[cursor.line] = before.dropLast() + after
            cursor.column -= 1
        }
    }

    private mutating func removeAfter() {
        let (before, after) = halves()
        if after.isEmpty {
            guard cursor.line + 1 < lines.count else { return }
            keep(isTyping: false)
            lines[cursor.line] = before + lines.remove(at: cursor.line + 1)
            ends.remove(at: cursor.line)
        } else {
            keep(isTyping: true)
            lines[cursor.line] = before + after.dropFirst()
        }
    }

    private mutating func removeToEnd() {
        keep(isTyping: false)
        lines[cursor.line] = halves().before
    }

    private mutating func removeToStart() {
        keep(isTyping: false)
        lines[cursor.line] = halves().after
        cursor.column = 0
    }

    private static func split(_ text: String) -> (lines: [String], ends: [Character]) {
        var lines: [String] = []
        var ends: [Character] = []
        var rest = text[...]
        while let end = rest.firstIndex(where: { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }) {
            lines.append(String(rest[..<end]))
            ends.append(rest[end])
            rest = rest[rest.index(after: end)...]
        }
        return (lines + [String(rest)], ends)
    }

    private func halves() -> (before: String, after: String) {
        (String(lines[cursor.line].prefix(cursor.column)), String(lines[cursor.line].dropFirst(cursor.column)))
    }

    private mutating func keep(isTyping: Bool) {
        if !(isTyping && self.isTyping) { past.append((lines, ends, cursor)) }
        if past.count > 200 { past.removeFirst() }
        self.isTyping = isTyping
    }
}

extension String {
    /// Compares bytes, because `==` treats an accented letter and a letter with a combining accent as equal.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

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

    var cursorRow: Int { rows(of: cursor.line).lastIndex { $0 <= cursor.column } ?? 0 }

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

    package mutating func reveal(rows height: Int, width: Int = .max) {
        guard height > 0 else { return }
        self.width = max(1, width)
        let row = cursorRow
        if top >= lines.count || (cursor.line, row) < (top, topRow) {
            (top, topRow) = (cursor.line, row)
            return
        }
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
        if (line, first) > (top, topRow) { (top, topRow) = (line, first) }
    }

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

/// Makes the bytes that turn one frame into the next.
///
/// It tracks the terminal's content, cursor and pen. A frame is a synchronized update: terminals that support these
/// never show half of one. Colours are degraded to the terminal's depth; without Unicode all output is ASCII.
///
/// Terminals disagree on the width of clusters and emoji: in a terminal that draws them wider, they cover the next
/// cells. So a changed row with such a character is erased from there and written whole, each cell with its position.
///
/// The terminal must not wrap lines (``SystemTerminal`` turns wrapping off), so that the last cell cannot scroll it.
package struct FrameRenderer: Sendable {
    private let isUnicode: Bool
    /// Whether the terminal may draw even ordinary wide characters with a different width: the Linux console.
    private let doubtsWide: Bool
    private var pen: Pen
    private var shown: CellBuffer?
    private var cursor: CursorPosition?
    private var isCursorVisible: Bool?
    private var output: [UInt8] = []

    package init(_ capabilities: TerminalCapabilities) {
        isUnicode = capabilities.isUnicode
        doubtsWide = capabilities.name.hasPrefix("linux")
        pen = Pen(depth: capabilities.colorDepth)
    }

    package mutating func invalidate() { shown = nil }

    /// The bytes that make the terminal show a frame; empty if the terminal already shows it. The first frame, and a
    /// frame of a different size, is drawn whole on a cleared screen.
    package mutating func render(_ next: CellBuffer) -> [UInt8] {
        output.removeAll(keepingCapacity: true)
        append("\u{1B}[?2026h")
        let empty = output.count
        let before: CellBuffer
        if let shown, shown.size == next.size {
            before = shown
        } else {
            before = CellBuffer(next.size)
            pen.forget()
            setPen(0)
            append("\u{1B}[?25l\u{1B}[H\u{1B}[2J")
            isCursorVisible = false
            cursor = CursorPosition(x: 0, y: 0)
        }
        drawRows(from: before, to: next)
        showCursor(next)
        shown = next
        guard output.count > empty else { return [] }
        append("\u{1B}[?2026l")
        return output
    }

    private mutating func drawRows(from before: CellBuffer, to next: CellBuffer) {
        let width = next.size.width
        guard width > 0 else { return }
        before.cells.withUnsafeBufferPointer { old in
            next.cells.withUnsafeBufferPointer { new in
                for y in 0..<next.size.height {
                    let range = y * width..<(y + 1) * width
                    drawRow(y, from: .init(rebasing: old[range]), to: .init(rebasing: new[range]))
                }
            }
        }
    }

    private mutating func drawRow(_ y: Int, from old: UnsafeBufferPointer<Cell>, to new: UnsafeBufferPointer<Cell>) {
        var x = 0
        var end = new.count
        while x < end, old[x] == new[x] { x += 1 }
        if x == end { return }
        if isUnicode, let risky = firstRisky(old, new) { return drawWhole(y, from: min(x, risky), to: new) }
        while old[end - 1] == new[end - 1] { end -= 1 }
        // From `blank` on, the new row is blank. An erase sequence replaces the spaces if it is shorter.
        var blank = new.count
        while blank > x, new[blank - 1] == .blank { blank -= 1 }
        let isErased = end - blank > 4
        if isErased { end = blank }
        if isCursorVisible == true { hideCursor() }
        while x < end {
            if old[x] == new[x] {
                var next = x
                while next < end, old[next] == new[next] { next += 1 }
                if next == end { break }
                // A short unchanged run is written again if a cursor movement would take as many bytes.
                if next - x > 4 || cursor?.x != x || cursor?.y != y || !isPlainRun(new[x..<next]) {
                    x = next
                    continue
                }
            }
            draw(new[x], x: x, y: y, width: new.count)
            x += new[x].isWide ? 2 : 1
        }
        if isErased { eraseRow(y, from: blank) }
    }

    private mutating func eraseRow(_ y: Int, from x: Int) {
        move(x: x, y: y)
        setPen(0)
        append("\u{1B}[K")
    }

    /// The first cell of either row whose width is not certain.
    private func firstRisky(_ old: UnsafeBufferPointer<Cell>, _ new: UnsafeBufferPointer<Cell>) -> Int? {
        (0..<new.count).first { !isCertain(old[$0]) || !isCertain(new[$0]) }
    }

    private func isCertain(_ cell: Cell) -> Bool { cell.hasCertainWidth && !(doubtsWide && cell.isWide) }

    private mutating func drawWhole(_ y: Int, from start: Int, to new: UnsafeBufferPointer<Cell>) {
        if isCursorVisible == true { hideCursor() }
        var x = start > 0 && new[start].isContinuation ? start - 1 : start
        eraseRow(y, from: x)
        var end = new.count
        while end > x, new[end - 1] == .blank { end -= 1 }
        while x < end {
            draw(new[x], x: x, y: y, width: new.count)
            x += new[x].isWide ? 2 : 1
        }
        // The last character may have been drawn too wide, over blank cells.
        if end < new.count { eraseRow(y, from: end) }
    }

    /// Whether each cell is one byte in the current style, so that it needs no sequences.
    private func isPlainRun(_ cells: Slice<UnsafeBufferPointer<Cell>>) -> Bool {
        cells.allSatisfy { $0.glyph < 0x80 && !$0.isContinuation && pen.isSet(to: $0.styleBits) }
    }

    private mutating func draw(_ cell: Cell, x: Int, y: Int, width: Int) {
        move(x: x, y: y)
        setPen(cell.styleBits)
        var isCertain = true
        if cell.glyph < 0x80 {
            output.append(cell.glyph == 0 ? 0x20 : UInt8(truncatingIfNeeded: cell.glyph))
        } else if isUnicode {
            isCertain = self.isCertain(cell)
            if !isCertain, cell.isWide {
                // If the terminal draws the character in one column, the second column is blank.
                append("  ")
                cursor = nil
                move(x: x, y: y)
            }
            cell.writeGlyph(to: &output)
        } else {
            output.append(Fallback.ascii(cell))
            if cell.isWide { output.append(0x20) }
        }
        let after = x + cell.width
        // After the last column, terminals differ in the cursor's position.
        cursor = isCertain && after < width ? CursorPosition(x: after, y: y) : nil
    }

    private mutating func setPen(_ style: UInt64) { pen.set(to: style, output: &output) }

    private mutating func showCursor(_ next: CellBuffer) {
        guard let place = next.cursor, next.bounds.contains(x: place.x, y: place.y) else {
            if isCursorVisible != false { hideCursor() }
            return
        }
        move(x: place.x, y: place.y)
        if isCursorVisible != true { append("\u{1B}[?25h") }
        isCursorVisible = true
    }

    private mutating func hideCursor() {
        append("\u{1B}[?25l")
        isCursorVisible = false
    }

    private mutating func move(x: Int, y: Int) {
        guard let from = cursor else { return moveAnywhere(x: x, y: y) }
        if from.y == y {
            if from.x == x { return }
            if x == 0 {
                output.append(0x0D)
            } else if x == from.x - 1 {
                output.append(0x08)
            } else {
                append("\u{1B}[")
                let distance = abs(x - from.x)
                if distance > 1 { output.appendDecimal(distance) }
                output.append(x > from.x ? 0x43 : 0x44)
            }
            cursor = CursorPosition(x: x, y: y)
        } else if x == 0, y == from.y + 1 {
            append("\r\n")
            cursor = CursorPosition(x: x, y: y)
        } else {
            moveAnywhere(x: x, y: y)
        }
    }

    private mutating func moveAnywhere(x: Int, y: Int) {
        append("\u{1B}[")
        if x > 0 || y > 0 { output.appendDecimal(y + 1) }
        if x > 0 {
            output.append(0x3B)
            output.appendDecimal(x + 1)
        }
        output.append(0x48)
        cursor = CursorPosition(x: x, y: y)
    }

    private mutating func append(_ text: StaticString) { text.withUTF8Buffer { output += $0 } }
}

extension Cell {
    /// Whether all terminals draw the cell with the same width; they do not for clusters and emoji.
    fileprivate var hasCertainWidth: Bool {
        let first = UInt8(truncatingIfNeeded: glyph)
        // The lead byte gives the length of one scalar; F0 9F begins the planes of emoji.
        let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
        let isCluster = length < 8 && glyph >> UInt64(8 * length) != 0
        return !isCluster && glyph & 0xFFFF != 0x9FF0
    }
}

extension [UInt8] {
    mutating func appendDecimal(_ number: Int) {
        if number >= 10 { appendDecimal(number / 10) }
        append(0x30 + UInt8(number % 10))
    }
}

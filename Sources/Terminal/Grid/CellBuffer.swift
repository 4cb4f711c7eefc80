import Text

/// A frame: a grid of cells on which views draw. Drawing outside the grid or outside ``clip`` has no effect. No cell
/// ever holds half of a wide character: overwriting one half blanks the other.
package struct CellBuffer: Sendable {
    package let size: Size
    /// `nil` if it is hidden.
    package var cursor: CursorPosition?
    /// The area where drawing has an effect; initially the whole grid.
    package var clip: Rect
    /// Row by row.
    private(set) var cells: [Cell]

    package init(_ size: Size) {
        self.size = size
        clip = Rect(size)
        cells = Array(repeating: .blank, count: size.width * size.height)
    }

    package var bounds: Rect { Rect(size) }

    /// The cell at a column and a row. Outside the grid, reading returns a blank and writing does nothing. Setting a
    /// wide cell sets its continuation too; if the continuation does not fit, a blank is set.
    package subscript(x: Int, y: Int) -> Cell {
        get { bounds.contains(x: x, y: y) ? cells[y * size.width + x] : .blank }
        set {
            guard bounds.contains(x: x, y: y), clip.contains(x: x, y: y) else { return }
            put(newValue.isContinuation ? newValue.blanked : newValue, x: x, y: y, visible: visible)
        }
    }

    /// Writes text and returns the columns it used.
    ///
    /// At most `limit` columns from (`x`, `y`) are used, by default those to the right edge of the clip; text that does
    /// not fit is cut and, if `ellipsis`, ends with `…`. Control characters are pictures (`␛`), a tab is four spaces.
    @discardableResult
    package mutating func write(
        _ text: some StringProtocol,
        x: Int,
        y: Int,
        style: Style = .plain,
        limit: Int? = nil,
        ellipsis: Bool = true
    ) -> Int {
        let visible = visible
        let room = min(limit ?? .max, max(visible.maxX - x, 0))
        guard room > 0 else { return 0 }
        let isShown = y >= visible.y && y < visible.maxY
        let bits = style.packed
        var used = 0
        var last = 0
        var isCut = false
        Glyph.each(in: text) { glyph, _ in
            if used + glyph.columns > room {
                isCut = true
                return false
            }
            if isShown {
                let cell = Cell(glyph: glyph.bytes, isWide: glyph.columns == 2, style: bits)
                put(cell, x: x + used, y: y, visible: visible)
            }
            last = used
            used += glyph.columns
            return true
        }
        guard isCut, ellipsis else { return used }
        let place = used < room ? used : last
        if isShown {
            put(Cell(glyph: Glyph.ellipsis.bytes, isWide: false, style: bits), x: x + place, y: y, visible: visible)
        }
        return place + 1
    }

    package mutating func fill(_ rect: Rect, with character: Character = " ", style: Style) {
        let area = rect.intersection(visible)
        let cell = Cell(character, style: style)
        for y in area.y..<area.maxY {
            for x in stride(from: area.x, to: area.maxX, by: max(cell.width, 1)) {
                put(cell, x: x, y: y, visible: area)
            }
        }
    }

    /// Changes the style of some columns of a row, and keeps their characters.
    package mutating func style(_ columns: Range<Int>, y: Int, _ style: Style) {
        for x in columns where !self[x, y].isContinuation { self[x, y] = self[x, y].styled(style) }
    }

    private var visible: Rect { clip.intersection(bounds) }

    /// Sets one cell that is not a continuation, if the cell is in `visible`, and keeps wide characters whole.
    private mutating func put(_ cell: Cell, x: Int, y: Int, visible: Rect) {
        let end = visible.maxX
        guard x < end, y >= visible.y, y < visible.maxY else { return }
        guard x >= visible.x else {
            // The right half of a wide character whose left half is outside.
            if cell.isWide, x + 1 == visible.x, x + 1 < end { put(cell.blanked, x: x + 1, y: y, visible: visible) }
            return
        }
        guard !cell.isWide || x + 1 < end else { return put(cell.blanked, x: x, y: y, visible: visible) }
        let index = y * size.width + x
        let after = index + cell.width
        if cells[index].isContinuation { cells[index - 1] = cells[index - 1].blanked }
        if x + cell.width < size.width, cells[after].isContinuation { cells[after] = cells[after].blanked }
        cells[index] = cell
        if cell.isWide { cells[index + 1] = cell.continuation }
    }
}

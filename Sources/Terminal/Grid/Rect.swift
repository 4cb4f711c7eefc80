/// A number of columns and rows.
package struct Size: Hashable, Sendable {
    /// The columns.
    package var width: Int
    /// The rows.
    package var height: Int

    /// A size; what is negative becomes zero.
    package init(width: Int, height: Int) {
        self.width = max(0, width)
        self.height = max(0, height)
    }
}

/// A place on the grid: column and row, counted from 0.
package struct CursorPosition: Hashable, Sendable {
    /// The column.
    package var x: Int
    /// The row.
    package var y: Int

    /// A place.
    package init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

/// A rectangle of cells.
///
/// Width and height are never negative. The splits clamp what is asked of them to what is there, so a layout of a small
/// screen gives empty rectangles and no special cases.
package struct Rect: Hashable, Sendable {
    /// The first column.
    package var x: Int
    /// The first row.
    package var y: Int
    /// The columns.
    package var width: Int
    /// The rows.
    package var height: Int

    /// A rectangle; a negative width or height becomes zero.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = max(0, width)
        self.height = max(0, height)
    }

    /// The whole of a size.
    package init(_ size: Size) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    /// Whether it holds no cell.
    package var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The first column right of it.
    package var maxX: Int { Rect.end(x, width) }

    /// The first row below it.
    package var maxY: Int { Rect.end(y, height) }

    /// The sum, or the greatest number where there is none.
    private static func end(_ start: Int, _ length: Int) -> Int {
        let (sum, isOver) = start.addingReportingOverflow(length)
        return isOver ? .max : sum
    }

    /// Its columns and rows.
    package var size: Size { Size(width: width, height: height) }

    /// Whether the cell at column `x` and row `y` is in it.
    package func contains(x: Int, y: Int) -> Bool {
        x >= self.x && x < maxX && y >= self.y && y < maxY
    }

    /// What both have; empty where they do not meet.
    package func intersection(_ other: Rect) -> Rect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return Rect(
            x: left,
            y: top,
            width: min(maxX, other.maxX) - left,
            height: min(maxY, other.maxY) - top
        )
    }

    /// The first `rows` rows, and what is below them.
    package func splitTop(_ rows: Int) -> (top: Rect, rest: Rect) {
        let rows = min(max(rows, 0), height)
        return (
            Rect(x: x, y: y, width: width, height: rows),
            Rect(x: x, y: y + rows, width: width, height: height - rows)
        )
    }

    /// What is above the last `rows` rows, and these.
    package func splitBottom(_ rows: Int) -> (rest: Rect, bottom: Rect) {
        let (rest, bottom) = splitTop(height - min(max(rows, 0), height))
        return (rest, bottom)
    }

    /// The first `columns` columns, and what is right of them.
    package func splitLeft(_ columns: Int) -> (left: Rect, rest: Rect) {
        let columns = min(max(columns, 0), width)
        return (
            Rect(x: x, y: y, width: columns, height: height),
            Rect(x: x + columns, y: y, width: width - columns, height: height)
        )
    }
}

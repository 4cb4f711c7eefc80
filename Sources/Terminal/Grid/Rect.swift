package struct Size: Hashable, Sendable {
    package var width: Int
    package var height: Int

    /// Negative numbers become zero.
    package init(width: Int, height: Int) {
        self.width = max(0, width)
        self.height = max(0, height)
    }
}

/// Column and row, from 0.
package struct CursorPosition: Hashable, Sendable {
    package var x: Int
    package var y: Int

    package init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }
}

/// A rectangle of cells. Width and height are never negative. The splits clamp to the available size, so the layout of
/// a small screen has empty rectangles and no special cases.
package struct Rect: Hashable, Sendable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    /// A negative width or height becomes zero.
    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = max(0, width)
        self.height = max(0, height)
    }

    package init(_ size: Size) { self.init(x: 0, y: 0, width: size.width, height: size.height) }

    package var isEmpty: Bool { width <= 0 || height <= 0 }

    package var maxX: Int { Rect.end(x, width) }
    package var maxY: Int { Rect.end(y, height) }

    /// The sum, or `Int.max` if it overflows.
    private static func end(_ start: Int, _ length: Int) -> Int {
        let (sum, isOver) = start.addingReportingOverflow(length)
        return isOver ? .max : sum
    }

    package func contains(x: Int, y: Int) -> Bool { x >= self.x && x < maxX && y >= self.y && y < maxY }

    package func intersection(_ other: Rect) -> Rect {
        let left = max(x, other.x)
        let top = max(y, other.y)
        return Rect(x: left, y: top, width: min(maxX, other.maxX) - left, height: min(maxY, other.maxY) - top)
    }

    package func row(_ row: Int) -> Rect { Rect(x: x, y: y + row, width: width, height: 1) }

    package func splitTop(_ rows: Int) -> (top: Rect, rest: Rect) {
        let top = Rect(x: x, y: y, width: width, height: min(rows, height))
        return (top, Rect(x: x, y: top.maxY, width: width, height: height - top.height))
    }

    package func splitBottom(_ rows: Int) -> (rest: Rect, bottom: Rect) {
        let (rest, bottom) = splitTop(height - min(max(rows, 0), height))
        return (rest, bottom)
    }

    package func splitLeft(_ columns: Int) -> (left: Rect, rest: Rect) {
        let left = Rect(x: x, y: y, width: min(columns, width), height: height)
        return (left, Rect(x: left.maxX, y: y, width: width - left.width, height: height))
    }
}

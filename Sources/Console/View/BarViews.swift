import HTTPModel
import Sharing
import Terminal
import Text

/// The filter: the line that is typed, or what is in force.
enum FilterView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        let title = "filter: "
        let filter = model.filter
        let x = rect.x + screen.write(title, x: rect.x, y: rect.y, style: theme.key, limit: rect.width)
        if filter.isEditing {
            FieldView.draw(filter.line, theme, in: rect.splitLeft(x - rect.x).rest, on: &screen)
            guard rect.height > 1 else { return }
            if !filter.candidates.isEmpty {
                let words = filter.candidates.joined(separator: "  ")
                screen.write(words, x: rect.x + 2, y: rect.y + 1, style: theme.faint, limit: rect.width - 2)
            } else if let error = filter.error {
                drawError(error, filter.line, x, theme, in: rect, on: &screen)
            }
            return
        }
        var parts: [String] = filter.applied.isEmpty ? [] : [filter.applied]
        let query = model.list.query
        if let text = query.bodyText { parts.append("bodies with “\(text)”") }
        if query.only != nil { parts.append("marked") }
        if !query.focusedHosts.isEmpty { parts.append("focus: \(query.focusedHosts.sorted().joined(separator: ", "))") }
        if !query.ignoredHosts.isEmpty {
            parts.append("ignored: \(query.ignoredHosts.sorted().joined(separator: ", "))")
        }
        if let period = query.period { parts.append(TimelineView.words(period)) }
        let count = "  \(model.list.total) of \(model.list.sessionTotal)"
        let room = max(0, rect.maxX - x - count.count)
        let used = screen.write(parts.joined(separator: "  +  "), x: x, y: rect.y, limit: room)
        screen.write(count, x: x + used, y: rect.y, style: theme.faint, limit: max(0, rect.maxX - x - used))
    }

    /// The most rows of an error, with the sign below its column.
    private static let mostErrorRows = 4

    /// How many rows it needs: one, more for an error or for what could be completed.
    static func rows(_ model: ConsoleModel, width: Int) -> Int {
        let filter = model.filter
        guard filter.isEditing else { return filter.error == nil ? 1 : 2 }
        if !filter.candidates.isEmpty { return 2 }
        guard let error = filter.error else { return 1 }
        let text = words(error)
        let place = place(error, filter.line, 8, width)
        if place.map({ $0 + 2 + TextWidth.columns(text) <= width || $0 >= TextWidth.columns(text) + 1 }) == true {
            return 2
        }
        return 1 + min(mostErrorRows, (place == nil ? 0 : 1) + TextWidth.wrap(text, to: max(1, width)).count)
    }

    private static func words(_ error: FilterError) -> String {
        "\(error.message)\(error.suggestion.map { ", \($0)" } ?? "")"
    }

    /// The column of the screen below which the error is, for a line that begins at `x`; `nil` where it is not visible.
    private static func place(_ error: FilterError, _ line: LineEditor, _ x: Int, _ width: Int) -> Int? {
        let before = line.characters.prefix(max(0, error.column - 1))
        let column = x + TextWidth.columns(String(before)) - FieldView.shift(line, width - x)
        return column >= x && column < width ? column : nil
    }

    /// The error, and a sign below its column: the words right of it where they fit, else left of it, else below.
    private static func drawError(
        _ error: FilterError,
        _ line: LineEditor,
        _ x: Int,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let style = theme.style(.failure)
        let text = words(error)
        let width = TextWidth.columns(text)
        let caret = place(error, line, x - rect.x, rect.width).map { rect.x + $0 }
        var y = rect.y + 1
        if let caret, caret + 2 + width <= rect.maxX {
            screen.write("^ \(text)", x: caret, y: y, style: style)
        } else if let caret, caret - rect.x >= width + 1 {
            screen.write("\(text) ^", x: caret - width - 1, y: y, style: style)
        } else {
            if let caret, rect.height > 2 {
                screen.write("^", x: caret, y: y, style: style)
                y += 1
            }
            for row in TextWidth.wrap(text, to: max(1, rect.width)) where y < rect.maxY {
                screen.write(row, x: rect.x, y: y, style: style, limit: rect.width)
                y += 1
            }
        }
    }
}

enum FieldView {
    static func draw(_ line: LineEditor, _ theme: Theme, in rect: Rect, on screen: inout CellBuffer) {
        guard rect.width > 0 else { return }
        let start = start(line, rect.width)
        let text = String(line.characters[start...])
        screen.write(text, x: rect.x, y: rect.y, limit: rect.width, ellipsis: false)
        let column = TextWidth.columns(String(line.characters[start..<line.cursor]))
        screen.cursor = CursorPosition(x: min(rect.x + column, rect.maxX - 1), y: rect.y)
    }

    /// The first visible character: of a line that is too long, the part before the cursor is shown.
    static func start(_ line: LineEditor, _ width: Int) -> Int {
        var start = line.cursor
        var columns = 0
        while start > 0 {
            columns += TextWidth.columns(line.characters[start - 1])
            guard columns < width else { break }
            start -= 1
        }
        return start
    }

    /// How many columns of the line are hidden at the left.
    static func shift(_ line: LineEditor, _ width: Int) -> Int {
        TextWidth.columns(String(line.characters[..<start(line, width)]))
    }
}

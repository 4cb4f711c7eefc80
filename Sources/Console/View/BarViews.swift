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
            guard let error = filter.error, rect.height > 1 else { return }
            drawError(error, filter.line, x, theme, in: rect, on: &screen)
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
        let count = "  \(model.list.total) of \(model.list.sessionTotal)"
        let room = max(0, rect.maxX - x - count.count)
        let used = screen.write(parts.joined(separator: "  +  "), x: x, y: rect.y, limit: room)
        screen.write(count, x: x + used, y: rect.y, style: theme.faint, limit: max(0, rect.maxX - x - used))
    }

    /// The error, and a sign below its column: the words right of it where they fit, else left of it.
    private static func drawError(
        _ error: FilterError,
        _ line: LineEditor,
        _ x: Int,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let style = theme.style(.failure)
        let text = "\(error.message)\(error.suggestion.map { ", \($0)" } ?? "")"
        let before = line.characters.prefix(max(0, error.column - 1))
        let room = rect.maxX - x
        let caret = x + TextWidth.columns(String(before)) - FieldView.shift(line, room)
        let width = TextWidth.columns(text)
        let y = rect.y + 1
        let isVisible = (x..<rect.maxX).contains(caret)
        if isVisible, caret + 2 + width <= rect.maxX {
            screen.write("^ \(text)", x: caret, y: y, style: style)
        } else if isVisible, caret - rect.x >= width + 1 {
            screen.write("\(text) ^", x: caret - width - 1, y: y, style: style)
        } else {
            screen.write(text, x: rect.x, y: y, style: style, limit: rect.width)
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

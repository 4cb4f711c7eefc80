import Sharing
import Terminal
import Text

enum EditorView {
    static func draw(_ editor: EditorState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let remark = remark(editor, model)
        let inner = OverlayView.frame(
            editor.title,
            width: frameWidth,
            height: model.editorRows(editor) + remark.count,
            model,
            on: &screen
        )
        let (body, bottom) = inner.splitBottom(inner.height > 3 ? remark.count : 0)
        let area = editor.area
        let numbers = String(area.lines.count).count + 1
        for (row, part) in area.visibleRows(body.height).enumerated() {
            let y = body.y + row
            let isFirst = part.range.lowerBound == 0
            let label = TextWidth.paddedLeft(isFirst ? String(part.line + 1) : "", to: numbers - 1)
            screen.write(label, x: body.x, y: y, style: theme.faint)
            let text = area.lines[part.line].dropFirst(part.range.lowerBound).prefix(part.range.count)
            screen.write(text, x: body.x + numbers, y: y, limit: max(1, body.width - numbers))
            let isEnd = part.range.upperBound == area.lines[part.line].count
            let hasCursor =
                part.line == area.cursor.line
                && (part.range.contains(area.cursor.column) || isEnd && area.cursor.column == part.range.upperBound)
            guard hasCursor else { continue }
            let before = text.prefix(area.cursor.column - part.range.lowerBound)
            screen.cursor = CursorPosition(x: body.x + numbers + TextWidth.columns(before), y: y)
        }
        guard !bottom.isEmpty else { return }
        let style = editor.isWrong ? theme.style(.failure) : theme.style(.success)
        for (row, line) in remark.prefix(bottom.height).enumerated() {
            screen.write(line, x: bottom.x, y: bottom.y + row, style: style, limit: bottom.width)
        }
    }

    private static let frameWidth = 120

    /// The columns of the text: one is left for the cursor behind the last character.
    static func textWidth(_ editor: EditorState, _ model: ConsoleModel) -> Int {
        let inside = OverlayView.place(width: frameWidth, height: model.size.height, model.size).inside
        return max(1, inside.width - String(editor.area.lines.count).count - 2)
    }

    /// What is said under the text, on two lines at least.
    static func remark(_ editor: EditorState, _ model: ConsoleModel) -> [Substring] {
        let width = OverlayView.place(width: frameWidth, height: model.size.height, model.size).inside.width
        // A text that was edited may match something else.
        let scope = editor.scope.isEmpty || editor.area.isChanged ? [] : ["Matches \(editor.scope)."]
        let words = (scope + [editor.remark]).joined(separator: " ")
        let lines = Array(TextWidth.wrap(words, to: max(1, width)).prefix(max(2, model.size.height / 3)))
        return lines + repeatElement("", count: max(0, 2 - lines.count))
    }
}

import Sharing
import Terminal
import Text

enum EditorView {
    static func draw(_ editor: EditorState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let inner = OverlayView.frame(
            editor.title,
            width: 120,
            height: model.editorRows(editor) + 2,
            model,
            on: &screen
        )
        let (body, bottom) = inner.splitBottom(inner.height > 3 ? 2 : 0)
        let area = editor.area
        let numbers = String(area.lines.count).count + 1
        // Long lines scroll sideways with the cursor.
        let room = max(1, body.width - numbers)
        let before = TextWidth.columns(String(area.lines[area.cursor.line].prefix(area.cursor.column)))
        let shift = max(0, before - room + 1)
        for row in 0..<body.height where area.lines.indices.contains(area.top + row) {
            let number = area.top + row
            let y = body.y + row
            let label = TextWidth.paddedLeft(String(number + 1), to: numbers - 1)
            screen.write(label, x: body.x, y: y, style: theme.faint)
            var line = Substring(area.lines[number])
            if number == area.cursor.line {
                var dropped = 0
                while dropped < shift, let first = line.first {
                    dropped += max(1, TextWidth.columns(first))
                    line = line.dropFirst()
                }
                screen.cursor = CursorPosition(x: body.x + numbers + before - dropped, y: y)
            }
            screen.write(line, x: body.x + numbers, y: y, limit: room)
        }
        guard !bottom.isEmpty else { return }
        let style = editor.isWrong ? theme.style(.failure) : theme.style(.success)
        for (row, line) in TextWidth.wrap(editor.remark, to: bottom.width).prefix(2).enumerated() {
            screen.write(line, x: bottom.x, y: bottom.y + row, style: style, limit: bottom.width)
        }
    }
}

import Description
import Runner
import Terminal
import Text

enum OverlayView {
    static func draw(_ overlay: Overlay, _ model: ConsoleModel, on screen: inout CellBuffer) {
        switch overlay {
        case .picker(let picker): drawPicker(picker, model, on: &screen)
        case .prompt(let prompt): PromptView.draw(prompt, model, on: &screen)
        case .confirm(let confirm): drawConfirm(confirm, model, on: &screen)
        case .report(let report):
            let inner = frame(report.title, width: model.size.width, height: model.size.height, model, on: &screen)
            DocumentView(report.text, wraps: model.wraps, hasCursor: true, model.look, in: inner)?.draw(on: &screen)
        case .editor(let editor): EditorView.draw(editor, model, on: &screen)
        case .panel(let panel): PanelView.draw(panel, model, on: &screen)
        case .holds(let selected): drawHolds(selected, model, on: &screen)
        }
    }

    /// The position of a frame; the raw value is the number of halves of the free rows above the frame.
    enum Place: Int { case top, middle, bottom }

    /// Draws an empty frame, at most as large as the screen and by default in its middle; returns the inside.
    static func frame(
        _ title: String,
        width: Int,
        height: Int,
        at place: Place = .middle,
        _ model: ConsoleModel,
        on screen: inout CellBuffer
    ) -> Rect {
        let theme = model.look.theme
        let (rect, inside) = OverlayView.place(width: width, height: height, at: place, model.size)
        screen.fill(rect, style: .plain)
        screen.cursor = nil
        guard inside != rect else { return rect }
        let line = String(repeating: "─", count: rect.width - 2)
        screen.write("┌\(line)┐", x: rect.x, y: rect.y, style: theme.frame)
        screen.write("└\(line)┘", x: rect.x, y: rect.maxY - 1, style: theme.frame)
        for row in rect.y + 1..<rect.maxY - 1 {
            screen.write("│", x: rect.x, y: row, style: theme.frame)
            screen.write("│", x: rect.maxX - 1, y: row, style: theme.frame)
        }
        if !title.isEmpty {
            screen.write(" \(title) ", x: rect.x + 2, y: rect.y, style: theme.style(.heading), limit: rect.width - 4)
        }
        return inside
    }

    /// The area of a frame and its inside; on a screen that is too small for a frame, both are equal.
    static func place(width: Int, height: Int, at place: Place = .middle, _ size: Size) -> (frame: Rect, inside: Rect) {
        let footer = size.height >= 8 ? 2 : 0
        let outer = Size(width: min(size.width, width + 4), height: min(max(1, size.height - footer), height + 2))
        let x = (size.width - outer.width) / 2
        let y = (size.height - footer - outer.height) * place.rawValue / 2
        let rect = Rect(x: x, y: y, width: outer.width, height: outer.height)
        guard rect.height >= 3, rect.width >= 6 else { return (rect, rect) }
        return (rect, Rect(x: rect.x + 2, y: rect.y + 1, width: rect.width - 4, height: rect.height - 2))
    }

    static func pickerRows(_ picker: PickerState, _ size: Size) -> Rect {
        let below = pickerLines(picker, size).count
        let inside = place(width: 72, height: min(22, picker.items.count + 1) + below, size).inside
        let body = inside.splitTop(1).rest
        return body.splitBottom(min(below, max(0, body.height - 1))).rest
    }

    /// The lines below a picker's rows: why the choice was rejected, or the possible completions.
    private static func pickerLines(_ picker: PickerState, _ size: Size) -> [String] {
        let width = place(width: 72, height: 4, size).inside.width
        let text = picker.problem.isEmpty ? picker.candidates.joined(separator: "  ") : picker.problem
        return text.isEmpty ? [] : TextWidth.wrap(text, to: max(1, width)).map { String($0) }
    }

    static func choiceRows(_ confirm: ConfirmState, _ size: Size) -> Rect {
        let lines = TextWidth.wrap(confirm.question, to: max(10, min(60, size.width - 6)))
        let inside = place(width: 60, height: lines.count + confirm.choices.count + 1, size).inside
        return inside.splitTop(min(inside.height, lines.count + 1)).rest
    }

    static func holdRows(_ count: Int, _ size: Size) -> Rect { place(width: 100, height: max(1, count), size).inside }

    private static func drawPicker(_ picker: PickerState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let matches = picker.matches
        let below = pickerLines(picker, model.size)
        let height = min(22, picker.items.count + 1) + below.count
        let inner = frame(picker.title, width: 72, height: height, model, on: &screen)
        let (top, body) = inner.splitTop(1)
        let used = screen.write("> ", x: top.x, y: top.y, style: theme.key)
        FieldView.draw(picker.line, theme, in: top.splitLeft(used).rest, on: &screen)
        let (list, bottom) = body.splitBottom(min(below.count, max(0, body.height - 1)))
        let style = theme.style(picker.problem.isEmpty ? .faint : .failure)
        for (row, line) in below.prefix(bottom.height).enumerated() {
            screen.write(line, x: bottom.x, y: bottom.y + row, style: style, limit: bottom.width)
        }
        if matches.isEmpty { screen.write("no match", x: list.x, y: list.y, style: theme.faint) }
        for (index, isSelected, line) in rows(matches.count, selected: picker.selected, in: list) {
            let item = matches[index]
            let base = isSelected ? theme.selection : item.disabled == nil ? .plain : theme.faint
            screen.fill(line, style: base)
            let detail = item.disabled ?? item.detail
            let room = max(line.width / 2, line.width - TextWidth.columns(detail) - 1)
            screen.write((isSelected ? "> " : "  ") + item.title, x: line.x, y: line.y, style: base, limit: room)
            let left = max(0, line.width - room)
            let text = TextWidth.paddedLeft(TextWidth.cut(detail, to: left), to: left)
            screen.write(text, x: line.x + room, y: line.y, style: isSelected ? base : theme.faint, limit: left)
        }
    }

    /// The rows of a list that fit in a rectangle, scrolled so that the selected row is visible.
    static func rows(_ count: Int, selected: Int, in rect: Rect) -> [(index: Int, isSelected: Bool, line: Rect)] {
        let start = max(0, selected - rect.height + 1)
        return (start..<max(start, min(count, start + rect.height))).map { ($0, $0 == selected, rect.row($0 - start)) }
    }

    private static func drawConfirm(_ confirm: ConfirmState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let lines = TextWidth.wrap(confirm.question, to: max(10, min(60, model.size.width - 6)))
        let inner = frame("", width: 60, height: lines.count + confirm.choices.count + 1, model, on: &screen)
        for (row, line) in lines.enumerated() where row < inner.height {
            screen.write(line, x: inner.x, y: inner.y + row, limit: inner.width)
        }
        let rows = choiceRows(confirm, model.size)
        for (row, choice) in confirm.choices.prefix(rows.height).enumerated() {
            let used = screen.write(String(choice.key), x: rows.x, y: rows.y + row, style: theme.key)
            screen.write(choice.title, x: rows.x + used + 1, y: rows.y + row, limit: rows.width - used - 1)
        }
    }

    private static func drawHolds(_ selected: String?, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let holds = model.proxy.holds
        let inner = frame("Held messages", width: 100, height: max(1, holds.count), model, on: &screen)
        let index = holds.firstIndex { $0.id == selected }
        for (row, isSelected, line) in rows(holds.count, selected: index ?? -1, in: inner) {
            let hold = holds[row]
            let base = isSelected ? theme.selection : .plain
            screen.fill(line, style: base)
            let status = hold.status.map { " \($0)" } ?? ""
            let text = "\(isSelected ? ">" : " ") \(hold.id)  \(hold.side)\(status)  \(hold.method) \(hold.url)"
            let rest = hold.remaining.map { ", \(hold.unanswered ?? "") in \(Int($0)) s" } ?? ""
            screen.write(text, right: " \(Int(hold.age)) s\(rest)", in: line, style: base)
        }
    }
}

extension CellBuffer {
    /// Writes a text at the left of a line and one at the right; the left text is cut to make room for the right.
    mutating func write(_ left: String, right: String, in line: Rect, style: Style) {
        let room = max(0, line.width - TextWidth.columns(right))
        write(left, x: line.x, y: line.y, style: style, limit: room)
        write(right, x: line.x + room, y: line.y, style: style, limit: line.width - room)
    }
}

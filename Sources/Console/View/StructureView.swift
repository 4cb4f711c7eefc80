import HTTPModel
import Sharing
import Terminal
import Text

/// The tree by host and path.
enum StructureView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let (title, body) = rect.splitTop(1)
        let numbers = 20
        let name = max(0, rect.width - numbers)
        let heading = theme.style(.label).with(.bold)
        screen.write("HOST AND PATH", x: title.x, y: title.y, style: heading, limit: name)
        if name > 0 {
            let titles = TextWidth.paddedLeft("COUNT", to: 9) + TextWidth.paddedLeft("ERRORS", to: 9)
            screen.write(titles, x: title.x + name, y: title.y, style: heading)
        }
        for (line, row) in model.structure.rows.dropFirst(model.structure.top).prefix(body.height).enumerated() {
            let y = body.y + line
            let isSelected = model.structure.top + line == model.structure.selected
            let base = isSelected ? (model.context == .list ? theme.selection : theme.dimSelection) : Style.plain
            screen.fill(body.row(line), style: base)
            let text = String(repeating: "  ", count: row.depth) + label(row, model)
            guard row.exchange == nil, row.more == 0 else {
                screen.write(text, x: body.x, y: y, style: base, limit: rect.width)
                continue
            }
            screen.write(text, x: body.x, y: y, style: base, limit: name - 1)
            let count = TextWidth.paddedLeft(String(row.child.count), to: 9)
            screen.write(count, x: body.x + name, y: y, style: base)
            guard row.child.errors > 0 else { continue }
            let errors = TextWidth.paddedLeft(String(row.child.errors), to: 9)
            let style = base.background == .standard ? theme.style(.failure).with(base.attributes) : base.with(.bold)
            screen.write(errors, x: body.x + name + 9, y: y, style: style)
        }
    }

    /// A place with the sign of a branch, or one of a place's exchanges in a few words.
    private static func label(_ row: StructureState.Row, _ model: ConsoleModel) -> String {
        if row.more > 0 { return "  and \(row.more) more: \(model.way(to: .filter)) narrows them" }
        if let record = row.exchange {
            let mark = model.marked.contains(record.id) ? "*" : ""
            return "  \(mark)#\(record.id) " + SequenceView.words(record, model)
        }
        let sign = !row.isBranch ? " " : row.isOpen ? "▾" : "▸"
        return "\(sign) \(row.child.name.isEmpty ? "/" : row.child.name)"
    }
}

import HTTPModel
import Sharing
import Terminal
import Text

/// The tree by host and path. A place without others below it has the columns of its newest exchange.
enum StructureView {
    /// The columns right of the names, with their widths: those of an exchange where there is room.
    private static func columns(_ width: Int) -> [(title: String, width: Int)] {
        (width < 64 ? [] : [("STATUS", 8), ("SIZE", 9), ("TIME", 9)]) + [("COUNT", 9), ("ERRORS", 9)]
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let (title, body) = rect.splitTop(1)
        let columns = columns(rect.width)
        let name = max(0, rect.width - 2 - columns.reduce(0) { $0 + $1.width })
        let heading = theme.style(.label).with(.bold)
        func draw(_ cells: [(text: String, style: Style)], y: Int) {
            var x = rect.x + name
            for ((_, width), cell) in zip(columns, cells) {
                screen.write(TextWidth.paddedLeft(cell.text, to: width), x: x, y: y, style: cell.style)
                x += width
            }
        }
        screen.write("HOST AND PATH", x: title.x, y: title.y, style: heading, limit: name)
        if name > 0 { draw(columns.map { ($0.title, heading) }, y: title.y) }
        for (line, row) in model.structure.rows.dropFirst(model.structure.top).prefix(body.height).enumerated() {
            let y = body.y + line
            let isSelected = model.structure.top + line == model.structure.selected
            let base = isSelected ? (model.context == .list ? theme.selection : theme.dimSelection) : Style.plain
            func style(_ role: Role?) -> Style {
                SequenceView.merged(role.map { theme.style($0) } ?? .plain, onto: base)
            }
            screen.fill(body.row(line), style: base)
            let text = String(repeating: "  ", count: row.depth) + label(row, model)
            let isWhole = row.more > 0 || row.exchange != nil && columns.count == 2
            screen.write(text, x: body.x, y: y, style: base, limit: isWhole ? rect.width : name - 1)
            guard !isWhole else { continue }
            var cells: [(String, Style)] = []
            if columns.count > 2 {
                let record = row.exchange ?? row.child.record
                let status = record.map { SequenceView.status($0, model) }
                cells += [
                    (status?.text ?? "", style(status?.role)), (record.map(SequenceView.size) ?? "", style(.faint)),
                    (record.map { SequenceView.time($0, model) } ?? "", style(.faint)),
                ]
            }
            if row.exchange == nil {
                let errors = row.child.errors
                cells += [(String(row.child.count), base), (errors > 0 ? String(errors) : "", style(.failure))]
            }
            draw(cells, y: y)
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
        return "\(sign) \(row.child.name.isEmpty ? "/" : VisibleText.percentDecoded(row.child.name))"
    }
}

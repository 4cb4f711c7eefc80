import Rules
import Sharing
import Terminal
import Text

enum PanelView {
    /// The place of so many rules.
    static func place(_ count: Int, _ size: Size) -> Rect {
        OverlayView.place(width: 110, height: max(4, count + 1), size).inside
    }

    static func draw(_ panel: PanelState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let rules = model.panelRules(panel.tool)
        let title = "\(panel.tool.title): \(model.describe(panel.tool))"
        let inner = OverlayView.frame(title, width: 110, height: max(4, rules.count + 1), model, on: &screen)
        guard !rules.isEmpty else {
            let words = [
                "No rules yet.", "a makes one, from the selected exchange where there is one.",
                "Rules live in the profile: ctrl-s saves it.",
            ]
            for (row, line) in words.enumerated() where row < inner.height {
                screen.write(line, x: inner.x, y: inner.y + row, style: theme.faint, limit: inner.width)
            }
            return
        }
        for (index, isSelected, line) in OverlayView.rows(rules.count, selected: panel.selected, in: inner) {
            let rule = rules[index]
            let base = isSelected ? theme.selection : rule.isEnabled ? .plain : theme.faint
            screen.fill(line, style: base)
            let name = rule.name.map { "\($0): " } ?? ""
            let text = "\(isSelected ? ">" : " ") [\(rule.isEnabled ? "x" : " ")] \(name)\(rule.summary)"
            screen.write(text, x: line.x, y: line.y, style: base, limit: line.width)
            guard let problem = rule.problem else { continue }
            let width = min(TextWidth.columns(problem), line.width / 2)
            screen.write(problem, x: line.maxX - width, y: line.y, style: theme.style(.failure), limit: width)
        }
    }
}

import Runner
package import Terminal
import Text

/// Draws the model, without deciding or changing anything.
package enum ConsoleView {
    /// The smallest screen that is drawn at all.
    package static let smallest = Size(width: 12, height: 2)

    package static func draw(_ model: ConsoleModel) -> CellBuffer {
        var screen = CellBuffer(model.size)
        guard model.size.width >= smallest.width, model.size.height >= smallest.height else {
            screen.write("too small", x: 0, y: 0)
            return screen
        }
        let layout = Layout(model)
        TitleView.draw(model, in: layout.title, on: &screen)
        HoldsView.draw(model, in: layout.holds, on: &screen)
        if layout.list.isEmpty {
            // The detail has all the room.
        } else if model.list.total == 0 || (model.view == .structure && model.structure.rows.isEmpty) {
            EmptyView.draw(model, in: layout.list, on: &screen)
        } else if model.view == .sequence {
            SequenceView.draw(model, in: layout.list, on: &screen)
        } else if model.view == .timeline {
            TimelineView.draw(model, in: layout.list, on: &screen)
        } else {
            StructureView.draw(model, in: layout.list, on: &screen)
        }
        let divider: Character = layout.divider.height > 1 ? "│" : "─"
        screen.fill(layout.divider, with: divider, style: model.look.theme.frame)
        DetailView.draw(model, in: layout.detail, on: &screen)
        FilterView.draw(model, in: layout.filter, on: &screen)
        StatusView.draw(model, in: layout.status, on: &screen)
        FooterView.draw(model, in: layout.footer, on: &screen)
        NoticeView.draw(model, layout, on: &screen)
        for overlay in model.overlays { OverlayView.draw(overlay, model, layout, on: &screen) }
        return screen
    }

}

/// The first line: the source, and the view.
enum TitleView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        screen.fill(rect, style: theme.bar)
        screen.write(name, x: rect.x, y: rect.y, style: theme.bar.with(.bold), limit: rect.width)
        var x = rect.x + name.count
        for (view, tab, range) in tabs(model) {
            let style = model.view == view ? theme.bar.with([.bold, .underline]) : theme.bar
            screen.write(
                tab,
                x: rect.x + range.lowerBound,
                y: rect.y,
                style: style,
                limit: rect.width - range.lowerBound
            )
            x = rect.x + range.upperBound + 1
        }
        let right = TextWidth.cutMiddle(source(model), to: max(0, rect.maxX - x - 2))
        screen.write(right, x: rect.maxX - TextWidth.columns(right) - 1, y: rect.y, style: theme.bar)
    }

    private static let name = " Sluice "

    /// The names of the views, and their columns in the line.
    static func tabs(_ model: ConsoleModel) -> [(view: ConsoleModel.ListView, text: String, range: Range<Int>)] {
        var x = name.count
        return ConsoleModel.ListView.allCases.map { view in
            let word = view.rawValue.capitalizedFirst
            let text = model.view == view ? "[\(word)]" : " \(word) "
            defer { x += text.count + 1 }
            return (view, text, x..<x + text.count)
        }
    }

    private static func source(_ model: ConsoleModel) -> String {
        switch model.source {
        case .live:
            model.proxy.session.map { model.proxy.recordingProblem == nil ? "recording to \($0)" : "stopped: \($0)" }
                ?? "not recording"
        case .demo: "demo: traffic of its own"
        case .attached(let canSteer): "attached\(canSteer ? "" : " (view only)"): \(model.proxy.session ?? "")"
        case .recorded(let name): name
        }
    }
}

/// The held messages, above the list.
enum HoldsView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let style = model.look.theme.alert
        screen.fill(rect, style: style)
        let holds = model.proxy.holds
        for row in 0..<rect.height where holds.indices.contains(row) {
            let isLast = row == rect.height - 1 && holds.count > rect.height
            let hold = holds[row]
            let more = isLast ? " (and \(holds.count - rect.height) more)" : ""
            let text = " HELD \(hold.id) \(hold.side) \(hold.method) \(hold.url)"
            let ways = "\(model.way(to: .holds)) shows it, \(model.way(to: .executeAll)) executes all"
            screen.write(text, right: " \(Int(hold.age)) s\(more)  \(ways) ", in: rect.row(row), style: style)
        }
    }
}

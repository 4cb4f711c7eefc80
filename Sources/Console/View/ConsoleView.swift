package import Terminal
import Text

/// Draws the model, without deciding or changing anything.
package enum ConsoleView {
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
        if !layout.list.isEmpty { drawList(model, in: layout.list, on: &screen) }
        let divider: Character = layout.divider.height > 1 ? "│" : "─"
        screen.fill(layout.divider, with: divider, style: model.look.theme.frame)
        DetailView.draw(model, in: layout.detail, on: &screen)
        FilterView.draw(model, in: layout.filter, on: &screen)
        StatusView.draw(model, in: layout.status, on: &screen)
        FooterView.draw(model, in: layout.footer, on: &screen)
        NoticeView.draw(model, layout, on: &screen)
        for overlay in model.overlays { OverlayView.draw(overlay, model, on: &screen) }
        return screen
    }

    private static func drawList(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        if model.list.total == 0 { return EmptyView.draw(model, in: rect, on: &screen) }
        switch model.view {
        case .structure where model.structure.rows.isEmpty: EmptyView.draw(model, in: rect, on: &screen)
        case .structure: StructureView.draw(model, in: rect, on: &screen)
        case .sequence: SequenceView(model: model).draw(in: rect, on: &screen)
        case .timeline: TimelineView.draw(model, in: rect, on: &screen)
        }
    }
}

enum TitleView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        screen.fill(rect, style: theme.bar)
        screen.write(name, x: rect.x, y: rect.y, style: theme.bar.with(.bold), limit: rect.width)
        var x = rect.x + name.count
        for (view, tab, range) in tabs(model) {
            let style = model.view == view ? theme.bar.with([.bold, .underline]) : theme.bar
            screen.write(tab, x: rect.x + range.lowerBound, y: rect.y, style: style)
            x = rect.x + range.upperBound + 1
        }
        let right = TextWidth.cutMiddle(source(model), to: max(0, rect.maxX - x - 2))
        screen.write(right, x: rect.maxX - TextWidth.columns(right) - 1, y: rect.y, style: theme.bar)
    }

    private static let name = " Sluice "

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
        case .demo: "demo traffic"
        case .attached(let canSteer): "attached\(canSteer ? "" : " (view only)"): \(model.proxy.session ?? "")"
        case .recorded(let name): name
        }
    }
}

package struct Layout: Sendable, Hashable {
    /// The line with the tabs; empty on small screens.
    package var title = Rect(x: 0, y: 0, width: 0, height: 0)
    package var holds = Rect(x: 0, y: 0, width: 0, height: 0)
    /// List or tree, with its column titles.
    package var list = Rect(x: 0, y: 0, width: 0, height: 0)
    /// The line between the list and the detail beside it; empty if the detail, headed by its page names, is below.
    package var divider = Rect(x: 0, y: 0, width: 0, height: 0)
    package var detail = Rect(x: 0, y: 0, width: 0, height: 0)
    package var filter = Rect(x: 0, y: 0, width: 0, height: 0)
    package var status = Rect(x: 0, y: 0, width: 0, height: 0)
    package var footer = Rect(x: 0, y: 0, width: 0, height: 0)

    static let besideFrom = 110
    static let belowFrom = 18

    package init(_ model: ConsoleModel, withDetail: Bool? = nil) {
        var rest = Rect(model.size)
        if model.size.height >= 8 {
            (rest, footer) = rest.splitBottom(min(FooterView.rows(model), model.size.height / 4))
        }
        if model.size.height >= 4 { (rest, status) = rest.splitBottom(StatusView.rows(model)) }
        if model.filter.isEditing || !model.filter.applied.isEmpty || model.list.query.isNarrowed {
            let rows = model.size.height < 10 ? 1 : FilterView.rows(model, width: rest.width)
            (rest, filter) = rest.splitBottom(rows)
        }
        if model.size.height >= 12 { (title, rest) = rest.splitTop(1) }
        let waiting = model.proxy.holds.count
        if waiting > 0, model.size.height >= 6 {
            (holds, rest) = rest.splitTop(min(waiting, model.size.height >= 24 ? 3 : 1))
        }
        guard withDetail ?? model.detail.isOpen else {
            list = rest
            return
        }
        if model.layout == .detail {
            detail = rest
        } else if model.size.width >= Layout.besideFrom {
            let width = min(max(30, rest.width * model.split / 1000), rest.width - 31)
            let (left, right) = rest.splitLeft(rest.width - width)
            list = left
            (divider, detail) = right.splitLeft(1)
        } else if rest.height >= Layout.belowFrom - 4 {
            let height = min(max(5, rest.height * model.splitBelow / 1000), rest.height - 4)
            (list, detail) = rest.splitTop(rest.height - height)
        } else {
            detail = rest
        }
    }

    var isBelow: Bool { !list.isEmpty && !detail.isEmpty && divider.isEmpty }

    /// A page with fewer rows than this has its headers folded, so that the body is visible.
    static let fewRows = 28

    /// The number of exchanges that the list can show: its height without the column titles.
    package var listRows: Int { max(0, list.height - 1) }
}

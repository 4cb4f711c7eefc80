import Sharing
import Terminal

/// The open exchange: the names of its pages, and the lines of one.
enum DetailView {
    /// The names of the pages above the lines, and their columns.
    static func tabs(_ model: ConsoleModel, width: Int) -> [(page: DetailPage, text: String, range: Range<Int>)] {
        var x = 0
        var tabs: [(page: DetailPage, text: String, range: Range<Int>)] = []
        for (index, page) in model.detail.pages.enumerated() {
            let isOpen = page == model.detail.options.page
            let name = width < 60 && !isOpen ? "\(index + 1)" : "\(index + 1) \(page.rawValue)"
            let text = isOpen ? "[\(name)]" : " \(name) "
            guard x + text.count <= width else { break }
            tabs.append((page, text, x..<x + text.count))
            x += text.count
        }
        return tabs
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        let (top, body) = rect.splitTop(1)
        let hasKeys = model.context == .detail
        for tab in tabs(model, width: rect.width) {
            let isOpen = tab.page == model.detail.options.page
            let selection = hasKeys ? theme.selection : theme.dimSelection
            let style = isOpen ? selection.with(.bold) : theme.style(.label)
            screen.write(tab.text, x: top.x + tab.range.lowerBound, y: top.y, style: style, limit: tab.range.count)
        }
        let used = tabs(model, width: rect.width).last?.range.upperBound ?? 0
        let right = "\(model.detail.id.map { "#\($0) " } ?? "")\(version(model))"
        if rect.width - used > right.count {
            screen.write(right, x: top.maxX - right.count, y: top.y, style: theme.faint)
        }
        guard let document = model.detail.document else {
            screen.write("reading …", x: body.x, y: body.y, style: theme.faint)
            return
        }
        DocumentView.draw(
            document,
            model.detail.reading,
            sought: model.detail.sought,
            hasCursor: hasKeys,
            theme,
            in: body,
            on: &screen
        )
    }

    private static func version(_ model: ConsoleModel) -> String {
        guard [.request, .response].contains(model.detail.options.page) else { return "" }
        return "\(model.detail.options.bodyForm.rawValue), as \(model.detail.options.version.rawValue)"
    }
}

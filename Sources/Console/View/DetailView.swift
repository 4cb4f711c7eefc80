import Sharing
import Terminal
import Text

/// The open exchange: the names of its pages, and the lines of one.
enum DetailView {
    typealias Tab = (page: DetailPage, text: String, range: Range<Int>)

    /// The names of the pages above the lines, and their columns: whole names, where these do not fit short ones, where
    /// these do not fit either only the numbers.
    static func tabs(_ model: ConsoleModel, width: Int) -> [Tab] {
        let namings: [(DetailPage) -> String] = [
            { " \($0.rawValue)" }, { $0 == model.detail.page ? " \($0.rawValue)" : " \($0.short)" },
            { " \($0.short)" }, { _ in "" },
        ]
        let rows = namings.lazy.map { tabs(model, naming: $0) }
        return rows.first { ($0.last?.range.upperBound ?? 0) <= width } ?? []
    }

    private static func tabs(_ model: ConsoleModel, naming: (DetailPage) -> String) -> [Tab] {
        var x = 0
        return model.detail.pages.enumerated().map { index, page in
            let name = "\(index + 1)\(naming(page))"
            let text = page == model.detail.page ? "[\(name)]" : " \(name) "
            defer { x += text.count }
            return (page, text, x..<x + text.count)
        }
    }

    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        guard !rect.isEmpty else { return }
        let theme = model.look.theme
        let (top, body) = rect.splitTop(1)
        let hasKeys = model.context == .detail
        // Below the list, the names are in the line between the two.
        if top.y > 0, Layout(model).isBelow { screen.fill(top, with: "─", style: theme.frame) }
        let tabs = tabs(model, width: rect.width)
        for tab in tabs {
            let selection = hasKeys ? theme.selection : theme.dimSelection
            let style = tab.page == model.detail.page ? selection.with(.bold) : theme.style(.label)
            screen.write(tab.text, x: top.x + tab.range.lowerBound, y: top.y, style: style, limit: tab.range.count)
        }
        let used = tabs.last?.range.upperBound ?? 0
        let number = model.detail.id.map { "#\($0)" } ?? ""
        // The number is the last to give way.
        if let right = [" \(version(model))\(number)", " \(number)"].first(where: { rect.width - used > $0.count }) {
            screen.write(right, x: top.maxX - right.count, y: top.y, style: theme.faint)
        }
        guard let document = model.detail.document else {
            screen.write("reading …", x: body.x, y: body.y, style: theme.faint)
            return
        }
        let view = DocumentView(
            document: document,
            found: model.detail.found,
            wraps: model.wraps,
            hasCursor: hasKeys,
            look: model.look
        )
        view.draw(model.detail.reading, in: body, on: &screen)
    }

    /// Only what is not as usual.
    private static func version(_ model: ConsoleModel) -> String {
        var words: [String] = []
        if let form = model.detail.document?.bodyForm, form != .pretty { words.append(form.rawValue) }
        if [.request, .response].contains(model.detail.page) {
            words.append("as \(model.detail.options.version.rawValue)")
        }
        if model.detail.reading.follows, model.detail.document?.isUnfinished == true { words.append("following") }
        return words.isEmpty ? "" : words.joined(separator: ", ") + " "
    }
}

extension DetailPage {
    /// The name where there is little room.
    var short: String {
        switch self {
        case .overview: "over"
        case .request: "req"
        case .response: "resp"
        case .messages: "msgs"
        case .difference: "diff"
        }
    }
}

import Sharing
import Terminal
import Text

/// The open exchange: the names of its pages, and the lines of one.
enum DetailView {
    /// The narrowest detail in which request and response are shown beside each other.
    static let besideFrom = 160

    /// The places of the page that has the keys and of the one beside it, if there is one; the request is at the left.
    static func halves(_ model: ConsoleModel, in body: Rect) -> (own: Rect, other: Rect?) {
        guard body.width >= besideFrom, let other = model.detail.beside?.shown?.page,
            other == model.detail.page.counterpart
        else { return (body, nil) }
        let (left, rest) = body.splitLeft((body.width - 1) / 2)
        let right = rest.splitLeft(1).1
        return other == .request ? (right, left) : (left, right)
    }

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
        let hasOther = halves(model, in: body).other != nil
        let tabs = tabs(model, width: rect.width)
        for tab in tabs {
            let selection = hasKeys ? theme.selection : theme.dimSelection
            let isBeside = hasOther && tab.page == model.detail.page.counterpart
            let style =
                tab.page == model.detail.page
                ? selection.with(.bold) : isBeside ? theme.dimSelection : theme.style(.label)
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
        func draw(
            _ document: DetailDocument,
            _ found: FoundPlaces?,
            _ reading: ReadingState,
            in rect: Rect,
            _ own: Bool
        ) {
            let view = DocumentView(
                document: document,
                found: found,
                wraps: model.wraps,
                hasCursor: hasKeys && own,
                look: model.look
            )
            view.draw(reading, in: rect, on: &screen)
        }
        let (own, other) = halves(model, in: body)
        draw(document, model.detail.found, model.detail.reading, in: own, true)
        guard let other, let beside = model.detail.beside, let document = beside.document else { return }
        let between = Rect(x: min(own.maxX, other.maxX), y: body.y, width: 1, height: body.height)
        screen.fill(between, with: "│", style: theme.frame)
        draw(document, beside.found, beside.reading, in: other, false)
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

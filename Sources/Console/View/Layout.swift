package import Terminal

/// The places of everything on the screen.
package struct Layout: Sendable, Hashable {
    /// The line with the tabs; empty on small screens.
    package var title = Rect(x: 0, y: 0, width: 0, height: 0)
    package var holds = Rect(x: 0, y: 0, width: 0, height: 0)
    /// List or tree with the titles of its columns.
    package var list = Rect(x: 0, y: 0, width: 0, height: 0)
    /// The line between list and detail beside it; below it, the names of the detail's pages are that line.
    package var divider = Rect(x: 0, y: 0, width: 0, height: 0)
    package var detail = Rect(x: 0, y: 0, width: 0, height: 0)
    package var filter = Rect(x: 0, y: 0, width: 0, height: 0)
    package var status = Rect(x: 0, y: 0, width: 0, height: 0)
    package var footer = Rect(x: 0, y: 0, width: 0, height: 0)

    /// The narrowest screen with the detail beside the list.
    static let besideFrom = 110
    /// The lowest screen with the detail below the list.
    static let belowFrom = 18

    package init(_ model: ConsoleModel) { self.init(model, withDetail: model.detail.isOpen) }

    /// The layout with an exchange open, or without one.
    init(_ model: ConsoleModel, withDetail isOpen: Bool) {
        var rest = Rect(Size(width: model.size.width, height: model.size.height))
        if model.size.height >= 8 {
            let rows = FooterView.rows(model)
            (rest, footer) = rest.splitBottom(min(rows, model.size.height / 4))
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
        guard isOpen else {
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

    /// Fewer rows for a page than this are few: its headers are folded, so that the body is seen.
    static let fewRows = 28

    /// The exchanges that the list shows: its height without the titles of the columns.
    package var listRows: Int { max(0, list.height - 1) }
}

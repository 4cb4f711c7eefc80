import Sharing
import Terminal
import Text

extension ConsoleModel {
    /// The notice that the status line shows now; a running job, and how to stop it, matters more than an older one.
    var shownNotice: Notice? {
        if let pinned = notices.last(where: \.isPinned) { return pinned }
        let answer = notices.last { !$0.isNews }.flatMap { now - $0.at < Notice.read ? $0 : nil }
        guard let notice = answer ?? notices.last, !notice.isRead else { return nil }
        let running = jobs.last { now - $0.startedAt > 300_000 }
        let isOld = running.map { notice.at <= $0.startedAt } ?? false
        return now - notice.at < Notice.shown && !isOld ? notice : nil
    }
}

/// A notice that is longer than the status line: it takes the footer's rows too.
enum NoticeView {
    static func draw(_ model: ConsoleModel, _ layout: Layout, on screen: inout CellBuffer) {
        let rect = layout.status
        guard let notice = model.shownNotice, rect.width > 20, TextWidth.columns(notice.text) + 2 > rect.width else {
            return
        }
        let theme = model.look.theme
        let style = StatusView.style(notice, theme)
        let rows = rect.height + layout.footer.height
        var lines = TextWidth.wrap(notice.text, to: rect.width - 2).map(String.init)
        if lines.count > rows, rows > 0 {
            let rest = " … \(model.way(to: .messages)) says all"
            lines = Array(lines.prefix(rows))
            lines[rows - 1] = TextWidth.cut(lines[rows - 1], to: rect.width - 2 - rest.count, ellipsis: "") + rest
        }
        for (row, line) in lines.enumerated() {
            let place = Rect(x: rect.x, y: rect.y + row, width: rect.width, height: 1)
            screen.fill(place, style: theme.bar)
            screen.write(" \(line)", x: place.x, y: place.y, style: style, limit: place.width)
        }
    }
}

import Terminal

/// The exchange that is open: its pages' names and the lines of one.
enum DetailView {
    /// The pages' names above the lines, and where they are.
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
            let style =
                isOpen ? (hasKeys ? theme.selection.with(.bold) : theme.dimSelection.with(.bold)) : theme.style(.label)
            screen.write(tab.text, x: top.x + tab.range.lowerBound, y: top.y, style: style, limit: tab.range.count)
        }
        let used = tabs(model, width: rect.width).last?.range.upperBound ?? 0
        let right = "\(model.detail.id.map { "#\($0) " } ?? "")\(stand(model))"
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

    private static func stand(_ model: ConsoleModel) -> String {
        guard [.request, .response].contains(model.detail.options.page) else { return "" }
        return "\(model.detail.options.bodyForm.rawValue), as \(model.detail.options.stand.rawValue)"
    }
}

/// The lines of a document, from where the reader is.
enum DocumentView {
    static func draw(
        _ document: DetailDocument,
        _ reading: ReadingState,
        sought: String,
        hasCursor: Bool,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let visible = document.folded(reading.folds)
        let found = sought.isEmpty ? [] : Set(document.matches(of: sought))
        var y = rect.y
        for (index, number) in visible.enumerated().dropFirst(max(0, reading.top)) {
            guard y < rect.maxY else { break }
            let line = document.lines[number]
            let isCursor = hasCursor && index == reading.cursor
            let sign: Character =
                line.fold == nil
                ? (found.contains(number) ? "»" : isCursor ? ">" : " ")
                : reading.folds.contains(number) ? "▸" : "▾"
            screen[rect.x, y] = Cell(sign, style: isCursor ? theme.key : theme.faint)
            let area = Rect(x: rect.x + 1, y: y, width: rect.width - 1, height: rect.maxY - y)
            let spans = reading.folds.contains(number) ? line.foldedSpans : line.spans
            let rows = draw(spans, line, isCursor, theme, in: area, on: &screen)
            y += rows
        }
    }

    /// Draws one line, over several rows where it wraps; returns how many.
    private static func draw(
        _ spans: [Span],
        _ line: DetailLine,
        _ isCursor: Bool,
        _ theme: Theme,
        in rect: Rect,
        on screen: inout CellBuffer
    ) -> Int {
        guard rect.width > 0 else { return 1 }
        let indent = min(line.indent, rect.width / 2)
        var x = rect.x + indent
        var row = 0
        for span in spans {
            var style = span.pixels.map { Style(.palette($0.0), on: .palette($0.1)) } ?? theme.style(span.role)
            if isCursor { style = style.with(.bold) }
            var rest = Substring(span.text)
            while !rest.isEmpty, row < rect.height {
                let room = rect.maxX - x
                let columns = TextWidth.columns(rest)
                if columns <= room {
                    x += screen.write(rest, x: x, y: rect.y + row, style: style, limit: room)
                    break
                }
                guard line.wraps else {
                    screen.write(rest, x: x, y: rect.y + row, style: style, limit: room)
                    return row + 1
                }
                let head = TextWidth.cut(rest, to: room, ellipsis: "")
                if head.isEmpty, x == rect.x + indent { return row + 1 }
                screen.write(head, x: x, y: rect.y + row, style: style, limit: room, ellipsis: false)
                rest = rest.dropFirst(head.count)
                row += 1
                x = rect.x + indent
            }
        }
        return row + 1
    }
}

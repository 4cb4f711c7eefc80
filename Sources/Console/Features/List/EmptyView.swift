import Description
import HTTPModel
import Terminal
import Text

enum EmptyView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        func text(in rect: Rect) -> (lines: [DetailLine], count: Int, isWhole: Bool) {
            let width = max(1, rect.width - 2)
            return fitting(blocks(model, width: width), Size(width: width, height: rect.height))
        }
        let whole = text(in: rect)
        let address = isWaiting(model) ? model.proxy.forward.flatMap { PhonePage.address($0) } : nil
        guard let address, let code = PhonePage.rows(address, model.look), code.count < rect.height else {
            return draw(whole.lines, model, in: rect, on: &screen)
        }
        let columns = code.map { $0.reduce(0) { $0 + $1.text.columns } }.max() ?? 0
        let picture = code.map { DetailLine($0, wraps: false) }
        let used = whole.lines.count + 1
        if used + code.count <= rect.height, columns + 2 <= rect.width {
            draw(whole.lines, model, in: rect, on: &screen)
            let place = Rect(x: rect.x + 2, y: rect.y + used, width: columns, height: code.count)
            return draw(picture, model, in: place, on: &screen)
        }
        // Beside the code the text is narrower; the code is drawn only if the text still fits.
        let (left, right) = rect.splitLeft(max(0, rect.width - columns - 2))
        let beside = text(in: left)
        guard left.width >= 32, beside.isWhole || !whole.isWhole && beside.count == whole.count else {
            return draw(whole.lines, model, in: rect, on: &screen)
        }
        draw(beside.lines, model, in: left, on: &screen)
        draw(picture, model, in: right.splitTop(1).rest, on: &screen)
    }

    private static func draw(_ lines: [DetailLine], _ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        for (row, line) in lines.enumerated() where row < rect.height {
            var x = rect.x + line.indent
            for span in line.spans where x < rect.maxX {
                let style = model.look.theme.style(span)
                x += screen.write(span.text, x: x, y: rect.y + row, style: style, limit: rect.maxX - x)
            }
        }
    }

    /// The lines of as many blocks as fit, always including the first block; empty lines between them if these fit too.
    static func fitting(_ blocks: [[DetailLine]], _ size: Size) -> (lines: [DetailLine], count: Int, isWhole: Bool) {
        var left = size.height
        var kept: [[DetailLine]] = []
        for block in blocks {
            let lines = block.flatMap { wrapped($0, size.width) }
            guard kept.isEmpty || lines.count <= left else { continue }
            left -= lines.count
            kept.append(lines)
        }
        // The first blocks are the most important: they get the empty lines.
        let lines = kept.enumerated().flatMap { index, block in (index < left ? [DetailLine([])] : []) + block }
        return (Array(lines.prefix(max(size.height, 1))), kept.count, kept.count == blocks.count)
    }

    /// Wraps a line with one span; lines with several spans are cut when they are drawn.
    private static func wrapped(_ line: DetailLine, _ width: Int) -> [DetailLine] {
        guard line.wraps, line.spans.count == 1, let span = line.spans.first else { return [line] }
        let rows = TextWidth.wrap(span.text, to: max(1, width - line.indent))
        return rows.map { DetailLine([Span(String($0), span.role)], indent: line.indent) }
    }

    static func isWaiting(_ model: ConsoleModel) -> Bool {
        model.isLive && model.list.sessionTotal == 0 && model.proxy.problem == nil && !model.proxy.address.isEmpty
    }

    static func blocks(_ model: ConsoleModel, width: Int) -> [[DetailLine]] {
        if model.list.progress != nil, model.list.sessionTotal > 0 {
            return [[line("Searching the session …", .faint)]]
        }
        if model.list.sessionTotal > 0 { return emptyResult(model) }
        if let problem = model.proxy.problem { return [[line(problem, .failure)]] }
        guard model.isLive else { return [[line("This session has no exchanges.", .faint)]] }
        guard !model.proxy.address.isEmpty else { return [[line("Starting …", .faint)]] }
        return firstSteps(model, width)
    }

    private static func line(_ text: String, _ role: Role = .text, indent: Int = 2) -> DetailLine {
        DetailLine([Span(text, role)], indent: indent)
    }

    private static func emptyResult(_ model: ConsoleModel) -> [[DetailLine]] {
        if model.filter.isEditing, model.filter.error != nil {
            return [[line("The filter has an error; the part before it matches nothing.", .faint)]]
        }
        var blocks: [[DetailLine]] = [[line("None of \(model.list.sessionTotal) exchanges match.", .heading)]]
        if let term = model.list.excludedBy {
            blocks[0] += [line("Nothing matches this term:"), line(term, .warning, indent: 4)]
            if let meant = Filter.term(meantBy: term) {
                blocks[0].append(line("A word alone is looked for in the URL; did you mean \(meant)?"))
            }
        } else if model.list.progress == nil, model.list.query.filter.conjuncts.count > 1 {
            blocks[0].append(line("Each term alone matches some exchanges; none matches all terms."))
        }
        if let remark = model.list.unfinished { blocks.append([line("\(remark.capitalizedFirst).", .warning)]) }
        let query = model.list.query
        let (edit, clear) = (model.way(to: .filter), model.way(to: .clearFilter))
        let isFiltered = model.filter.isEditing || !model.filter.applied.isEmpty || query.bodyText != nil
        if isFiltered || query.period != nil {
            let ways = [Span(edit, .key), Span(" edits the filter, "), Span(clear, .key), Span(" clears it.")]
            blocks.append([DetailLine(ways, indent: 2)])
        }
        if !query.focusedHosts.isEmpty {
            let words = "Focus: only \(ListQuery.names(query.focusedHosts)) is shown. "
            let one = query.focusedHosts.sorted().first ?? ""
            let rest = query.focusedHosts.count > 1 ? ", :focus \(one) that host alone" : ""
            blocks.append([line("\(words)\(clear) removes the focus\(rest).")])
        }
        if !query.ignoredHosts.isEmpty {
            let ignored = ListQuery.names(query.ignoredHosts)
            blocks.append([line("Ignored: \(ignored). \(model.way(to: .unignore)) shows them again.")])
        }
        if query.only != nil {
            blocks.append([line("Only marked exchanges are shown; \(model.way(to: .showMarked)) shows all.")])
        }
        return blocks
    }

    private static func firstSteps(_ model: ConsoleModel, _ width: Int) -> [[DetailLine]] {
        let steps = FirstSteps(model)
        let keys = [
            Span(model.way(to: .help), .key), Span(" help  "), Span(model.way(to: .palette), .key),
            Span(" commands  "), Span(model.way(to: .trust), .key), Span(" trust  "),
            Span("1-\(steps.items.count)", .key), Span(" copy"),
        ]
        let waiting = line("Waiting for traffic on \(steps.everywhere).", .heading)
        return [[waiting, DetailLine(keys, indent: 2)]] + steps.blocks(width: width)
    }
}

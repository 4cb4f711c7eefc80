import HTTPModel
import Sharing
import Terminal
import Text

/// Stands in for an empty list, and says what to do about it.
enum EmptyView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let width = max(1, rect.width - 4)
        let blocks = blocks(model)
        let lines = fitting(blocks, Size(width: width, height: rect.height))
        for (row, line) in lines.enumerated() where row < rect.height {
            draw(line, model, in: rect.row(row).splitLeft(2).rest, on: &screen)
        }
        guard isWaiting(model), let address = PhonePage.address(model.proxy.address),
            let code = PhonePage.rows(address, model.look)
        else { return }
        drawCode(code, below: lines.count, blocks.map(columns).max() ?? 0, model, in: rect, on: &screen)
    }

    private static func draw(_ line: [Span], _ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        var x = rect.x
        for span in line where x < rect.maxX {
            let style = model.look.theme.style(span)
            x += screen.write(span.text, x: x, y: rect.y, style: style, limit: rect.maxX - x)
        }
    }

    /// Draws the code for a phone below the lines or beside them, where all of it fits.
    private static func drawCode(
        _ code: [[Span]],
        below used: Int,
        _ width: Int,
        _ model: ConsoleModel,
        in rect: Rect,
        on screen: inout CellBuffer
    ) {
        let columns = columns(code)
        let isBelow = used + 1 + code.count <= rect.height && columns + 2 <= rect.width
        let isBeside = code.count < rect.height && width + columns + 6 <= rect.width
        guard isBelow || isBeside else { return }
        let (left, top) = isBelow ? (2, used + 1) : (rect.width - columns - 2, 1)
        for (row, line) in code.enumerated() {
            draw(line, model, in: rect.row(top + row).splitLeft(left).rest, on: &screen)
        }
    }

    private static func columns(_ lines: [[Span]]) -> Int {
        lines.map { $0.reduce(0) { $0 + TextWidth.columns($1.text) } }.max() ?? 0
    }

    /// Lines that belong together; of blocks that do not all fit, the later ones are left out.
    typealias Block = [[Span]]

    /// The lines of as many blocks as fit, the first one always, separated by empty lines where those fit too.
    static func fitting(_ blocks: [Block], _ size: Size) -> [[Span]] {
        var left = size.height
        var kept: [Block] = []
        for block in blocks {
            let lines = block.flatMap { wrapped($0, size.width) }
            guard kept.isEmpty || lines.count <= left else { continue }
            left -= lines.count
            kept.append(lines)
        }
        return kept.flatMap { left >= kept.count ? [[]] + $0 : $0 }
    }

    /// A line of one span is wrapped; others are cut where they are drawn.
    private static func wrapped(_ line: [Span], _ width: Int) -> [[Span]] {
        guard line.count == 1, let span = line.first else { return [line] }
        return TextWidth.wrap(span.text, to: width).map { [Span(String($0), span.role)] }
    }

    private static func isWaiting(_ model: ConsoleModel) -> Bool {
        model.isLive && model.list.sessionTotal == 0 && model.proxy.problem == nil && !model.proxy.address.isEmpty
    }

    /// The most important first.
    static func blocks(_ model: ConsoleModel) -> [Block] {
        if model.list.progress != nil, model.list.sessionTotal > 0 {
            return [[[Span("Looking through the session …", .faint)]]]
        }
        if model.list.sessionTotal > 0 { return emptyResult(model) }
        if let problem = model.proxy.problem { return [[[Span(problem, .failure)]]] }
        guard model.isLive else { return [[[Span("This session has no exchanges.", .faint)]]] }
        guard !model.proxy.address.isEmpty else { return [[[Span("Starting …", .faint)]]] }
        return firstSteps(model)
    }

    private static func emptyResult(_ model: ConsoleModel) -> [Block] {
        var blocks: [Block] = [[[Span("No exchange fits, of \(model.list.sessionTotal).", .heading)]]]
        if model.filter.isEditing, model.filter.error != nil {
            return [[[Span("The filter is not finished; the list stays as it was.", .faint)]]]
        }
        if let term = model.list.excludedBy {
            blocks[0].append([Span("This term alone excludes every one:")])
            blocks[0].append([Span("  \(term)", .warning)])
        } else if model.list.progress == nil, model.list.query.filter.conjuncts.count > 1 {
            blocks[0].append([Span("Each term alone fits some; no exchange fits all of them.")])
        }
        let (edit, clear) = (model.way(to: .filter), model.way(to: .clearFilter))
        blocks.append([[Span(edit, .key), Span(" edits the filter, "), Span(clear, .key), Span(" takes it away.")]])
        return blocks
    }

    private static func firstSteps(_ model: ConsoleModel) -> [Block] {
        let address = model.proxy.address
        let port = address.split(separator: ":").last.map(String.init) ?? "8080"
        let authority = model.proxy.authorityPath
        let trust = model.way(to: .trust)
        let phone =
            PhonePage.address(address).map { "proxy: this machine, port \(port); then open \($0)" }
            ?? "start with --listen 0.0.0.0:\(port) --allow NETWORK, so that it reaches this machine"
        return [
            [
                [Span("Waiting for traffic on \(address).", .heading)],
                [
                    Span(model.way(to: .help), .key), Span(" help  "), Span(model.way(to: .palette), .key),
                    Span(" all commands  "), Span(trust, .key), Span(" how to trust it"),
                ],
            ],
            [[Span("curl", .label)]]
                + shellLines(
                    ["--proxy \(address)", "--cacert \(authority)", "https://example.com/"],
                    after: "curl",
                    model
                ),
            [[Span("one program, with everything set for it", .label)], [Span("  sluice run -- npm test", .string)]],
            [[Span("a shell and all it starts", .label)]]
                + shellLines(["http_proxy=http://\(address)", "https_proxy=http://\(address)"], after: "export", model),
            [
                [Span("a browser", .label)],
                [Span("  HTTP proxy \(address); then trust the certificate: \(trust) says how", .string)],
            ],
            [[Span("a phone", .label)], [Span("  \(phone)", .string)]],
        ]
    }

    /// A command that can be copied as it is: where it is too long for a line, it is continued as a shell takes it.
    private static func shellLines(_ words: [String], after command: String, _ model: ConsoleModel) -> [[Span]] {
        let line = "  \(command) \(words.joined(separator: " "))"
        guard TextWidth.columns(line) > model.size.width - 2 else { return [[Span(line, .string)]] }
        return words.enumerated().map { index, word in
            let start = index == 0 ? "  \(command) " : "    "
            return [Span(start + word + (index == words.count - 1 ? "" : " \\"), .string)]
        }
    }
}

import Terminal

/// What stands where there is nothing to list: what to do about it.
enum EmptyView {
    static func draw(_ model: ConsoleModel, in rect: Rect, on screen: inout CellBuffer) {
        let theme = model.look.theme
        for (row, line) in lines(model).enumerated() where row < rect.height {
            var x = rect.x + 2
            for span in line where x < rect.maxX {
                x += screen.write(span.text, x: x, y: rect.y + row, style: theme.style(span.role), limit: rect.maxX - x)
            }
        }
    }

    /// The lines, spans with meanings.
    static func lines(_ model: ConsoleModel) -> [[Span]] {
        if model.list.progress != nil, model.list.sessionTotal > 0 {
            return [[], [Span("Looking through the session …", .faint)]]
        }
        if model.list.sessionTotal > 0 { return emptyResult(model) }
        if let problem = model.proxy.problem { return [[], [Span(problem, .failure)]] }
        guard model.isLive else { return [[], [Span("This session has no exchanges.", .faint)]] }
        guard !model.proxy.address.isEmpty else { return [[], [Span("Starting …", .faint)]] }
        return firstSteps(model)
    }

    private static func emptyResult(_ model: ConsoleModel) -> [[Span]] {
        var lines: [[Span]] = [[], [Span("No exchange fits, of \(model.list.sessionTotal).", .heading)]]
        if let term = model.list.excludedBy {
            lines.append([Span("This term alone excludes every one: "), Span(term, .warning)])
        }
        lines.append([])
        lines.append([Span("/", .key), Span(" edits the filter, "), Span("\\", .key), Span(" takes it away.")])
        return lines
    }

    private static func firstSteps(_ model: ConsoleModel) -> [[Span]] {
        let address = model.proxy.address
        let port = address.split(separator: ":").last.map(String.init) ?? "8080"
        let authority = model.proxy.authorityPath
        let words = ["--proxy \(address)", "--cacert \(authority)", "https://example.com/"]
        let start: [[Span]] = [
            [], [Span("Waiting for traffic on \(address).", .heading)], [], [Span("curl", .label)],
        ]
        return start + curlLines(words, model) + [
            [Span("a shell and all it starts", .label)],
            [Span("  export http_proxy=http://\(address) https_proxy=http://\(address)", .string)],
            [Span("one program, with everything set for it", .label)],
            [Span("  sluice run -- npm test", .string)],
            [Span("a browser or a phone", .label)],
            [
                Span("  HTTP proxy: this machine, port \(port); then trust the certificate: "), Span("!", .key),
                Span(" says how"),
            ],
            [], [Span("?", .key), Span(" help   "), Span(":", .key), Span(" all commands")],
        ]
    }

    /// A command that can be copied as it stands: where it is too long for a line, it goes on as a shell takes it.
    private static func curlLines(_ words: [String], _ model: ConsoleModel) -> [[Span]] {
        let line = "  curl \(words.joined(separator: " "))"
        guard TextWidth.columns(line) > model.size.width - 2 else { return [[Span(line, .string)]] }
        return words.enumerated().map { index, word in
            let start = index == 0 ? "  curl " : "    "
            return [Span(start + word + (index == words.count - 1 ? "" : " \\"), .string)]
        }
    }
}

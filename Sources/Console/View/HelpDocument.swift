/// Help, made from the table of commands and the keys in force.
enum HelpDocument {
    static func make(_ model: ConsoleModel, for place: Context) -> DetailDocument {
        var lines: [DetailLine] = []
        func heading(_ text: String) {
            if !lines.isEmpty { lines.append(DetailLine([])) }
            lines.append(DetailLine([Span(text, .heading)]))
        }
        func line(_ keys: String, _ text: String, _ remark: String?) {
            var spans = [Span(keys.padding(to: 18), .key), Span(text)]
            if let remark { spans.append(Span("  (\(remark))", .faint)) }
            lines.append(DetailLine(spans, indent: 2))
        }
        if place != .list {
            heading("Here")
            for hint in FooterView.hints(model) { line(hint.key, hint.word, nil) }
        }
        for group in CommandEntry.Group.allCases {
            heading(group.rawValue)
            for entry in CommandTable.entries where entry.group == group {
                let context: Context = entry.contexts.contains(.list) ? .list : .detail
                let keys = keys(entry, model, context)
                line(keys.isEmpty ? ": \(entry.command.rawValue)" : keys, entry.title, model.whyNot(entry.command))
            }
        }
        heading("Filter language")
        let examples = [
            ("status:5xx", "the status; also status:404, status>=400"), ("host:api", "part of the host"),
            ("method:POST", "the method"), ("is:error", "what failed"), ("time:>500ms", "slow ones"),
            ("size:>1mb", "large ones"), ("body:token", "text in a body"), ("-host:cdn", "not that host"),
            ("a or b, (a b)", "or, and"),
        ]
        for (expression, text) in examples { line(expression, text, nil) }
        return DetailDocument(lines: lines)
    }

    private static func keys(_ entry: CommandEntry, _ model: ConsoleModel, _ context: Context) -> String {
        let keys = model.keymap.keys(for: entry.command, in: context)
        if entry.command == .ruleFromExchange { return "a + tool's letter" }
        return keys.prefix(entry.command == .toggleTool || entry.command == .panel ? 8 : 3).joined(separator: " ")
    }
}

extension String {
    /// The text with spaces after it up to a number of characters.
    fileprivate func padding(to count: Int) -> String {
        self + String(repeating: " ", count: max(1, count - self.count))
    }
}

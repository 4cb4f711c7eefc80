import HTTPModel
import Sharing

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
            for entry in CommandTable.entries where entry.group == group && entry.form != .lines {
                let context: Context = entry.contexts.contains(.list) ? .list : .detail
                let keys = keys(entry, model, context)
                line(keys.isEmpty ? ": \(entry.command.rawValue)" : keys, entry.title, model.whyNot(entry.command))
            }
        }
        heading("Filter language")
        for (expression, text) in filters { line(expression, text, nil) }
        line("f1", "all of it, while a filter is typed", nil)
        return DetailDocument(lines: lines)
    }

    /// Every key of the filter language, what `is:` takes, and how regular expressions are written.
    static var filterLanguage: DetailDocument {
        var lines: [DetailLine] = []
        func line(_ name: String, _ text: String, _ remark: String = "") {
            let more = remark.isEmpty ? [] : [Span("  \(remark)", .faint)]
            lines.append(DetailLine([Span(name.padding(to: 24), .key), Span(text)] + more, indent: 2))
        }
        func heading(_ text: String) { lines.append(DetailLine([Span(text, .heading)])) }
        heading("Examples")
        for (expression, text) in filters { line(expression, text) }
        heading("Keys")
        for key in Filter.reference { line("\(key.name):\(key.argument)", key.summary, key.example) }
        heading("Regular expressions")
        lines.append(DetailLine([Span(Filter.expressionNote)], indent: 2))
        heading("What is: takes")
        for property in Filter.properties { line("is:\(property.name)", property.summary) }
        return DetailDocument(lines: lines)
    }

    /// Examples of filters, and what they mean.
    static let filters = [
        ("users", "a word in the URL"), ("status:404", "the status; also status:4xx, status:>=400"),
        ("host:api.example.com", "the host"), ("host:*.example.com", "any host like that"), ("path:/v1/*", "the path"),
        ("method:POST", "the method"), ("is:error", "failed, or a status from 400 up; is:failed for no answer"),
        ("path:/^\\/v[12]\\//", "a regular expression"), ("time:>500ms", "slow ones"),
        ("size:>1mb", "large ones"), ("header:\"server: nginx\"", "a field with that in its value"),
        ("body:token", "text in a body"), ("-host:cdn.example.com", "not that host"),
        ("status:5xx or (method:POST time:>1s)", "or, and"),
    ]

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

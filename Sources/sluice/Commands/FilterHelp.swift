import HTTPModel

enum FilterHelp {
    static var text: String {
        let keys = Filter.reference.map { row($0.argument.isEmpty ? $0.name : "\($0.name):\($0.argument)", $0.summary) }
        let facts = Filter.properties.map { row("is:\($0.name)", $0.summary) }
        return """
            A filter is terms side by side, all of which must hold, with 'or', 'not' and parentheses where needed; a bare \
            word is looked for in the URL. For example: host:*.example.com status:5xx time:>500ms

            \((keys + facts).joined(separator: "\n"))

            \(wrapped(Filter.expressionNote, to: 78).joined(separator: "\n"))
            """
    }

    private static func row(_ term: String, _ summary: String) -> String {
        let gap = String(repeating: " ", count: max(2, 24 - term.count))
        let indent = "\n" + String(repeating: " ", count: 26)
        return "  " + term + gap + wrapped(summary, to: 52).joined(separator: indent)
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= width, !lines[lines.count - 1].isEmpty { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}

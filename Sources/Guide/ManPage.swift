package struct ManPage {
    /// For example `sluice-export.1`.
    package let name: String
    package private(set) var text: String

    /// `section` is 1 for commands and 7 for topics.
    package init(_ title: String, section: Int, abstract: String, version: String) {
        name = "\(title).\(section)"
        text = ".TH \(Self.quoted(title.uppercased())) \(section) \"\" \(Self.quoted("Sluice \(version)")) \"Sluice\"\n"
        text += ".SH NAME\n\(Self.escaped(title)) \\- \(Self.escaped(abstract.trimmingSuffix(".")))\n"
    }

    package init(_ page: GuidePage, version: String) {
        self.init("sluice-\(page.topic)", section: 7, abstract: page.title, version: version)
        heading("DESCRIPTION")
        for block in page.blocks { add(block) }
    }

    package mutating func heading(_ title: String) { text += ".SH \(Self.quoted(title))\n" }
    package mutating func paragraph(_ words: String) { text += ".PP\n" + Self.lines(Self.escaped(words)) }

    package mutating func verbatim(_ lines: [String]) {
        text += ".PP\n.RS 4\n.nf\n" + lines.map { Self.line(Self.escaped($0)) + "\n" }.joined() + ".fi\n.RE\n"
    }

    package mutating func option(_ names: String, _ words: String) {
        text += ".TP\n\\fB\(Self.escaped(names))\\fR\n" + Self.lines(Self.escaped(words.isEmpty ? "-" : words))
    }

    private mutating func add(_ block: GuideBlock) {
        switch block {
        case .heading(2, let runs): heading(runs.text)
        case .heading(_, let runs): text += ".SS \(Self.quoted(runs.text))\n"
        case .paragraph(let runs): text += ".PP\n" + Self.lines(Self.roff(runs))
        case .item(let mark, let runs):
            text += ".IP \(mark == "-" ? "\\(bu" : Self.quoted(mark)) 4\n" + Self.lines(Self.roff(runs))
        case .code(_, let lines): verbatim(lines)
        case .table(let rows):
            for row in rows.dropFirst() {
                text += ".TP\n" + Self.line(row.first.map { Self.roff($0) } ?? "") + "\n"
                text += Self.lines(row.dropFirst().map { Self.roff($0) }.joined(separator: "; "))
            }
        case .comment: break
        }
    }

    private static func roff(_ runs: [GuideRun]) -> String {
        runs.map { $0.style == .plain ? escaped($0.text) : "\\fB\(escaped($0.text))\\fR" }.joined()
    }

    private static func quoted(_ text: String) -> String { "\"" + escaped(text).replacing("\"", with: "\\(dq") + "\"" }

    private static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("'", with: "\\(aq")
            .replacing("`", with: "\\(ga").replacing("^", with: "\\(ha").replacing("~", with: "\\(ti")
    }

    /// Escapes a dot, which would begin a macro.
    private static func line(_ text: some StringProtocol) -> String { text.first == "." ? "\\&" + text : String(text) }

    private static func lines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line($0) + "\n" }.joined()
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}

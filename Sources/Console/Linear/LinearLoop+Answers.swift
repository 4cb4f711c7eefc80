import Foundation
import HTTPModel
import Rules
import Runner

/// Writing what a line came to.
extension LinearLoop {
    /// Writes the answer to the last line, once all of it is there.
    func finishAnswer() {
        closeOverlays()
        guard let answer else { return }
        self.answer = nil
        switch answer {
        case .none: break
        case .rows(let count): tellRows(count)
        case .detail: tellDetail()
        case .selected:
            guard !hasFailed, let record = model.list.selectedRecord else { break }
            say(sentence(record))
        case .counts: tellCounts()
        case .structure:
            for (index, row) in model.structure.rows.enumerated() {
                let indent = String(repeating: "  ", count: row.depth)
                let errors = row.child.errors > 0 ? ", \(LinearSentence.count(row.child.errors, "error"))" : ""
                say(
                    "\(index + 1). \(indent)\(row.child.name), \(LinearSentence.count(row.child.count, "exchange"))\(errors)"
                )
            }
            model.view = .sequence
        }
        // What is open stays so for `page` and `find`, but the list is what commands are about.
        model.isDetailFocused = false
    }

    /// Writes what lies over the list, and takes it away; only a question stays until it is answered.
    private func closeOverlays() {
        while let overlay = model.overlays.last {
            switch overlay {
            case .confirm(let question):
                if answer != nil { tell(question) }
                answer = nil
                return
            case .report(let report):
                say("\(report.title):")
                for line in report.document.lines { say(line.plain) }
            case .prompt(let prompt):
                let argument = CommandTable.entry(prompt.command)?.argument ?? ""
                refuse("\(prompt.command.rawValue) needs \(argument): \(prompt.title)")
            case .picker(let picker):
                refuse("\(picker.title): say the command's word and one of these.")
                for item in picker.items {
                    say("\(item.value): \(item.title)\(item.detail.isEmpty ? "" : ", \(item.detail)")")
                }
            case .editor(let editor): tell(editor)
            case .panel(let panel): tellRules(of: panel.tool)
            case .holds:
                for hold in model.proxy.holds { say(LinearSentence.text(hold)) }
            }
            // Writing may have changed what lies there.
            if !model.overlays.isEmpty { model.overlays.removeLast() }
        }
        if model.filter.isEditing {
            model.filter.isEditing = false
            refuse("filter needs EXPRESSION, for example: filter host:api.example.com status:5xx")
        }
    }

    private func tell(_ editor: EditorState) {
        switch editor.purpose {
        case .rule:
            say("\(editor.title):")
            for line in editor.area.lines { say("  \(line)") }
            if !editor.remark.isEmpty { say(editor.isWrong ? editor.remark : "\(editor.remark).") }
            if editor.isWrong { hasFailed = true }
            say("apply puts it in force; discard throws it away.")
            draft = editor
        case .hold, .request:
            if isatty(input.descriptor) == 1 {
                model.overlays.removeLast()
                return edit(editor)
            }
            say("\(editor.title):")
            for line in editor.area.lines { say("  \(line)") }
            if case .hold(let id) = editor.purpose {
                say("edit \(id) NAME=VALUE changes it, for example: edit \(id) method=PUT header=\"X-Mode: test\"")
            } else {
                refuse("An editor needs a terminal; repeat sends the request as it was.")
            }
        }
    }

    // MARK: - Lists

    private func sentence(_ record: ExchangeRecord) -> String {
        LinearSentence.text(
            record,
            isMarked: model.marks.contains(record.id),
            highlight: model.highlight(record)
        )
    }

    private func tellRows(_ count: Int) {
        for record in rows.reversed() {
            guard let record else { continue }
            say(sentence(record))
        }
        rows = []
        tellCounts()
    }

    private func tellCounts() {
        let total = LinearSentence.count(model.list.total, "exchange")
        let isWhole = model.list.total == model.list.sessionTotal
        say(isWhole ? "\(total)." : "\(total) of \(model.list.sessionTotal).")
        if model.list.total == 0, let term = model.list.excludedBy { say("'\(term)' excludes all of them.") }
    }

    private func tellDetail() {
        guard let document = model.detail.document, let id = model.detail.id, model.detail.isOpen else { return }
        let page = model.detail.options.page
        guard model.detail.pages.contains(page) else {
            model.detail.options.page = .overview
            let pages = model.detail.pages.map(\.rawValue).joined(separator: ", ")
            return refuse("Exchange \(id) has no page '\(page.rawValue)'. There are: \(pages).")
        }
        say("Exchange \(id), \(model.detail.options.page.rawValue):")
        for line in document.lines { say(line.plain) }
        let others = model.detail.pages.filter { $0 != model.detail.options.page }.map(\.rawValue)
        say("End of \(model.detail.options.page.rawValue); page \(others.joined(separator: ", ")) shows more.")
    }

    private func tellRules(of tool: Tool) {
        say("\(tool.title): \(model.describe(tool)).")
        for (index, rule) in model.panelRules(tool).enumerated() {
            let problem = rule.problem.map { "; \($0)" } ?? ""
            say("\(index + 1). \(rule.isEnabled ? "on" : "off"), \(rule.summary)\(problem)")
        }
    }

    /// Writes how all is.
    func tellStatus() {
        if let problem = model.proxy.problem {
            say(problem)
        } else if !model.proxy.address.isEmpty {
            say("Listening on \(model.proxy.address).")
        }
        if let session = model.proxy.session ?? effects.services?.session { say("Session \(session).") }
        tellCounts()
        if !model.filter.applied.isEmpty { say("Filter \(model.filter.applied).") }
        if let text = model.list.query.bodyText { say("Bodies with '\(text)'.") }
        if !model.marks.isEmpty { say("Marked: \(model.marks.map(\.description).joined(separator: ", ")).") }
        for tool in Tool.all where model.proxy.tool(tool).map({ $0.rules > 0 }) == true {
            say("\(tool.title): \(model.describe(tool)).")
        }
        if let preset = model.proxy.preset { say("Network: \(preset).") }
        if model.rules.isUnsaved { say("Changed rules are in no file.") }
        for hold in model.proxy.holds { say(LinearSentence.text(hold)) }
    }

    // MARK: - Help

    /// Writes all commands, or what one does.
    func help(_ argument: String?) throws {
        guard let argument else {
            for word in LinearWord.allCases { say(line(word)) }
            for entry in CommandTable.entries where !entry.command.needsScreen { say(line(entry)) }
            say("A word may be cut short as long as it is clear. # begins a remark.")
            say("Sluice ends with 0 where every line was done, else with 1.")
            return
        }
        switch try LinearOrder(argument) {
        case .word(let word, _): say(line(word))
        case .command(let command, _):
            guard let entry = CommandTable.entry(command) else { return }
            say(line(entry))
            if let reason = model.whyNot(command) { say("Not now: \(reason)") }
        case .nothing: throw ConsoleFailure("help takes the word of a command.")
        }
    }

    private func line(_ word: LinearWord) -> String {
        "\(word.rawValue)\(word.argument.isEmpty ? "" : " \(word.argument)"): \(word.title)"
    }

    private func line(_ entry: CommandEntry) -> String {
        "\(entry.command.rawValue)\(entry.argument.isEmpty ? "" : " \(entry.argument)"): \(entry.title)"
    }
}

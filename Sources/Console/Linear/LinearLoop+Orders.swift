import Foundation
import HTTPModel
import Recording
import Rules
import Runner
import Terminal

/// Doing what a line says.
extension LinearLoop {
    /// Takes a line: a command, or the answer to a question.
    func take(_ line: String) {
        if case .confirm(let question)? = model.overlays.last { return decide(question, line) }
        do {
            let order = try LinearOrder(line)
            guard order != .nothing else { return }
            hasFailed = false
            answer = Answer.none
            yieldsToHolds = false
            switch order {
            case .nothing: break
            case .command(let command, let argument): try perform(command, argument)
            case .word(let word, let argument): try perform(word, argument)
            }
        } catch {
            refuse("\(error)")
        }
    }

    private func perform(_ command: Command, _ argument: String?) throws {
        switch command {
        case .help: return try help(argument)
        case .messages:
            for notice in model.notices { say(notice.text) }
            return
        case .open: return try show(argument)
        case .mark: return try mark(argument)
        case .editHold: return try editHold(argument)
        case .ruleFromExchange: return try draftRule(argument)
        case .saveBody: return try saveBody(argument)
        case .saveProfile:
            let file = try argument.map(fileName)
            return change { $0.perform(command, file) }
        case .export:
            let words = (argument ?? "").split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count > 1 else { break }
            let file = try fileName(words[1])
            return change { $0.perform(command, "\(words[0]) \(file)") }
        case .highlight where argument == nil:
            change { $0.perform(command, "") }
            return say("No exchange is highlighted.")
        case .findInDetail: return try find(argument)
        case .next, .previous, .up, .down, .top, .bottom, .goTo: answer = .selected
        case .filter, .clearFilter, .searchBodies, .focusHost, .sort: answer = .counts
        case .switchView:
            model.view = .sequence
            answer = argument.map { "structure".hasPrefix($0.lowercased()) } ?? true ? .structure : .counts
            return change { $0.perform(.switchView, argument ?? "structure") }
        case .page, .nextPage, .previousPage, .bodyForm, .stand: answer = .detail
        case .repeatRequest, .compose, .repeatAdvanced: yieldsToHolds = true
        default: break
        }
        if let argument, CommandTable.entry(command)?.argument.isEmpty != false {
            throw ConsoleFailure("\(command.rawValue) takes nothing after it, but has '\(argument.prefix(40))'.")
        }
        change { $0.perform(command, argument) }
        if hasFailed { answer = Answer.none }
    }

    private func perform(_ word: LinearWord, _ argument: String?) throws {
        switch word {
        case .list:
            let count = argument.map { Int($0) } ?? 20
            guard let count, count > 0, count <= 100_000 else {
                throw ConsoleFailure("list takes a number from 1 to 100000.")
            }
            rows = []
            answer = .rows(count)
            guard model.list.total > 0 else { return }
            perform([.load(0..<min(count, model.list.total), generation: model.list.generation)])
        case .show: try show(argument)
        case .apply: try applyDraft()
        case .discard:
            guard draft != nil else { throw ConsoleFailure("There is no draft.") }
            draft = nil
            say("The draft is gone.")
        case .switchRule: try changeRule(argument, by: Key(.character(" ")), word)
        case .removeRule: try changeRule(argument, by: Key(.character("d")), word)
        case .status: tellStatus()
        case .quiet, .verbose:
            isVerbose = word == .verbose
            say(isVerbose ? "New exchanges are told." : "New exchanges are not told.")
        }
    }

    // MARK: - Exchanges

    private func show(_ argument: String?) throws {
        let words = (argument ?? "").split(separator: " ").map(String.init)
        if let page = words.dropFirst().first {
            guard let page = DetailPage.allCases.first(where: { $0.rawValue.hasPrefix(page.lowercased()) }) else {
                let all = DetailPage.allCases.map(\.rawValue).joined(separator: ", ")
                throw ConsoleFailure("There is no page '\(page.prefix(40))': \(all).")
            }
            model.detail.options.page = page
        } else if !words.isEmpty {
            model.detail.options.page = .overview
        }
        guard let id = try exchange(words.first) else { return }
        answer = .detail
        change { $0.perform(.open, id.description) }
        if hasFailed { answer = Answer.none }
    }

    private func mark(_ argument: String?) throws {
        guard let id = try exchange(argument) else { return }
        if let index = model.marks.firstIndex(of: id) {
            model.marks.remove(at: index)
            say("\(id) is not marked any more.")
        } else {
            model.marks.append(id)
            say("\(id) is marked.")
        }
    }

    /// The exchange of a number, or the selected one; `nil` where that was refused.
    private func exchange(_ argument: String?) throws -> ExchangeID? {
        var id: ExchangeID?
        change { model in
            id = model.selected(argument)
            return []
        }
        guard let id else {
            if !hasFailed { throw ConsoleFailure("There is no exchange yet.") }
            return nil
        }
        guard try effects.reader?.record(id) != nil else {
            throw ConsoleFailure("Exchange \(id) is not in this session.")
        }
        return id
    }

    /// A file's name: one word as a shell has it.
    private func fileName(_ text: String) throws -> String {
        let words = try HoldWords.words(text)
        guard words.count == 1, let name = words.first, !name.isEmpty else {
            throw ConsoleFailure("A file's name is one word; one with spaces stands in quotes.")
        }
        return name
    }

    /// Saves a body; before the file's name may stand the number of the exchange.
    private func saveBody(_ argument: String?) throws {
        let words = try HoldWords.words(argument ?? "")
        guard let file = words.last, words.count <= 2 else {
            throw ConsoleFailure("save-body needs [ID] FILE; a name with spaces stands in quotes.")
        }
        guard let id = try exchange(words.count > 1 ? words[0] : nil) else { return }
        perform([.saveBody(id, path: file)])
    }

    private func find(_ argument: String?) throws {
        guard let argument else { throw ConsoleFailure("find needs TEXT.") }
        guard let document = model.detail.document, model.detail.isOpen else {
            throw ConsoleFailure("Nothing is open; show ID opens an exchange.")
        }
        let found = document.matches(of: argument)
        for line in found { say("\(line + 1). \(document.lines[line].plain)") }
        if found.isEmpty { refuse("'\(argument.prefix(60))' is not in what is shown.") }
    }

    // MARK: - Messages that wait

    private func editHold(_ argument: String?) throws {
        if let reason = model.whyNot(.editHold) { throw ConsoleFailure(reason) }
        let words = (argument ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        let hold = words.first.flatMap { name in
            model.proxy.holds.first { $0.id == name || $0.id.hasPrefix(name + ".") }
        }
        if let name = words.first, hold == nil {
            throw ConsoleFailure("No message '\(name.prefix(40))' waits.")
        }
        guard words.count > 1, let hold else { return change { $0.perform(.editHold, words.first) } }
        let edit = try HoldWords.edit(words[1])
        perform([.decide([hold.id], .changed(edit))])
    }

    /// Answers a question by a word, its first letter, or yes and no.
    private func decide(_ question: ConfirmState, _ line: String) {
        let word = line.lowercased().filter { !$0.isWhitespace }
        let choice = question.choices.first { choice in
            !word.isEmpty
                && (choice.title.lowercased().filter { !$0.isWhitespace }.hasPrefix(word) || word == String(choice.key)
                    || (word == "yes" && choice.key == "y") || (word == "no" && choice.key == "n"))
        }
        guard let choice else { return tell(question) }
        hasFailed = false
        answer = Answer.none
        change { $0.update(.input(.key(Key(.character(choice.key))))) }
    }

    /// Asks a question.
    func tell(_ question: ConfirmState) {
        let choices = question.choices.map { "\($0.key): \($0.title)" }.joined(separator: "; ")
        say("\(question.question) Answer \(choices).")
    }

    // MARK: - Rules

    private func draftRule(_ argument: String?) throws {
        let words = (argument ?? "").split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count > 1 else { return change { $0.perform(.ruleFromExchange, argument) } }
        if let reason = model.whyNot(.toggleTool) { throw ConsoleFailure(reason) }
        guard let tool = Tool(word: words[0]) else { return change { $0.perform(.ruleFromExchange, words[0]) } }
        if Int64(words[1].drop { $0 == "#" }) != nil {
            guard let id = try exchange(words[1]) else { return }
            return perform([.draftRule(tool, .exchange(id), level: 0)])
        }
        let text = words[1].replacing("\\n", with: "\n")
        change { model in
            model.open(
                EditorState(purpose: .rule(tool, replaces: nil), title: "New rule: \(tool.title)", area: TextArea(text))
            )
        }
    }

    private func applyDraft() throws {
        guard let draft else { throw ConsoleFailure("There is no draft; rule TOOL makes one.") }
        self.draft = nil
        change { model in
            model.overlays.append(.editor(draft))
            return model.finish(draft)
        }
    }

    private func changeRule(_ argument: String?, by key: Key, _ word: LinearWord) throws {
        if let reason = model.whyNot(.toggleTool) { throw ConsoleFailure(reason) }
        let words = (argument ?? "").split(separator: " ").map(String.init)
        guard words.count == 2, let tool = Tool(word: words[0]), let number = Int(words[1]) else {
            throw ConsoleFailure("\(word.rawValue) needs \(word.argument), for example: \(word.rawValue) block 1")
        }
        guard number > 0, number <= model.panelRules(tool).count else {
            throw ConsoleFailure("\(tool.title) has no rule \(number).")
        }
        change { model in
            model.overlays.append(.panel(PanelState(tool: tool, selected: number - 1)))
            defer { model.overlays.removeLast() }
            return model.update(.input(.key(key)))
        }
    }
}

import Description
import HTTPModel
import Rules
import Terminal
import Text

extension ConsoleModel {
    mutating func type(_ key: Key, into prompt: PromptState) -> [Effect] {
        if key.isCancel {
            endPreview(prompt)
            return goBack()
        }
        var prompt = prompt
        let completing = prompt.completing
        prompt.completing = nil
        switch (key.code, key.modifiers) {
        case (.enter, _):
            guard let completing else { return submit(prompt) }
            // Enter before the file names have arrived: the prompt is submitted once its name is completed.
            prompt.completing = (completing.path, true)
        case (.tab, []): return complete(prompt)
        case (.up, []) where !prompt.history.isEmpty: prompt.recall(-1)
        case (.down, []) where !prompt.history.isEmpty: prompt.recall(1)
        default:
            switch prompt.line.take(key) {
            case .ignored: return key.modifiers.contains(.control) ? run(key) : []
            case .moved: break
            case .changed:
                prompt.forgetMistake()
                preview(&prompt)
                if prompt.command == .openSession, prompt.line.text == "+" {
                    let (effects, refusal) = closeTop { $0.perform(.importSession, nil) }
                    guard let refusal else { return effects }
                    prompt.show(refusal)
                }
            }
        }
        return replaceTop(by: .prompt(prompt))
    }

    /// Performs the prompt's command; if the command is rejected, the prompt stays open with its text and the reason.
    mutating func submit(_ prompt: PromptState) -> [Effect] {
        submitted = prompt
        let (effects, refusal) = closeTop { $0.perform(prompt.command, prompt.prefix + prompt.line.text) }
        guard let refusal else { return effects }
        var prompt = prompt
        prompt.show(refusal)
        return replaceTop(by: .prompt(prompt))
    }

    /// Opens the prompt again if its command was rejected after the prompt had closed, or only reports the reason.
    mutating func promptAgain(_ command: Command, _ reason: String) -> [Effect] {
        guard var prompt = submitted, prompt.command == command, overlays.isEmpty, !isLinear else {
            return refuse(reason)
        }
        prompt.show(Notice(text: reason.onOneLine, kind: .error, at: now))
        return push(.prompt(prompt))
    }

    func hint(for entry: CommandEntry) -> String {
        switch entry.argument.form {
        case .word(let what, let words), .words(let what, let words), .beginning(let what, let words):
            "\(what): \(words.joined(separator: " "))"
        case .text where entry.command == .highlight: highlightHint
        case .text where entry.command == .openSession:
            "Tab completes file names. + imports a file into this session instead."
        case .text where ValueCompletion.completesFiles(entry.command): "Tab completes file names."
        case .text, .pattern, .exchange, .tool, .preset, .page, .host: ""
        }
    }

    private mutating func complete(_ prompt: PromptState) -> [Effect] {
        if ValueCompletion.completesFiles(prompt.command) {
            let path = String(prompt.line.characters.prefix(prompt.line.cursor))
            var prompt = prompt
            prompt.completing = (path, false)
            replaceTop(by: .prompt(prompt))
            return [.completeFile(path)]
        }
        let words = completions(for: prompt.command)
        guard !words.isEmpty else { return [] }
        let completion = ValueCompletion.word(in: prompt.line.characters, at: prompt.line.cursor, of: words)
        return take(completion, into: prompt)
    }

    /// Completes the path with the file names that begin like the text before the cursor.
    mutating func takeFiles(_ names: [String], for path: String) -> [Effect] {
        guard case .prompt(var prompt)? = overlays.last, let completing = prompt.completing, completing.path == path
        else { return [] }
        prompt.completing = nil
        let effects = take(ValueCompletion.file(path, names), into: prompt)
        guard completing.isSubmitted, names.count < 2, case .prompt(let whole)? = overlays.last else { return effects }
        return submit(whole)
    }

    private mutating func take(_ completion: ValueCompletion, into prompt: PromptState) -> [Effect] {
        var prompt = prompt
        prompt.forgetMistake()
        prompt.candidates = completion.complete(&prompt.line)
        return replaceTop(by: .prompt(prompt))
    }

    /// The known words for a command's argument; empty if none are known.
    func completions(for command: Command) -> [String] {
        guard let argument = CommandTable.entry(command)?.argument else { return [] }
        switch argument.form {
        case .word, .words, .beginning, .exchange, .pattern: return argument.values ?? []
        case .tool: return Tool.all.map(\.key)
        case .preset: return (argument.values ?? []) + rules.texts.ownPresets
        case .page: return detail.pages.map(\.rawValue)
        case .host, .text: return argument.name.contains("HOST") ? knownHosts : []
        }
    }

    var knownHosts: [String] {
        let seen = Set(list.rows.values.map { $0.url.host }).union(seen.values["host"] ?? [])
        return seen.union(list.query.focusedHosts).filter { !$0.isEmpty }.sorted()
    }
}

extension PromptState {
    /// Shows why the text was rejected, and marks the column; without a column, the part that the reason quotes.
    mutating func show(_ refusal: Notice) {
        problem = refusal.text
        candidates = []
        problemColumn = refusal.column
        guard problemColumn == nil else { return }
        let text = line.text
        let quoted = refusal.text.split(separator: "'", omittingEmptySubsequences: false)
        guard quoted.count > 2, !quoted[1].isEmpty, let range = text.ranges(of: quoted[1]).first else { return }
        problemColumn = text.distance(from: text.startIndex, to: range.lowerBound)
    }

    mutating func forgetMistake() { (problem, problemColumn, candidates) = ("", nil, []) }

    fileprivate mutating func recall(_ by: Int) {
        historyIndex = min(max(0, historyIndex + by), history.count)
        line = LineEditor(historyIndex == history.count ? "" : history[historyIndex])
        forgetMistake()
    }
}

enum PromptView {
    private static let width = 76

    static func draw(_ prompt: PromptState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let room = max(1, OverlayView.place(width: width, height: 3, model.size).inside.width)
        let lines = lines(prompt, room)
        let place: OverlayView.Place = prompt.command != .findInDetail ? .middle : prompt.isHigh ? .top : .bottom
        let height = 1 + lines.count
        let inner = OverlayView.frame(prompt.title, width: width, height: height, at: place, model, on: &screen)
        let (field, below) = inner.splitTop(1)
        FieldView.draw(prompt.line, theme, in: field, on: &screen)
        for (row, line) in lines.enumerated() where row < below.height {
            let style = theme.style(line.role)
            screen.write(line.text, x: below.x, y: below.y + row, style: style, limit: below.width)
        }
    }

    private static func lines(_ prompt: PromptState, _ width: Int) -> [(text: String, role: Role)] {
        func wrapped(_ text: String, _ role: Role) -> [(text: String, role: Role)] {
            text.isEmpty ? [] : TextWidth.wrap(text, to: width).map { (String($0), role) }
        }
        guard prompt.problem.isEmpty else {
            return sign(prompt, width) + wrapped(prompt.problem, .failure)
                + (prompt.problem.contains("there are ") ? [] : wrapped(prompt.hint, .faint))
        }
        let candidates = prompt.candidates.joined(separator: "  ")
        return wrapped(candidates.isEmpty ? prompt.hint : candidates, .faint)
    }

    /// The `^` below the wrong column; empty if the column is unknown or not visible.
    private static func sign(_ prompt: PromptState, _ width: Int) -> [(text: String, role: Role)] {
        guard let column = prompt.problemColumn, column >= 0, column <= prompt.line.characters.count else { return [] }
        let before = TextWidth.columns(String(prompt.line.characters.prefix(column)))
        let place = before - FieldView.shift(prompt.line, width)
        guard (0..<width).contains(place) else { return [] }
        return [(String(repeating: " ", count: place) + "^", .failure)]
    }
}

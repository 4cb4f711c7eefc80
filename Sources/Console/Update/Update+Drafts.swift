import HTTPModel
import Rules
import Runner
import Terminal
import Tools

/// What an editor does with its text besides typing: completing, laying out, and putting a rule in force.
extension ConsoleModel {
    /// Completes the key or the word before the cursor of a rule; indents where there is none.
    mutating func complete(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, _) = editor.purpose else { return [] }
        var editor = editor
        let before = editor.area.lines
        let cursor = editor.area.cursor
        guard let completion = ValueCompletion.rule(before[cursor.line], at: cursor.column, of: tool, hosts: knownHosts)
        else {
            editor.area.insert("  ")
            return changed(editor, from: before)
        }
        if !completion.text.isEmpty { editor.area.replaceBeforeCursor(from: completion.start, with: completion.text) }
        let effects = changed(editor, from: before)
        let words = completion.candidates.joined(separator: " ")
        if completion.text.isEmpty { tell("No key or word of \(tool.title) begins so.", .error) }
        guard !words.isEmpty else { return effects }
        remark("Here may stand: \(words)", isWrong: false) { $0.purpose == editor.purpose }
        return []
    }

    /// Lays a JSON body out, or shows it again as it came.
    mutating func layOut(_ editor: EditorState) -> [Effect] {
        guard !editor.isRule else { return [] }
        var editor = editor
        let before = editor.area.lines
        if let body = editor.laidOut {
            guard body.isUnedited(in: editor.area.text) else {
                return refuse(
                    "The body was edited as it is laid out, so it goes out like this; alt-z takes edits back."
                )
            }
            editor.area.replace(with: body.restored(editor.area.text))
            editor.laidOut = nil
        } else {
            guard let (text, body) = LaidOutBody.layOut(editor.area.text) else {
                return refuse("The body is no JSON, or is laid out already.")
            }
            editor.area.replace(with: text)
            editor.laidOut = body
            editor.remark = "Laid out to be read; a body that is not edited goes out as it came."
            editor.isWrong = false
        }
        return changed(editor, from: before)
    }

    /// Puts the rule in an editor in force; one that is wrong stays in its editor.
    mutating func applyRule(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, let replaced) = editor.purpose else { return [] }
        do {
            let texts = try RuleEditing.put(editor.area.text, tool, replacing: replaced, in: rules.editableTexts)
            overlays.removeLast()
            let hasRules = proxy.tool(tool).map { $0.rules > 0 } ?? false
            return (hasRules ? switchOn(tool) : [])
                + apply(texts, RuleEditing.words(tool, replacing: replaced, in: texts))
        } catch {
            remark("\(error)", isWrong: true) { $0.purpose == editor.purpose }
            return refuse("Fix the error in the rule first.")
        }
    }

    /// Puts the rule of the uppermost editor in force, and first saves the answer of its exchange to the file that the
    /// rule names, where one is given.
    mutating func applyRule(savedTo path: String?) -> [Effect] {
        guard case .editor(let editor)? = overlays.last else { return [] }
        let effects = applyRule(editor)
        guard let path, !effects.isEmpty, case .exchange(let id)? = editor.origin else { return effects }
        return [.saveBody(id, path: path)] + effects
    }

    /// Asks whether the recorded answer is to be saved to a file that a rule names and that is not there; applies the
    /// rule at once where there is nothing to ask.
    mutating func offerAnswer(_ path: String?, _ text: String) -> [Effect] {
        guard case .editor(let editor)? = overlays.last, editor.area.text == text else { return [] }
        guard let path, case .exchange(let id)? = editor.origin else { return applyRule(editor) }
        return confirm(
            "\(path) is not there. Is the recorded answer of exchange \(id) to be saved to it?",
            [
                .init("y", "save it there and apply the rule") { $0.applyRule(savedTo: path) },
                .init("a", "apply the rule all the same; the server answers meanwhile") { $0.applyRule(savedTo: nil) },
                .init("n", "go on editing"),
            ]
        )
    }
}

extension TextArea {
    /// Replaces what stands between a column of the cursor's line and the cursor.
    mutating func replaceBeforeCursor(from column: Int, with text: String) {
        for _ in column..<max(column, cursor.column) { _ = take(Key(.backspace)) }
        insert(text)
    }
}

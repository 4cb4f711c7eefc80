import HTTPModel
import Rules
import Runner
import Terminal

extension ConsoleModel {
    /// Opens an editor, or puts a newer text into the one that is open for the same purpose.
    mutating func open(_ editor: EditorState) -> [Effect] {
        if case .editor(let open)? = overlays.last, open.purpose == editor.purpose, open.origin == editor.origin {
            overlays.removeLast()
        }
        var editor = editor
        reveal(&editor)
        return push(.editor(editor)) + check(editor)
    }

    private func check(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, let replaced) = editor.purpose else { return [] }
        return [.checkRule(tool, text: editor.area.text, replaces: replaced, rules.texts)]
    }

    mutating func type(_ key: Key, into editor: EditorState) -> [Effect] {
        var editor = editor
        switch (key.code, key.modifiers) {
        case (.escape, _): return close(editor)
        case (.character("s"), .control), (.enter, .control), (.enter, .alt): return finish(editor)
        case (.character("o"), .control): return [.terminal(.edit(editor))]
        case (.character("t"), .control): return widen(editor)
        case (.character("y"), .control): return layOut(editor)
        case (.tab, []) where editor.isRule: return complete(editor)
        case (.enter, []) where editor.isRule:
            let before = editor.area.lines
            editor.area.insertIndentedLine()
            return changed(editor, from: before)
        default:
            let before = editor.area.lines
            return editor.area.take(key) ? changed(editor, from: before) : run(key)
        }
    }

    /// The lines of an editor on the screen: all that fit, but for a rule, which is short, so few that the list stays
    /// visible.
    func editorRows(_ editor: EditorState) -> Int {
        let most = max(1, size.height - 5 - EditorView.remark(editor, self).count)
        guard editor.isRule else { return most }
        return min(most, max(8, min(editor.area.lines.count + 1, size.height / 2 - 4)))
    }

    func reveal(_ editor: inout EditorState) {
        editor.area.reveal(rows: editorRows(editor), width: EditorView.textWidth(editor, self))
    }

    /// Shows the editor with another text or cursor; a text that differs from the lines before is checked.
    mutating func changed(_ editor: EditorState, from before: [String]? = nil) -> [Effect] {
        var editor = editor
        reveal(&editor)
        replaceTop(by: .editor(editor))
        return editor.area.lines == before ? [] : check(editor)
    }

    /// Drafts the rule with the next of its scopes: from one URL to the whole host.
    func widen(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, nil) = editor.purpose, let origin = editor.origin else { return [] }
        return [.draftRule(tool, origin, level: editor.level + 1)]
    }

    mutating func takeBack(_ editor: EditorState, _ text: String) -> [Effect] {
        guard !text.hasSameBytes(as: editor.area.text) else {
            if isLinear { tell("Nothing was changed.") }
            return []
        }
        var editor = editor
        editor.area.replace(with: text)
        if isLinear { return editor.isDraft ? open(editor) : finish(editor) }
        guard case .editor? = overlays.last else { return open(editor) }
        return changed(editor)
    }

    /// Closes the uppermost editor; asks first where its text was changed.
    mutating func close(_ editor: EditorState) -> [Effect] {
        if editor.area.isChanged {
            let drop = ConfirmState.Choice("y", "drop the text") {
                $0.overlays.removeLast()
                return []
            }
            return confirm("The text was changed. Is it to be dropped?", [drop, .init("n", "go on editing")])
        }
        overlays.removeLast()
        return []
    }

    /// Does with the text what the editor is for.
    ///
    /// The proxy may refuse a message, so its text stays until the answer is there.
    mutating func finish(_ editor: EditorState) -> [Effect] {
        switch editor.purpose {
        case .rule(let tool, nil) where tool.answersFrom != nil:
            if case .exchange(let id)? = editor.origin { return [.offerAnswer(editor, id, rules.editableTexts)] }
            return applyRule(editor)
        case .rule: return applyRule(editor)
        case .hold(let id): return [.editHold(id, .draft(editor.finishedText))]
        case .request, .newRequest:
            remember(editor)
            return [.send(draft: editor.finishedText, editor.purpose)]
        }
    }

    /// Closes the editor whose text was accepted; one whose text was refused stays open with the reason.
    mutating func take(answerTo purpose: EditorState.Purpose, refusal: String?) {
        if let refusal {
            if !remark(refusal, isWrong: true, under: { $0.purpose == purpose }) { tell(refusal, .error) }
            return
        }
        let index = overlays.firstIndex {
            if case .editor(let editor) = $0 { editor.purpose == purpose } else { false }
        }
        if let index { overlays.removeSubrange(index...) }
        if case .hold(let id) = purpose { selectHold(beside: id) }
    }

    /// Writes a remark under the first editor that is meant; returns whether there is one.
    @discardableResult
    mutating func remark(_ words: String, isWrong: Bool, under isMeant: (EditorState) -> Bool) -> Bool {
        for index in overlays.indices {
            guard case .editor(var editor) = overlays[index], isMeant(editor) else { continue }
            editor.remark = words.onOneLine
            editor.isWrong = isWrong
            // A longer remark leaves fewer rows for the text.
            reveal(&editor)
            overlays[index] = .editor(editor)
            return true
        }
        return false
    }

    /// Writes under the editor of a message that is no longer held that it is gone.
    mutating func tellGoneHolds() {
        remark(
            "This message does not wait any more: it was decided about, its time ran out, or its client went away.",
            isWrong: true
        ) { [holds = proxy.holds] editor in
            if case .hold(let id) = editor.purpose { !holds.contains { $0.id == id } } else { false }
        }
    }
}

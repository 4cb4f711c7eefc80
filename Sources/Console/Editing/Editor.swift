import Content
import Description
import Rules
import Runner
import Terminal
import Text

extension ConsoleModel {
    /// Opens an editor, or replaces the open editor of the same purpose and origin.
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
        return [.checkRule(tool, text: editor.area.text, replaces: replaced, rules.editableTexts)]
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

    /// The number of text rows of an editor: all that fit; fewer for a rule, so that the list stays visible.
    func editorRows(_ editor: EditorState) -> Int {
        let most = max(1, size.height - 5 - EditorView.remark(editor, self).count)
        guard editor.isRule else { return most }
        return min(most, max(8, min(editor.area.lines.count + 1, size.height / 2 - 4)))
    }

    func reveal(_ editor: inout EditorState) {
        editor.area.reveal(rows: editorRows(editor), width: EditorView.textWidth(editor, self))
    }

    /// Shows the editor with its new text or cursor, and checks the text if it differs from `before`.
    mutating func changed(_ editor: EditorState, from before: [String]? = nil) -> [Effect] {
        var editor = editor
        reveal(&editor)
        replaceTop(by: .editor(editor))
        return editor.area.lines == before ? [] : check(editor)
    }

    /// Drafts the rule again with the next wider scope: from one URL to the whole host.
    func widen(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, nil) = editor.purpose, let origin = editor.origin else { return [] }
        return [.draftRule(tool, origin, level: editor.level + 1)]
    }

    mutating func takeBack(_ editor: EditorState, _ text: String) -> [Effect] {
        guard !text.hasSameBytes(as: editor.area.text) else { return isLinear ? tell("Nothing was changed.") : [] }
        var editor = editor
        editor.area.replace(with: text)
        if isLinear { return editor.isDraft ? open(editor) : finish(editor) }
        guard case .editor? = overlays.last else { return open(editor) }
        return changed(editor)
    }

    mutating func close(_ editor: EditorState) -> [Effect] {
        if editor.area.isChanged {
            let drop = ConfirmState.Choice("y", "discard") {
                $0.overlays.removeLast()
                return []
            }
            return confirm("Discard your changes of the text?", [drop, .init("n", "keep editing")])
        }
        overlays.removeLast()
        return []
    }

    /// Submits the text for the editor's purpose. The editor of a message stays open until the proxy accepts the text.
    mutating func finish(_ editor: EditorState) -> [Effect] {
        switch editor.purpose {
        case .rule(let tool, let replaced):
            guard replaced == nil, tool.answersFrom != nil, let id = editor.origin?.exchange else {
                return applyRule(editor)
            }
            return [.offerAnswer(editor, id, rules.editableTexts)]
        case .hold(let id): return [.editHold(id, .draft(editor.finishedText))]
        case .request, .newRequest:
            remember(editor)
            return [.send(draft: editor.finishedText, editor.purpose)]
        }
    }

    /// Closes the editor if its text was accepted; if it was rejected, the editor stays open and shows the reason.
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

    /// Writes a remark under the first editor that satisfies `isMeant`; returns whether there is such an editor.
    @discardableResult
    mutating func remark(_ words: String, isWrong: Bool, under isMeant: (EditorState) -> Bool) -> Bool {
        for index in overlays.indices {
            guard case .editor(var editor) = overlays[index], isMeant(editor) else { continue }
            editor.remark = words.onOneLine
            editor.isWrong = isWrong
            reveal(&editor)
            overlays[index] = .editor(editor)
            return true
        }
        return false
    }

    /// Writes a remark under the editor of a message that is no longer held.
    mutating func tellGoneHolds() {
        let words = "This message is no longer held: it was decided, its time ran out, or its client disconnected."
        remark(words, isWrong: true) { [holds = proxy.holds] editor in
            if case .hold(let id) = editor.purpose { !holds.contains { $0.id == id } } else { false }
        }
    }
}

enum EditorView {
    static func draw(_ editor: EditorState, _ model: ConsoleModel, on screen: inout CellBuffer) {
        let theme = model.look.theme
        let remark = remark(editor, model)
        let height = model.editorRows(editor) + remark.count
        let inner = OverlayView.frame(editor.title, width: frameWidth, height: height, model, on: &screen)
        let (body, bottom) = inner.splitBottom(inner.height > 3 ? remark.count : 0)
        let area = editor.area
        let numbers = String(area.lines.count).count + 1
        for (row, part) in area.visibleRows(body.height).enumerated() {
            let y = body.y + row
            let isFirst = part.range.lowerBound == 0
            let label = TextWidth.paddedLeft(isFirst ? String(part.line + 1) : "", to: numbers - 1)
            screen.write(label, x: body.x, y: y, style: theme.faint)
            let text = area.lines[part.line].dropFirst(part.range.lowerBound).prefix(part.range.count)
            screen.write(text, x: body.x + numbers, y: y, limit: max(1, body.width - numbers))
            let isEnd = part.range.upperBound == area.lines[part.line].count
            let hasCursor =
                part.line == area.cursor.line
                && (part.range.contains(area.cursor.column) || isEnd && area.cursor.column == part.range.upperBound)
            guard hasCursor else { continue }
            let before = text.prefix(area.cursor.column - part.range.lowerBound)
            screen.cursor = CursorPosition(x: body.x + numbers + TextWidth.columns(before), y: y)
        }
        guard !bottom.isEmpty else { return }
        let style = editor.isWrong ? theme.style(.failure) : theme.style(.success)
        for (row, line) in remark.prefix(bottom.height).enumerated() {
            screen.write(line, x: bottom.x, y: bottom.y + row, style: style, limit: bottom.width)
        }
    }

    private static let frameWidth = 120

    /// The columns of the text; one column is kept free for the cursor after the last character.
    static func textWidth(_ editor: EditorState, _ model: ConsoleModel) -> Int {
        let inside = OverlayView.place(width: frameWidth, height: model.size.height, model.size).inside
        return max(1, inside.width - String(editor.area.lines.count).count - 2)
    }

    static func remark(_ editor: EditorState, _ model: ConsoleModel) -> [Substring] {
        let width = OverlayView.place(width: frameWidth, height: model.size.height, model.size).inside.width
        // The scope describes the unedited draft; an edited rule may match something else.
        let scope = editor.scope.isEmpty || editor.area.isChanged ? [] : ["Matches \(editor.scope)."]
        let words = (scope + [editor.remark]).joined(separator: " ")
        let lines = Array(TextWidth.wrap(words, to: max(1, width)).prefix(max(2, model.size.height / 3)))
        return lines + repeatElement("", count: max(0, 2 - lines.count))
    }
}

/// A JSON body that an editor shows formatted, with each member or element on its own line.
struct LaidOutBody: Sendable {
    /// The body before and after formatting.
    private let original: String
    private let shown: String

    /// Formats the body of a message, which follows an empty line; `nil` if it is not JSON or needs no change.
    static func layOut(_ text: String) -> (text: String, body: LaidOutBody)? {
        let place = bodyStart(text)
        let original = String(text[place...])
        guard let json = layOut(json: original), json + "\n" != original else { return nil }
        let shown = json + "\n"
        return (String(text[..<place]) + shown, LaidOutBody(original: original, shown: shown))
    }

    /// The text with the original body; unchanged if the body was edited.
    func restored(_ text: String) -> String {
        isUnedited(in: text) ? text[..<LaidOutBody.bodyStart(text)] + original : text
    }

    func isUnedited(in text: String) -> Bool { text[LaidOutBody.bodyStart(text)...].utf8.elementsEqual(shown.utf8) }

    private static func bodyStart(_ text: String) -> String.Index {
        let bytes = text.utf8
        var start = bytes.startIndex
        while start < bytes.endIndex, let end = bytes[start...].firstIndex(of: 0x0A) {
            let line = bytes[start..<end]
            start = bytes.index(after: end)
            if line.isEmpty || line.elementsEqual([0x0D]) { return start }
        }
        return bytes.endIndex
    }

    /// Formats JSON and keeps numbers, escapes, order and duplicates. `nil` if the text is not JSON.
    static func layOut(json text: String) -> String? {
        let bytes = Array(text.utf8)
        var reader = JSONTokenReader(bytes)
        var laidOut: [UInt8] = []
        // The number of members or elements so far, for each open bracket.
        var counts: [Int] = []
        var isNamed = false
        func line() -> [UInt8] { [0x0A] + repeatElement(0x20, count: counts.count * 2) }
        do {
            while let token = try reader.next() {
                if token.kind == .objectEnd || token.kind == .arrayEnd {
                    let count = counts.popLast() ?? 0
                    laidOut += (count > 0 ? line() : []) + bytes[token.range]
                    continue
                }
                if let count = counts.last, !isNamed {
                    laidOut += (count > 0 ? [UInt8(ascii: ",")] : []) + line()
                    counts[counts.count - 1] = count + 1
                }
                isNamed = token.kind == .name
                laidOut += bytes[token.range]
                if isNamed { laidOut += ": ".utf8 }
                if token.kind == .objectBegin || token.kind == .arrayBegin { counts.append(0) }
            }
        } catch {
            return nil
        }
        return laidOut.isEmpty ? nil : String(decoding: laidOut, as: UTF8.self)
    }
}

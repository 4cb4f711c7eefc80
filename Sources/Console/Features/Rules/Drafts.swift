import HTTPModel
import Rules
import Runner
import Terminal
import Text
import Tools

extension ConsoleModel {
    mutating func complete(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, _) = editor.purpose else { return [] }
        var editor = editor
        let before = editor.area.lines
        let cursor = editor.area.cursor
        let line = before[cursor.line]
        let completion =
            completedCondition(line, at: cursor.column)
            ?? ValueCompletion.rule(line, at: cursor.column, of: tool, hosts: knownHosts)
        guard let completion else {
            editor.area.insert("  ")
            return changed(editor, from: before)
        }
        if !completion.text.isEmpty { editor.area.replaceBeforeCursor(from: completion.start, with: completion.text) }
        let effects = changed(editor, from: before)
        if completion.text.isEmpty { tell("No key or value of \(tool.title) starts like this.", .error) }
        guard !completion.candidates.isEmpty else { return effects }
        let words = "Possible here: \(completion.candidates.joined(separator: " "))"
        remark(words, isWrong: false) { $0.purpose == editor.purpose }
        return []
    }

    mutating func layOut(_ editor: EditorState) -> [Effect] {
        guard !editor.isRule else { return [] }
        var editor = editor
        let before = editor.area.lines
        if let body = editor.laidOut {
            guard body.isUnedited(in: editor.area.text) else {
                return refuse("The formatted body was edited and will be sent like this; alt-z undoes edits.")
            }
            editor.area.replace(with: body.restored(editor.area.text))
            editor.laidOut = nil
        } else {
            guard let (text, body) = LaidOutBody.layOut(editor.area.text) else {
                return refuse("The body is not JSON, or is already formatted.")
            }
            editor.area.replace(with: text)
            editor.laidOut = body
            editor.remark = "Formatted for reading; without edits, the body is sent unchanged."
            editor.isWrong = false
        }
        return changed(editor, from: before)
    }

    /// Applies the rule in an editor; an invalid rule stays in its editor.
    mutating func applyRule(_ editor: EditorState) -> [Effect] {
        guard case .rule(let tool, let replaced) = editor.purpose else { return [] }
        do {
            let texts = try rules.editableTexts.putting(editor.area.text, tool, replacing: replaced)
            overlays.removeLast()
            let on = proxy.tool(tool).map { $0.rules > 0 } == true ? switchOn(tool) : []
            return on + apply(texts, texts.words(tool, replacing: replaced))
        } catch {
            remark("\(error)", isWrong: true) { $0.purpose == editor.purpose }
            return refuse("Fix the error first.")
        }
    }

    /// Applies the rule of the top editor; if there is a path, first saves the response of the editor's exchange to it.
    mutating func applyRule(savedTo path: String?) -> [Effect] {
        guard case .editor(let editor)? = overlays.last else { return [] }
        let effects = applyRule(editor)
        guard let path, !effects.isEmpty, let id = editor.origin?.exchange else { return effects }
        return [.saveBody(id, path: path)] + effects
    }

    /// If the rule names a missing file, asks whether to save the recorded response to it; otherwise applies the rule.
    mutating func offerAnswer(_ path: String?, _ text: String) -> [Effect] {
        guard case .editor(let editor)? = overlays.last, editor.area.text == text else { return [] }
        guard let path, let id = editor.origin?.exchange else { return applyRule(editor) }
        let save = ConfirmState.Choice("y", "save it and apply the rule") { $0.applyRule(savedTo: path) }
        let words = "only apply the rule; until the file exists, requests go to the server"
        let apply = ConfirmState.Choice("a", words) { $0.applyRule(savedTo: nil) }
        let question = "\(path) does not exist. Save the recorded response of exchange \(id) to it?"
        return confirm(question, [save, apply, .init("n", "keep editing")])
    }
}

extension TextArea {
    mutating func replaceBeforeCursor(from column: Int, with text: String) {
        for _ in column..<max(column, cursor.column) { _ = take(Key(.backspace)) }
        insert(text)
    }
}

/// One change of a drafted text, typed in linear mode: `to http://localhost:3000`, `3 action: 403`, `remove to`.
struct DraftChange: Hashable {
    enum Place: Hashable {
        /// The number of a line, from 1.
        case line(Int)
        /// A key of a rule, or an option or place that `edit` changes in a message.
        case key(String)
    }

    private let place: Place
    /// The new text; `nil` removes the old one.
    private let text: String?
    private let isInserted: Bool

    /// Throws ``ConsoleError`` if the words are not a change.
    init(_ words: String) throws(ConsoleError) {
        let (first, rest) = words.firstWord
        func number(_ word: String) -> Int? { Int(word).flatMap { $0 > 0 ? $0 : nil } }
        isInserted = first == "insert" && rest != nil
        switch (first, rest) {
        case ("remove", let what?):
            place = number(what).map { .line($0) } ?? .key(what)
            text = nil
        case ("insert", let what?):
            let (line, new) = what.firstWord
            guard let line = number(line), let new else {
                throw ConsoleError("insert takes the number of a line and its text: draft insert 2 action: 403")
            }
            place = .line(line)
            text = new
        case (_, let value?) where Int(first) != nil:
            guard let line = number(first) else { throw ConsoleError("Lines count from 1.") }
            place = .line(line)
            text = value
        case (_, let value?):
            place = .key(first.last == ":" ? String(first.dropLast()) : first)
            text = value
        case (_, nil):
            guard let equals = first.firstIndex(of: "="), equals != first.startIndex else {
                let forms = "KEY VALUE, NUMBER TEXT, insert NUMBER TEXT, or remove KEY"
                throw ConsoleError("draft takes \(forms); alone it reads the draft.")
            }
            place = .key(String(first[..<equals]))
            text = String(first[first.index(after: equals)...])
        }
    }

    /// The text after a change of a line; `nil` if the change is to a key.
    func lines(of text: String) throws(ConsoleError) -> String? {
        guard case .line(let number) = place else { return nil }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let last = lines.count + (isInserted ? 1 : 0)
        guard number <= last else { throw ConsoleError("The draft has no line \(number): its last is \(last).") }
        let indent = number <= lines.count ? lines[number - 1].prefix { $0 == " " } : ""
        let end = isInserted ? number - 1 : number
        lines.replaceSubrange(number - 1..<end, with: self.text.map { [indent + $0] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// Reads changes of a message: `method PUT`, `header X-Mode: test`, `remove Cookie`, or the arguments of `edit`.
    static func edit(_ words: String) throws -> HoldEdit {
        let change = try DraftChange(words)
        var edit = HoldEdit()
        guard case .key(let key) = change.place else { return edit }
        switch (HoldOption(rawValue: key), change.text) {
        case (_, nil):
            if key.contains("."), let place = try? HoldEdit.place(key) {
                edit.values.append(.init(place: place))
            } else {
                edit.removeHeaders.append(key)
            }
        case (nil, let value?):
            guard let place = try? HoldEdit.place(key) else { return try HoldWords.edit(words) }
            edit.values.append(.init(place: place, value: value))
        case (_, "@-"): throw HoldWords.noInput
        case (let option?, let value?): try option.add(value, to: &edit)
        }
        return edit
    }

    /// A rule's text after the change; all other keys stay as they are written.
    func rule(_ text: String) throws(ConsoleError) -> String {
        guard case .key(let key) = place else { return try lines(of: text) ?? text }
        let members: [Node.Member]
        do {
            members = try Node.read(text, file: "draft")?.mapping ?? []
        } catch {
            throw ConsoleError("The draft cannot be read (\(error)); change its line: draft NUMBER TEXT.")
        }
        guard self.text != nil || members[key] != nil else {
            throw ConsoleError("The draft has no '\(VisibleText.of(key))'.")
        }
        return Self.put(self.text.map { "\(key): \(Self.written($0))" }, at: key, members, text)
    }

    /// Replaces the lines of a key by a new line, or adds the line at the end if the key is missing.
    private static func put(_ new: String?, at key: String, _ members: [Node.Member], _ text: String) -> String {
        let isBraced = text.drop { $0.isWhitespace }.first == "{"
        let written = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        var lines = isBraced ? members.map(\.flow) : written
        guard let index = members.firstIndex(where: { $0.key.scalar?.string == key }) else {
            // A rule that is only a word, such as `true`, is replaced, and empty lines at the end are removed.
            if members.isEmpty { lines = [] }
            while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
            return (lines + [new ?? ""]).joined(separator: "\n") + "\n"
        }
        let start = isBraced ? index : members[index].key.line - 1
        let next = members.indices.contains(index + 1) ? members[index + 1].key.line - 1 : lines.count
        let end = isBraced ? index + 1 : max(start + 1, min(next, lines.count))
        // Empty lines, and comments above the next key, do not belong to this key.
        var last = end
        while last > start + 1, lines[last - 1].first(where: { $0 != " " }).map({ $0 == "#" }) ?? true { last -= 1 }
        lines.replaceSubrange(start..<last, with: new.map { [$0] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// A value as YAML: unchanged if YAML reads it as this value, otherwise in quotes.
    private static func written(_ value: String) -> String {
        let read = try? Node.read("key: \(value)", file: "draft")?.mapping?["key"]
        let isStructure = value.first.map { "[{\"'".contains($0) } ?? false
        let isMeant = isStructure ? read != nil : read?.scalar?.string == value
        return isMeant ? value : Node.text(value).flow
    }
}

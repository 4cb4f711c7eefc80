import HTTPModel
import Rules
import Runner
import Terminal
import Text
import Tools

extension ConsoleModel {
    /// Completes the key or the word before the cursor of a rule; indents if there is none.
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
        if completion.text.isEmpty { tell("No key or value of \(tool.title) starts like this.", .error) }
        guard !words.isEmpty else { return effects }
        remark("Possible here: \(words)", isWrong: false) { $0.purpose == editor.purpose }
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
            return refuse("Fix the error first.")
        }
    }

    /// Applies the rule of the uppermost editor; with a path, first saves the response of its exchange there.
    mutating func applyRule(savedTo path: String?) -> [Effect] {
        guard case .editor(let editor)? = overlays.last else { return [] }
        let effects = applyRule(editor)
        guard let path, !effects.isEmpty, case .exchange(let id)? = editor.origin else { return effects }
        return [.saveBody(id, path: path)] + effects
    }

    /// Asks whether to save the recorded response to a missing file that a rule names; else applies the rule.
    mutating func offerAnswer(_ path: String?, _ text: String) -> [Effect] {
        guard case .editor(let editor)? = overlays.last, editor.area.text == text else { return [] }
        guard let path, case .exchange(let id)? = editor.origin else { return applyRule(editor) }
        return confirm(
            "\(path) does not exist. Save the recorded response of exchange \(id) to it?",
            [
                .init("y", "save it and apply the rule") { $0.applyRule(savedTo: path) },
                .init("a", "only apply the rule; until the file exists, requests go to the server") {
                    $0.applyRule(savedTo: nil)
                },
                .init("n", "keep editing"),
            ]
        )
    }
}

extension TextArea {
    mutating func replaceBeforeCursor(from column: Int, with text: String) {
        for _ in column..<max(column, cursor.column) { _ = take(Key(.backspace)) }
        insert(text)
    }
}

/// One change of a drafted text, as a line says it: `to http://localhost:3000`, `3 action: 403`, `remove to`.
struct DraftChange: Hashable {
    enum Place: Hashable {
        /// The number of a line, from 1.
        case line(Int)
        /// A key of a rule, or what `edit` changes of a message.
        case key(String)
    }

    enum Kind: Hashable {
        case set(Place, String)
        case insert(Int, String)
        case remove(Place)
    }

    let kind: Kind

    /// Throws ``ConsoleError`` for what is not a change.
    init(_ words: String) throws(ConsoleError) {
        let (first, rest) = words.firstWord
        func number(_ word: String) -> Int? { Int(word).flatMap { $0 > 0 ? $0 : nil } }
        switch (first, rest) {
        case ("remove", let what?):
            kind = .remove(number(what).map { .line($0) } ?? .key(what))
        case ("insert", let what?):
            let (line, text) = what.firstWord
            guard let line = number(line), let text else {
                throw ConsoleError("insert takes the number of a line and its text: draft insert 2 action: 403")
            }
            kind = .insert(line, text)
        case (_, let value?) where Int(first) != nil:
            guard let line = number(first) else { throw ConsoleError("Lines count from 1.") }
            kind = .set(.line(line), value)
        case (_, let value?):
            let key = first.last == ":" ? String(first.dropLast()) : first
            kind = .set(.key(key), value)
        case (_, nil):
            guard let equals = first.firstIndex(of: "="), equals != first.startIndex else {
                throw ConsoleError(
                    "draft takes KEY VALUE, NUMBER TEXT, insert NUMBER TEXT, or remove KEY; alone it reads the draft."
                )
            }
            kind = .set(.key(String(first[..<equals])), String(first[first.index(after: equals)...]))
        }
    }

    /// The lines of a text with the change; `nil` if the change is of a key.
    func lines(of text: String) throws(ConsoleError) -> String? {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        func index(_ number: Int, upTo last: Int) throws(ConsoleError) -> Int {
            guard number <= last else { throw ConsoleError("The draft has no line \(number): its last is \(last).") }
            return number - 1
        }
        func indented(_ text: String, as index: Int) -> String {
            String((lines.indices.contains(index) ? lines[index] : "").prefix { $0 == " " }) + text
        }
        switch kind {
        case .set(.line(let number), let new):
            let index = try index(number, upTo: lines.count)
            lines[index] = indented(new, as: index)
        case .insert(let number, let new):
            let index = try index(number, upTo: lines.count + 1)
            lines.insert(indented(new, as: index), at: index)
        case .remove(.line(let number)): lines.remove(at: try index(number, upTo: lines.count))
        case .set(.key, _), .remove(.key): return nil
        }
        return lines.joined(separator: "\n")
    }

    func message(_ text: String) throws(ConsoleError) -> String { try lines(of: text) ?? text }

    var isOfKey: Bool {
        switch kind {
        case .set(.key, _), .remove(.key): true
        default: false
        }
    }

    /// Reads changes of a message: `method PUT`, `header X-Mode: test`, `remove Cookie`, or words as `edit` takes them.
    static func edit(_ words: String) throws -> HoldEdit {
        let change = try DraftChange(words).kind
        var edit = HoldEdit()
        switch change {
        case .remove(.key(let name)):
            if name.contains("."), let place = try? HoldEdit.place(name) {
                edit.values.append(.init(place: place))
            } else {
                edit.removeHeaders.append(name)
            }
        case .set(.key(let key), let value):
            guard let option = HoldOption(rawValue: key) else {
                guard let place = try? HoldEdit.place(key) else { return try HoldWords.edit(words) }
                edit.values.append(.init(place: place, value: value))
                break
            }
            guard value != "@-" else {
                throw ConsoleError("'@-' is not possible here: commands are read from standard input.")
            }
            try option.add(value, to: &edit)
        default: break
        }
        return edit
    }

    /// A rule's text with the change; all that is not of the changed key stays as it is written.
    func rule(_ text: String) throws(ConsoleError) -> String {
        if let lines = try lines(of: text) { return lines }
        let members: [Node.Member]
        do {
            members = try Node.read(text, file: "draft")?.mapping ?? []
        } catch {
            throw ConsoleError("The draft cannot be read (\(error)); change its line: draft NUMBER TEXT.")
        }
        switch kind {
        case .set(.key(let key), let value): return Self.put("\(key): \(Self.written(value))", at: key, members, text)
        case .remove(.key(let key)):
            guard members[key] != nil else { throw ConsoleError("The draft has no '\(VisibleText.of(key))'.") }
            return Self.put(nil, at: key, members, text)
        default: return text
        }
    }

    /// Puts a line in place of those of a key, or after the last one.
    private static func put(_ new: String?, at key: String, _ members: [Node.Member], _ text: String) -> String {
        let isBraced = text.drop { $0.isWhitespace }.first == "{"
        var lines =
            isBraced
            ? members.map(\.flow) : text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let index = members.firstIndex { $0.key.scalar?.string == key }
        guard let index else {
            // Neither a rule that is one word, as `true`, nor empty lines stay.
            if members.isEmpty { lines = [] }
            while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
            return (lines + [new ?? ""]).joined(separator: "\n") + "\n"
        }
        let start = isBraced ? index : members[index].key.line - 1
        let next = members.indices.contains(index + 1) ? members[index + 1].key.line - 1 : lines.count
        let end = isBraced ? index + 1 : max(start + 1, min(next, lines.count))
        // Comments above the next key, and empty lines, are not of this one.
        var last = end
        while last > start + 1, lines[last - 1].first(where: { $0 != " " }).map({ $0 == "#" }) ?? true { last -= 1 }
        lines.replaceSubrange(start..<last, with: new.map { [$0] } ?? [])
        return lines.joined(separator: "\n")
    }

    /// A value as YAML: as it stands if that is what it means, else in quotes.
    private static func written(_ value: String) -> String {
        let read = try? Node.read("key: \(value)", file: "draft")?.mapping?["key"]
        let isStructure = value.first.map { "[{\"'".contains($0) } ?? false
        let isMeant = isStructure ? read != nil : read?.scalar?.string == value
        return isMeant ? value : Node.text(value).flow
    }
}

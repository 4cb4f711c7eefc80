import Rules
import Runner
import Text

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

    /// The lines of a text with the change; `nil` where the change is of a key.
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

    /// A message's text with the change of a line.
    func message(_ text: String) throws(ConsoleError) -> String { try lines(of: text) ?? text }

    /// Whether it changes a key of a rule or a part of a message, and not a line.
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
        case .remove(.key(let name)): edit.removeHeaders.append(name)
        case .set(.key(let key), let value):
            guard let option = HoldOption(rawValue: key) else { return try HoldWords.edit(words) }
            guard value != "@-" else { throw ConsoleError("Standard input is where the commands come from.") }
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

    /// A value as YAML: as it stands where that is what it means, else in quotes.
    private static func written(_ value: String) -> String {
        let read = try? Node.read("key: \(value)", file: "draft")?.mapping?["key"]
        let isStructure = value.first.map { "[{\"'".contains($0) } ?? false
        let isMeant = isStructure ? read != nil : read?.scalar?.string == value
        return isMeant ? value : Node.text(value).flow
    }
}

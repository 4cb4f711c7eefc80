import HTTPModel
import Text

struct LinearOrder: Hashable {
    let command: Command
    let argument: String?

    init(_ command: Command, _ argument: String? = nil) {
        self.command = command
        self.argument = argument
    }

    /// Reads a line; `nil` for an empty line, or a comment that begins with `#`.
    ///
    /// - Throws: ``ConsoleError`` where the word begins no command, or several.
    init?(_ line: String) throws(ConsoleError) {
        let text = LinearOrder.trimmed(line[...])
        guard let first = text.first, first != "#" || text.dropFirst().first?.isNumber == true else { return nil }
        if first == "#" {
            self.init(.goTo, text)
            return
        }
        let end = text.firstIndex { $0 == " " || $0 == "\t" } ?? text.endIndex
        let word = text[..<end].lowercased()
        let rest = LinearOrder.trimmed(text[end...])
        let found = LinearOrder.commands(beginningWith: word)
        guard let command = found.first else {
            throw ConsoleError("There is no command '\(VisibleText.of(String(word.prefix(40))))'; help lists them.")
        }
        guard found.count == 1 else {
            throw ConsoleError("'\(word)' may be \(found.map(\.rawValue).joined(separator: ", ")).")
        }
        self.init(command, rest.isEmpty ? nil : rest)
    }

    /// The command with that word, or all that begin with it.
    private static func commands(beginningWith word: String) -> [Command] {
        let all = CommandTable.entries.filter { $0.form != .screen }.map(\.command)
        if let whole = all.first(where: { $0.rawValue == word }) { return [whole] }
        return all.filter { $0.rawValue.hasPrefix(word) }.sorted { $0.rawValue < $1.rawValue }
    }

    private static func trimmed(_ text: Substring) -> String {
        let space: Set<Character> = [" ", "\t"]
        let head = text.drop { space.contains($0) }
        return String(head.prefix(head.count - head.reversed().prefix { space.contains($0) }.count))
    }
}

import Foundation
import Rules
import Text

extension CommandCall {
    /// Reads a line; `nil` if it is empty or a comment (`#`). Throws if no command or several begin with the word.
    init?(_ line: String) throws(ConsoleError) {
        let text = CommandCall.trimmed(line)
        guard let first = text.first, first != "#" || text.dropFirst().first?.isNumber == true else { return nil }
        if first == "#" {
            self.init(.goTo, text)
            return
        }
        let (word, rest) = CommandCall.split(text)
        let found = CommandCall.commands(beginningWith: word) { $0.form != .screen }
        guard let command = found.first else { throw ConsoleError(CommandCall.unknown(word)) }
        guard found.count == 1 else {
            throw ConsoleError("'\(word)' is ambiguous: \(found.map(\.rawValue).joined(separator: ", ")).")
        }
        self.init(command, rest.isEmpty ? nil : rest)
    }

    /// Reads palette input as a command of the screen with its argument; `nil` if the input is not such a command.
    init?(typed line: String) {
        let (word, rest) = CommandCall.split(CommandCall.trimmed(line))
        guard !rest.isEmpty, let command = CommandCall.command(typed: word) else { return nil }
        self.init(command, rest)
    }

    static func command(typed word: String) -> Command? {
        guard !word.isEmpty else { return nil }
        let found = commands(beginningWith: word.lowercased()) { $0.form != .lines && !$0.argument.name.isEmpty }
        return found.count == 1 ? found[0] : nil
    }

    private static func commands(beginningWith word: String, _ isMeant: (CommandEntry) -> Bool) -> [Command] {
        let all = CommandTable.entries.filter(isMeant).map(\.command)
        // A whole name is never an abbreviation, even if only the other form of the console has its command.
        if let whole = Command(rawValue: word) { return all.contains(whole) ? [whole] : [] }
        return all.filter { $0.rawValue.hasPrefix(word) }.sorted { $0.rawValue < $1.rawValue }
    }

    private static func unknown(_ word: String) -> String {
        if let entry = CommandTable.entries.first(where: { $0.command.rawValue == word }) {
            return "'\(word)' is for the screen. \(entry.instead)"
        }
        let shown = VisibleText.of(String(word.prefix(40)))
        let meant = CommandTable.entries.filter { entry in
            entry.form != .screen && entry.synonyms.split(separator: " ").contains { $0 == word }
        }
        guard meant.isEmpty else {
            let words = meant.prefix(4).map { "\($0.command.rawValue) (\($0.title))" }
            return "Unknown command '\(shown)'. Did you mean: \(words.joined(separator: "; "))?"
        }
        let known = CommandTable.entries.filter { $0.form != .screen }.map(\.command.rawValue)
        let near = Suggestion.text(for: word, among: known)
        return "Unknown command '\(shown)'\(near.hasPrefix(";") ? "" : near); help lists all."
    }

    private static func split(_ text: String) -> (word: String, rest: String) {
        let end = text.firstIndex { $0 == " " || $0 == "\t" } ?? text.endIndex
        return (text[..<end].lowercased(), trimmed(text[end...]))
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        text.trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }
}

struct LinearInput {
    /// The maximum length of a line, in bytes.
    static let longestLine = 1 << 20

    let descriptor: Int32
    private(set) var hasEnded = false
    private var bytes: [UInt8] = []
    private var lines: ArraySlice<String?> = []
    private var isSkipping = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    var isOver: Bool { hasEnded && lines.isEmpty }

    /// The next complete line; throws ``ConsoleError`` if this line is too long.
    mutating func next() throws(ConsoleError) -> String? {
        guard let next = lines.popFirst() else { return nil }
        guard let line = next else {
            throw ConsoleError("A line is longer than \(LinearInput.longestLine >> 20) MiB and was ignored.")
        }
        return line
    }

    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        if count > 0 {
            take(buffer[..<count])
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
            end()
        }
    }

    mutating func take(_ more: some Sequence<UInt8>) {
        for byte in more {
            if byte == 0x0A {
                if isSkipping { lines.append(nil) } else { finishLine() }
                isSkipping = false
                bytes.removeAll(keepingCapacity: true)
            } else if !isSkipping {
                bytes.append(byte)
                isSkipping = bytes.count > LinearInput.longestLine
            }
        }
    }

    mutating func end() {
        hasEnded = true
        if isSkipping { lines.append(nil) } else if !bytes.isEmpty { finishLine() }
        bytes = []
    }

    private mutating func finishLine() {
        if bytes.last == 0x0D { bytes.removeLast() }
        lines.append(String(decoding: bytes, as: UTF8.self))
    }
}

import HTTPModel

/// What a line of linear mode asks for.
enum LinearOrder: Equatable {
    /// Nothing: an empty line, or a remark that begins with `#`.
    case nothing
    /// A command of the console, with what follows its word.
    case command(Command, String?)
    /// A word that only linear mode has.
    case word(LinearWord, String?)

    /// Reads a line.
    ///
    /// - Throws: ``ConsoleFailure`` where no command has that word, or several begin with it.
    init(_ line: String) throws {
        let text = LinearOrder.trimmed(line[...])
        guard let first = text.first, first != "#" || text.dropFirst().first?.isNumber == true else {
            self = .nothing
            return
        }
        if first == "#" {
            self = .command(.goTo, text)
            return
        }
        let end = text.firstIndex { $0 == " " || $0 == "\t" } ?? text.endIndex
        let word = text[..<end].lowercased()
        let rest = LinearOrder.trimmed(text[end...])
        let argument = rest.isEmpty ? nil : rest
        let found = LinearOrder.words(beginningWith: word)
        guard let name = found.first else {
            throw ConsoleFailure("There is no command '\(VisibleText.of(String(word.prefix(40))))'; help lists them.")
        }
        guard found.count == 1 else {
            throw ConsoleFailure("'\(word)' may be \(found.joined(separator: ", ")).")
        }
        if let own = LinearWord(rawValue: name) {
            self = .word(own, argument)
        } else if let command = Command(rawValue: name) {
            self = .command(command, argument)
        } else {
            self = .nothing
        }
    }

    /// The words that one may mean: itself, or all that begin with it.
    private static func words(beginningWith word: String) -> [String] {
        let all = LinearWord.allCases.map(\.rawValue) + Command.allCases.filter { !$0.needsScreen }.map(\.rawValue)
        return all.contains(word) ? [word] : all.filter { $0.hasPrefix(word) }.sorted()
    }

    private static func trimmed(_ text: Substring) -> String {
        let space: Set<Character> = [" ", "\t"]
        let head = text.drop { space.contains($0) }
        return String(head.prefix(head.count - head.reversed().prefix { space.contains($0) }.count))
    }
}

/// The words that linear mode has beside the commands.
enum LinearWord: String, CaseIterable {
    case list
    case show
    case apply
    case discard
    case switchRule = "switch-rule"
    case removeRule = "remove-rule"
    case status
    case quiet
    case verbose

    /// What may follow it.
    var argument: String {
        switch self {
        case .list: "[COUNT]"
        case .show: "ID [PAGE]"
        case .switchRule, .removeRule: "TOOL NUMBER"
        case .apply, .discard, .status, .quiet, .verbose: ""
        }
    }

    var title: String {
        switch self {
        case .list: "The last exchanges of the list, each by its number"
        case .show: "What is known of an exchange: overview, request, response, messages or difference"
        case .apply: "Put the drafted rule in force"
        case .discard: "Throw the drafted rule away"
        case .switchRule: "Switch one rule of a tool on or off"
        case .removeRule: "Remove one rule of a tool"
        case .status: "How the proxy is, and what the list shows"
        case .quiet: "Say nothing of new exchanges"
        case .verbose: "Say one sentence for each exchange that has ended"
        }
    }
}

extension Command {
    /// Whether it is about a screen, so that linear mode does not have it.
    var needsScreen: Bool {
        switch self {
        case .pageUp, .pageDown, .left, .right, .back, .fold, .columns, .theme, .palette, .redraw, .suspend, .follow:
            true
        default: false
        }
    }
}

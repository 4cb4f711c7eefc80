import Foundation
import Jobs
package import Rules
package import Terminal
import Tools

package struct Keymap: Sendable, Hashable {
    package enum Result: Sendable, Hashable {
        case unknown
        case prefix(Key)
        case binding(CommandCall)
    }

    /// The commands by one key or by a sequence of two keys.
    private var calls: [Context: [[Key]: CommandCall]] = [:]

    package static let standard: Keymap = {
        var map = Keymap()
        for entry in CommandTable.entries {
            for (index, keys) in entry.keys.enumerated() {
                let argument = Keymap.argument(entry, keys, index)
                for context in entry.contexts(of: keys) {
                    map.bind(keys, to: CommandCall(entry.command, argument), in: context)
                }
            }
        }
        return map
    }()

    package init() {}

    /// The tool or page that these keys select, for a command with keys for each tool or page.
    private static func argument(_ entry: CommandEntry, _ keys: String, _ index: Int) -> String? {
        switch entry.command {
        case .toggleTool, .panel, .ruleFromExchange: Tool.all.first { keys.lowercased().hasSuffix($0.letter) }?.key
        case .page: keys
        default: nil
        }
    }

    /// Binds one key, or two with a space between them, to a command or to `nil`; returns whether the keys are valid.
    @discardableResult
    package mutating func bind(_ keys: String, to binding: CommandCall?, in context: Context) -> Bool {
        guard let keys = Keymap.keys(keys) else { return false }
        calls[context, default: [:]][keys] = binding
        return true
    }

    /// Reads one key, or two with a space between them.
    fileprivate static func keys(_ spelling: String) -> [Key]? {
        let words = spelling.split(separator: " ")
        let keys = words.compactMap { Key(spelling: String($0)) }
        return keys.count == words.count && (1...2).contains(keys.count) ? keys : nil
    }

    package func lookUp(_ key: Key, after prefix: Key?, in context: Context) -> Result {
        if prefix == nil, !continuations(of: key, in: context).isEmpty { return .prefix(key) }
        return call(of: (prefix.map { [$0] } ?? []) + [key], in: context).map(Result.binding) ?? .unknown
    }

    package func continuations(of prefix: Key, in context: Context) -> [(key: Key, binding: CommandCall)] {
        (calls[context] ?? [:]).filter { $0.key.count == 2 && $0.key[0] == prefix }
            .map { (key: $0.key[1], binding: $0.value) }.sorted { $0.key.spelling < $1.key.spelling }
    }

    fileprivate func call(of keys: [Key], in context: Context) -> CommandCall? { calls[context]?[keys] }

    package func bindings(in context: Context) -> [(keys: String, binding: CommandCall)] {
        let order = Dictionary(CommandTable.entries.enumerated().map { ($1.command, $0) }) { first, _ in first }
        func rank(_ row: (keys: String, binding: CommandCall)) -> (Int, String, Int, String) {
            (order[row.binding.command] ?? .max, row.binding.argument ?? "", row.keys.count, row.keys)
        }
        return all(in: context).sorted { rank($0) < rank($1) }
    }

    /// The spellings of a command's keys in a context, shortest first.
    package func keys(for command: Command, argument: String? = nil, in context: Context) -> [String] {
        all(in: context)
            .filter { $0.binding.command == command && (argument == nil || $0.binding.argument == argument) }
            .map(\.keys).sorted { ($0.count, $0) < ($1.count, $1) }
    }

    private func all(in context: Context) -> [(keys: String, binding: CommandCall)] {
        (calls[context] ?? [:]).map { (keys: $0.key.spelling, binding: $0.value) }
    }
}

extension [Key] {
    fileprivate var spelling: String { map(\.spelling).joined(separator: " ") }
}

/// The user's key file: `keys.yaml` in Sluice's configuration directory.
///
/// ```yaml
/// keys:
///   list: { "ctrl-n": down, "x": null, "g g": top, "f2": toggle throttle }
/// ```
/// Keys that are not in the file keep their standard meaning.
package struct KeyFile: Sendable {
    /// The keys of the file; the standard keys if the file has an issue.
    package let keymap: Keymap
    package let issues: [ProfileIssue]

    package static var path: String { StandardPaths.configuration + "/keys.yaml" }

    /// Reads the user's file; uses the standard keys if the file does not exist.
    package init() {
        let path = KeyFile.path
        self = FileManager.default.fileExists(atPath: path) ? KeyFile(file: path) : KeyFile("", file: path)
    }

    package init(file: String) { self.init(file) { () throws(ProfileError) in try Node.read(file: file) } }

    package init(_ text: String, file: String) {
        self.init(file) { () throws(ProfileError) in try Node.read(text, file: file) }
    }

    private init(_ file: String, _ read: () throws(ProfileError) -> Node?) {
        var reading = KeyFileReading(file: file)
        do throws(ProfileError) {
            if let root = try read() { reading.take(root) }
        } catch {
            reading.issues = error.issues
        }
        issues = reading.issues.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
        keymap = reading.issues.isEmpty ? reading.keymap : .standard
    }

    package func configure(_ model: inout ConsoleModel) {
        model.keymap = keymap
        guard let first = issues.first else { return }
        let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
        model.pin("\(first)\(more). The standard keys are used; sluice keys check shows all errors.", .error)
    }

    package static func text(_ keymap: Keymap) -> String {
        var lines = ["keys:"]
        for context in Context.allCases {
            let bindings = keymap.bindings(in: context).filter { !isTyped($0.keys, in: context) }
            let known = Set(bindings.map(\.keys))
            let all = Keymap.standard.bindings(in: context).map(\.keys)
            let taken = all.filter { !known.contains($0) && !isTyped($0, in: context) }
            guard !bindings.isEmpty || !taken.isEmpty else { continue }
            lines.append("  \(context.rawValue):")
            for (keys, binding) in bindings {
                let argument = binding.argument.map { " \($0)" } ?? ""
                lines.append("    \(quoted(keys)): \(binding.command.rawValue)\(argument)")
            }
            for keys in taken { lines.append("    \(quoted(keys)): null") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Whether a key types a character in a context with text input, so that it cannot mean a command.
    static func isTyped(_ keys: String, in context: Context) -> Bool {
        guard [.editor, .line, .picker].contains(context), let first = keys.split(separator: " ").first,
            let key = Key(spelling: String(first)), case .character = key.code
        else { return false }
        return key.modifiers.isDisjoint(with: [.control, .alt])
    }

    /// Keys that a terminal cannot distinguish, because it sends the same byte for both.
    static let arrivesAs = ["ctrl-m": "enter", "ctrl-j": "enter", "ctrl-i": "tab", "ctrl-[": "esc"]

    private static func quoted(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}

private struct KeyFileReading {
    let file: String
    var keymap = Keymap.standard
    var issues: [ProfileIssue] = []

    mutating func take(_ root: Node) {
        guard case .mapping(let members) = root.content else {
            return wrong(root, "a key file begins with 'keys:', as in keys: { list: { \"ctrl-n\": down } }")
        }
        for member in members {
            guard let word = word(member.key) else { continue }
            guard word == "keys" else {
                wrong(member.key, "there is no '\(word.prefix(40))' here (did you mean 'keys'?)")
                continue
            }
            each(member.value, "keys") { reading, member in reading.takeContext(member) }
        }
    }

    private mutating func takeContext(_ member: Node.Member) {
        guard let word = word(member.key) else { return }
        guard let context = Context(rawValue: word) else {
            return wrong(member.key, CommandArgument.unknown("place", word, Context.allCases.map(\.rawValue)))
        }
        var named: [[Key]: Node] = [:]
        each(member.value, word) { reading, member in
            guard let keys = reading.keys(member.key, in: context) else { return }
            guard named.updateValue(member.key, forKey: keys) == nil else {
                return reading.wrong(member.key, "the key '\(keys.spelling)' is given twice")
            }
            guard let binding = reading.binding(member.value) else { return }
            reading.keymap.bind(keys.spelling, to: binding, in: context)
        }
        checkPrefixes(named, in: context)
    }

    /// A key must not both mean a command and begin a sequence of two keys.
    private mutating func checkPrefixes(_ named: [[Key]: Node], in context: Context) {
        let places = named.sorted { ($0.value.line, $0.value.column) < ($1.value.line, $1.value.column) }
        for (keys, place) in places {
            let first = keys[0]
            guard keymap.call(of: [first], in: context) != nil else { continue }
            let following = keymap.continuations(of: first, in: context)
            guard let second = following.first?.key else { continue }
            // A sequence that the file sets to null conflicts with nothing.
            guard keys.count == 1 || following.contains(where: { $0.key == keys[1] }) else { continue }
            let both = "\(first.spelling) \(second.spelling)"
            wrong(place, "'\(first.spelling)' is a command and also begins '\(both)'; set one of them to null")
        }
    }

    private mutating func keys(_ place: Node, in context: Context) -> [Key]? {
        guard let spelling = word(place) else { return nil }
        guard let known = Keymap.keys(spelling) else {
            let examples = "a, A, ctrl-x, alt-enter, f5, space, pgup, or two: g g"
            return refused(place, "'\(spelling.prefix(40))' is not a key; keys are \(examples)")
        }
        for key in known.map(\.spelling) {
            guard let arrives = KeyFile.arrivesAs[key] else { continue }
            return refused(place, "'\(key)' cannot be bound: a terminal sends \(arrives) for it")
        }
        if KeyFile.isTyped(spelling, in: context) {
            return refused(place, "'\(spelling)' is typed as text here; use a key with ctrl- or alt-")
        }
        return known
    }

    /// The command of a binding, or `.some(nil)` if the key means nothing; `nil` if the value is invalid.
    private mutating func binding(_ place: Node) -> CommandCall?? {
        if place.isNothing { return .some(nil) }
        guard let text = word(place) else { return nil }
        let words = text.split(separator: " ", maxSplits: 1).map(String.init)
        guard let name = words.first, let command = Command(rawValue: name) else {
            let known = Command.allCases.map(\.rawValue)
            let suggestion = Suggestion.text(for: words.first ?? "", among: known)
            return refused(place, "there is no command '\(text.prefix(40))'\(suggestion)")
        }
        let argument = words.dropFirst().first
        let accepted = CommandTable.entry(command)?.argument ?? .none
        if let argument, accepted.name.isEmpty {
            return refused(place, "'\(name)' takes no argument, but got '\(argument.prefix(40))'")
        }
        if let mistake = argument.flatMap(accepted.mistake) { return refused(place, mistake) }
        return .some(CommandCall(command, argument))
    }

    private mutating func word(_ place: Node) -> String? {
        if !place.isNothing, let text = place.scalar?.string { return text }
        return refused(place, "expected a word; quote it if YAML reads it as something else")
    }

    private mutating func each(_ value: Node, _ what: String, _ body: (inout Self, Node.Member) -> Void) {
        switch value.content {
        case .mapping(let members): for member in members { body(&self, member) }
        case .scalar where value.isNothing: break
        case .list, .scalar: wrong(value, "'\(what)' holds a mapping, as in \(what): { … }")
        }
    }

    private mutating func wrong(_ place: Node, _ message: String) { issues.append(place.issue(message, in: file)) }

    private mutating func refused<Value>(_ place: Node, _ message: String) -> Value? {
        wrong(place, message)
        return nil
    }
}

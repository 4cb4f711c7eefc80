import Rules
package import Terminal
import Tools

/// What keys mean in each context.
package struct Keymap: Sendable, Hashable {
    package struct Binding: Sendable, Hashable {
        package var command: Command
        /// The argument, as a person would type it.
        package var argument: String?

        package init(_ command: Command, _ argument: String? = nil) {
            self.command = command
            self.argument = argument
        }
    }

    package enum Result: Sendable, Hashable {
        case unknown
        /// The first of two keys.
        case prefix(Key)
        case binding(Binding)
    }

    private var single: [Context: [Key: Binding]] = [:]
    private var double: [Context: [Key: [Key: Binding]]] = [:]

    /// The keys of the table of commands.
    package static let standard: Keymap = {
        var map = Keymap()
        for entry in CommandTable.entries {
            for (index, keys) in entry.keys.enumerated() {
                let argument = Keymap.argument(entry, keys, index)
                for context in entry.contexts(of: keys) {
                    map.bind(keys, to: Binding(entry.command, argument), in: context)
                }
            }
        }
        return map
    }()

    package init() {}

    /// The tool or page that one of several keys of a command selects.
    private static func argument(_ entry: CommandEntry, _ keys: String, _ index: Int) -> String? {
        switch entry.command {
        case .toggleTool, .panel, .ruleFromExchange:
            Tool.all.first { keys.lowercased().hasSuffix($0.letter) }?.key
        case .page: keys
        default: nil
        }
    }

    /// Binds keys to a command, or to nothing.
    ///
    /// - Parameter keys: one key, or two with a space between, as in the key file.
    /// - Returns: whether the keys could be read.
    @discardableResult
    package mutating func bind(_ keys: String, to binding: Binding?, in context: Context) -> Bool {
        let keys = keys.split(separator: " ").map { Key(spelling: String($0)) }
        switch (keys.first ?? nil, keys.count > 1 ? keys[1] : nil, keys.count) {
        case (let key?, _, 1): single[context, default: [:]][key] = binding
        case (let first?, let second?, 2): double[context, default: [:]][first, default: [:]][second] = binding
        default: return false
        }
        return true
    }

    package func lookUp(_ key: Key, after prefix: Key?, in context: Context) -> Result {
        if let prefix { return (double[context]?[prefix]?[key]).map(Result.binding) ?? .unknown }
        if double[context]?[key] != nil { return .prefix(key) }
        return (single[context]?[key]).map(Result.binding) ?? .unknown
    }

    /// The keys that may follow the first of two, sorted.
    package func continuations(of prefix: Key, in context: Context) -> [(key: Key, binding: Binding)] {
        (double[context]?[prefix] ?? [:]).map { ($0.key, $0.value) }.sorted { $0.key.spelling < $1.key.spelling }
    }

    /// Whether a key alone means a command.
    func hasCommand(for key: Key, in context: Context) -> Bool { single[context]?[key] != nil }

    /// All keys of a context, in the order of the commands.
    package func bindings(in context: Context) -> [(keys: String, binding: Binding)] {
        let order = Dictionary(CommandTable.entries.enumerated().map { ($1.command, $0) }) { first, _ in first }
        func rank(_ row: (keys: String, binding: Binding)) -> (Int, String, Int, String) {
            (order[row.binding.command] ?? .max, row.binding.argument ?? "", row.keys.count, row.keys)
        }
        return all(in: context).sorted { rank($0) < rank($1) }
    }

    /// The keys of a command in a context, shortest first, as they are spelled.
    package func keys(for command: Command, argument: String? = nil, in context: Context) -> [String] {
        all(in: context)
            .filter { $0.binding.command == command && (argument == nil || $0.binding.argument == argument) }
            .map(\.keys).sorted { ($0.count, $0) < ($1.count, $1) }
    }

    private func all(in context: Context) -> [(keys: String, binding: Binding)] {
        (single[context] ?? [:]).map { (keys: $0.key.spelling, binding: $0.value) }
            + (double[context] ?? [:]).flatMap { first, following in
                following.map { (keys: "\(first.spelling) \($0.key.spelling)", binding: $0.value) }
            }
    }
}

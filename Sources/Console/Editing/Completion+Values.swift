import Rules
import Tools

/// What Tab makes of a text: words, files, keys of a rule.
struct ValueCompletion: Hashable {
    /// Where the part begins that is replaced, in characters; it ends at the cursor.
    var start: Int
    /// What stands there then; empty where nothing fits.
    var text: String
    /// What fits, where it is more than one.
    var candidates: [String] = []

    /// The most candidates that are shown.
    static let most = 40

    /// Completes the word before the cursor.
    static func word(in characters: [Character], at cursor: Int, of words: [String]) -> ValueCompletion {
        let before = characters.prefix(cursor)
        var start = before.lastIndex { $0 == " " || $0 == "," }.map { $0 + 1 } ?? 0
        // A sign says that it is added or taken away.
        if start < before.endIndex, "+-".contains(before[start]) { start += 1 }
        return complete(String(before[start...]), from: start, of: words, end: " ")
    }

    /// Completes a path by the names in its directory; a name of a directory ends with `/`.
    static func file(_ path: String, _ names: [String]) -> ValueCompletion {
        let start = path.lastIndex(of: "/").map { path.distance(from: path.startIndex, to: $0) + 1 } ?? 0
        return complete(String(path.dropFirst(start)), from: start, of: names, end: "")
    }

    private static func complete(_ word: String, from start: Int, of words: [String], end: String) -> ValueCompletion {
        let fitting = words.filter { $0.hasPrefix(word) }
        let folded = fitting.isEmpty ? words.filter { $0.lowercased().hasPrefix(word.lowercased()) } : fitting
        guard let first = folded.first else { return ValueCompletion(start: start, text: "") }
        guard folded.count > 1 else { return ValueCompletion(start: start, text: first + end) }
        let common = folded.dropFirst().reduce(first) { $0.sharedPrefix(with: $1) }
        let isShorter = common.count < word.count || !common.hasPrefix(word) && fitting.isEmpty == false
        let more = folded.count > most ? ["and \(folded.count - most) more"] : []
        return ValueCompletion(
            start: start,
            text: isShorter ? word : common,
            candidates: folded.prefix(most) + more
        )
    }

    /// The commands that take the name of a file.
    static func completesFiles(_ command: Command) -> Bool {
        [.saveBody, .export, .saveProfile, .loadProfile, .openSession, .importSession].contains(command)
    }

    /// Completes a key of a tool's rule, one of the words that its value may be, or a host of the place that it names;
    /// `nil` where the cursor is behind something else, so that Tab indents.
    static func rule(_ line: String, at column: Int, of tool: Tool, hosts: [String] = []) -> ValueCompletion? {
        let before = line.prefix(column)
        let keys = tool.allKeys
        // A list may have places before this one, and a place a scheme.
        let placeLine = #/^[ -]*([a-z-]+): *(?:\[.*[ ,\[])?["']?(?:[a-z]+://)?([^ "'/\[\],]*)$/#
        if !hosts.isEmpty, let place = before.firstMatch(of: placeLine),
            let key = named(String(place.1), in: keys), key.value.namesPlaces
        {
            return complete(String(place.2), from: column - place.2.count, of: hosts, end: "")
        }
        if let value = before.firstMatch(of: /^[ -]*([a-z-]+): *([^ ]*)$/) {
            guard let key = named(String(value.1), in: keys), !key.value.words.isEmpty else { return nil }
            return complete(String(value.2), from: column - value.2.count, of: key.value.words, end: "")
        }
        guard let key = before.firstMatch(of: /^[ -]*(?:\{ *|.*, )?([a-z][a-z-]*)$/) else { return nil }
        let isNested = before.first == " " || before.contains("{")
        let nested = keys.flatMap(\.value.keys)
        let names = (isNested && !nested.isEmpty ? nested : keys).map(\.name)
        return complete(String(key.1), from: column - key.1.count, of: names, end: ": ")
    }

    private static func named(_ name: String, in keys: [GrammarKey]) -> GrammarKey? {
        keys.first { $0.name == name } ?? keys.lazy.flatMap(\.value.keys).first { $0.name == name }
    }
}

extension GrammarValue {
    /// Whether it names places, which begin with a host.
    fileprivate var namesPlaces: Bool {
        switch self {
        case .location, .locations: true
        case .list(let value): value.namesPlaces
        case .either(let one, let other): one.namesPlaces || other.namesPlaces
        case .flag, .choice, .text, .number, .duration, .pattern, .path, .mapping, .names: false
        }
    }

    /// The words that it may be; empty where it is free.
    fileprivate var words: [String] {
        switch self {
        case .flag: ["true", "false"]
        case .choice(let words): words
        case .list(let value): value.words
        case .either(let one, let other): one.words + other.words
        case .text, .number, .duration, .location, .locations, .pattern, .path, .mapping, .names: []
        }
    }
}

extension String {
    fileprivate func sharedPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

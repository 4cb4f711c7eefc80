import Description
import HTTPModel
import Rules

struct SeenValues {
    private static let most = 500

    private(set) var values: [String: [String]] = [:]

    mutating func add(_ record: ExchangeRecord) {
        add("host", record.url.host)
        add("method", record.method)
        add("status", record.status > 0 ? String(record.status) : "")
        add("scheme", record.url.scheme)
        add("port", String(record.url.port))
        add("type", ExchangeLine.shortType(record.mediaType))
        add("process", record.extras.process?.name ?? "")
        add("mode", record.mode ?? "")
        add("path", record.url.path)
    }

    private mutating func add(_ key: String, _ value: String) {
        guard !value.isEmpty, values[key]?.last != value, values[key]?.contains(value) != true else { return }
        values[key, default: []].append(value)
        if values[key]?.count ?? 0 > Self.most { values[key]?.removeFirst() }
    }
}

extension ConsoleModel {
    /// Completes the filter up to the cursor: a key, or a value after a key's colon.
    mutating func completeFilter() -> [Effect] {
        let text = String(filter.line.characters.prefix(filter.line.cursor))
        let (typed, words) = filterWords(text, keys: Filter.reference.map(\.name))
        return complete(typed, among: words)
    }

    /// The unfinished word of a filter, and what it can be: keys, or values of its key.
    private func filterWords(_ text: String, keys: [String]) -> (typed: String, words: [String]) {
        let word = text.split(omittingEmptySubsequences: false) { " (".contains($0) }.last ?? ""
        let term = word.drop { "!-".contains($0) }
        guard let colon = term.firstIndex(of: ":") else { return (term.lowercased(), keys.map { $0 + ":" }) }
        let value = term[term.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        return (value.lowercased(), filterValues(of: term[..<colon].lowercased()))
    }

    /// Completes the filter in the line of a rule's `when`; `nil` if the line has none before the column.
    func completedCondition(_ line: String, at column: Int) -> ValueCompletion? {
        guard let match = line.prefix(column).firstMatch(of: /^(?:.*[ {,-])?when: *["']?(.*)$/) else { return nil }
        let (typed, words) = filterWords(String(match.1), keys: RuleCondition.keys)
        return ValueCompletion.complete(typed, from: column - typed.count, of: words, end: "")
    }

    /// Puts the common beginning of all candidates into the line, and offers the candidates if there are several.
    private mutating func complete(_ typed: String, among known: [String]) -> [Effect] {
        let fitting = known.filter { $0.lowercased().hasPrefix(typed) && $0.count > typed.count }
        guard let first = fitting.first else { return [] }
        let common = fitting.dropFirst().reduce(first) { $0.sharedPrefix(with: $1) }
        if common.count > typed.count || fitting.count == 1 {
            filter.line.replace(from: max(0, filter.line.cursor - typed.count), with: common)
        }
        filter.candidates = fitting.count > 1 ? fitting : []
        return filterChanged()
    }

    private func filterValues(of key: String) -> [String] {
        var seen = seen.values[key] ?? []
        switch key {
        case "is": return Filter.properties.map(\.name)
        case "version": return ["h1", "h2", "1.0", "1.1"]
        case "grpc": return (0...16).compactMap { GRPCOutcome(status: $0).name?.lowercased() }
        case "method": seen += ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"]
        case "scheme": seen += ["http", "https", "ws", "wss", "tunnel"]
        case "status": seen = seen.sorted() + ["2xx", "3xx", "4xx", "5xx"]
        case "type": seen += ["json", "html", "xml", "css", "javascript", "image"]
        case "host":
            seen += structure.levels[.root]?.children.compactMap { $0.node.siteURL?.host } ?? []
            seen += timeline.hosts.map(\.name).filter { $0.first != "(" }
        case "header", "reqheader", "resheader":
            seen = [
                "authorization:", "cache-control:", "content-type:", "cookie:", "location:", "set-cookie:", "server:",
            ]
        default: break
        }
        var known: Set<String> = []
        // Values that need quotation marks in a filter are not completed.
        return seen.filter { known.insert($0).inserted && !$0.contains { " ,()\"\\*?".contains($0) } }
    }
}

enum FilterWords {
    /// The words of the text that form the given canonical term; if there are none, the canonical term itself.
    static func asTyped(_ term: String, in text: String) -> String {
        let words = text.split(separator: " ").prefix(40).map(String.init)
        for length in 1...max(1, min(6, words.count)) {
            for start in 0...max(0, words.count - length) where start + length <= words.count {
                let part = words[start..<start + length].joined(separator: " ")
                if let filter = try? Filter(part), filter.description == term { return part }
            }
        }
        return term
    }
}

/// The result of Tab on a text: completed words, file names, or keys of a rule.
struct ValueCompletion: Hashable {
    /// The start of the replaced part, in characters; the part ends at the cursor.
    var start: Int
    var text: String
    var candidates: [String] = []

    static let most = 40

    /// Completes the line; returns the remaining candidates.
    func complete(_ line: inout LineEditor) -> [String] {
        line.replace(from: start, with: text)
        return text.isEmpty && candidates.isEmpty ? ["no match"] : candidates
    }

    static func word(in characters: [Character], at cursor: Int, of words: [String]) -> ValueCompletion {
        let before = characters.prefix(cursor)
        var start = before.lastIndex { $0 == " " || $0 == "," }.map { $0 + 1 } ?? 0
        // `+` adds the word and `-` removes it.
        if start < before.endIndex, "+-".contains(before[start]) { start += 1 }
        return complete(String(before[start...]), from: start, of: words, end: " ")
    }

    /// Completes a path with the names in its directory; the name of a directory ends with `/`.
    static func file(_ path: String, _ names: [String]) -> ValueCompletion {
        let start = path.lastIndex(of: "/").map { path.distance(from: path.startIndex, to: $0) + 1 } ?? 0
        return complete(String(path.dropFirst(start)), from: start, of: names, end: "")
    }

    fileprivate static func complete(
        _ word: String,
        from start: Int,
        of words: [String],
        end: String
    ) -> ValueCompletion {
        let fitting = words.filter { $0.hasPrefix(word) }
        let folded = fitting.isEmpty ? words.filter { $0.lowercased().hasPrefix(word.lowercased()) } : fitting
        guard let first = folded.first else { return ValueCompletion(start: start, text: "") }
        guard folded.count > 1 else { return ValueCompletion(start: start, text: first + end) }
        let common = folded.dropFirst().reduce(first) { $0.sharedPrefix(with: $1) }
        let isShorter = common.count < word.count || !common.hasPrefix(word) && fitting.isEmpty == false
        let more = folded.count > most ? ["and \(folded.count - most) more"] : []
        return ValueCompletion(start: start, text: isShorter ? word : common, candidates: folded.prefix(most) + more)
    }

    static func completesFiles(_ command: Command) -> Bool {
        [.saveBody, .export, .saveProfile, .loadProfile, .openSession, .importSession].contains(command)
    }

    /// Completes a key, a value or a host in a tool's rule; `nil` if Tab must indent instead.
    static func rule(_ line: String, at column: Int, of tool: Tool, hosts: [String] = []) -> ValueCompletion? {
        let before = line.prefix(column)
        let keys = tool.allKeys
        // Other locations of a list, or a scheme, may precede this location.
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
    /// Whether the value is a location or contains locations, which begin with a host.
    fileprivate var namesPlaces: Bool {
        switch self {
        case .location, .locations: true
        case .list(let value): value.namesPlaces
        case .either(let one, let other): one.namesPlaces || other.namesPlaces
        case .flag, .choice, .text, .number, .duration, .pattern, .path, .mapping, .names: false
        }
    }

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

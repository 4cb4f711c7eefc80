import HTTPModel
import Sharing

/// What could stand in place of the end of a text that is typed.
package struct Completion: Sendable, Hashable {
    /// How many characters before the cursor are replaced.
    package var replaced: Int
    /// In the order in which they are shown.
    package var candidates: [String]

    package init(replaced: Int, candidates: [String]) {
        self.replaced = replaced
        self.candidates = candidates
    }

    /// The candidates that begin with what was typed, in whatever case, and go on.
    package init(_ typed: some StringProtocol, among known: some Sequence<String>) {
        let typed = typed.lowercased()
        replaced = typed.count
        candidates = known.filter { $0.lowercased().hasPrefix(typed) && $0.count > typed.count }
    }

    /// What all candidates begin with; empty where there are none.
    package var common: String {
        guard var common = candidates.first else { return "" }
        for candidate in candidates.dropFirst() { common = common.sharedPrefix(with: candidate) }
        return common
    }

    /// Puts what all candidates begin with into a line; returns what is left to choose from.
    package func complete(_ line: inout LineEditor) -> [String] {
        if common.count > replaced || candidates.count == 1 { line.replace(last: replaced, by: common) }
        return candidates.count > 1 ? candidates : []
    }
}

extension String {
    fileprivate func sharedPrefix(with other: String) -> String {
        String(zip(self, other).prefix { $0 == $1 }.map(\.0))
    }
}

/// Values that exchanges of the session had, as far as their rows were seen; the newest last.
package struct SeenValues: Sendable {
    /// How many of a kind are kept.
    private static let most = 500

    private(set) var values: [String: [String]] = [:]

    package init() {}

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

extension Completion {
    /// Completes the filter up to the cursor: a key, or a value after a key's colon; `nil` where nothing is known.
    static func filter(_ text: String, _ model: ConsoleModel) -> Completion? {
        let word = text.split(omittingEmptySubsequences: false) { " (".contains($0) }.last ?? ""
        let term = word.drop { "!-".contains($0) }
        guard let colon = term.firstIndex(of: ":") else {
            return Completion(term, among: Filter.reference.map { $0.name + ":" })
        }
        let key = term[..<colon].lowercased()
        let value = term[term.index(after: colon)...].split(separator: ",", omittingEmptySubsequences: false).last ?? ""
        let known = values(of: key, model)
        guard !known.isEmpty else { return nil }
        return Completion(value, among: known)
    }

    private static func values(of key: String, _ model: ConsoleModel) -> [String] {
        var seen = model.seen.values[key] ?? []
        switch key {
        case "is": return Filter.properties.map(\.name)
        case "version": return ["h1", "h2", "1.0", "1.1"]
        case "grpc": return (0...16).compactMap { GRPCOutcome(status: $0).name?.lowercased() }
        case "method": seen += ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "CONNECT"]
        case "scheme": seen += ["http", "https", "ws", "wss", "tunnel"]
        case "status": seen = seen.sorted() + ["2xx", "3xx", "4xx", "5xx"]
        case "type": seen += ["json", "html", "xml", "css", "javascript", "image"]
        case "host":
            seen += model.structure.levels[.root]?.children.compactMap { $0.node.siteURL?.host } ?? []
            seen += model.timeline.hosts.map(\.name).filter { $0.first != "(" }
        case "header", "reqheader", "resheader":
            seen = [
                "authorization:", "cache-control:", "content-type:", "cookie:", "location:", "set-cookie:", "server:",
            ]
        default: break
        }
        var known: Set<String> = []
        // What would be read otherwise is quoted by hand.
        return seen.filter { known.insert($0).inserted && !$0.contains { " ,()\"\\*?".contains($0) } }
    }
}

extension ConsoleModel {
    mutating func completeFilter() -> [Effect] {
        let text = String(filter.line.characters.prefix(filter.line.cursor))
        guard let completion = Completion.filter(text, self), !completion.candidates.isEmpty else { return [] }
        filter.candidates = completion.complete(&filter.line)
        return filterChanged()
    }
}

/// Finds terms of a filter in the text that was typed.
enum FilterWords {
    /// The part of the text that reads as a term, which is given in its canonical form; that form where there is none.
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

package import HTTPModel

/// A question to a store: a filter, and terms that only stores know, each on its own: `session:` with the beginning of
/// a session's identifier, and `label:"k=v"`.
package struct StoreQuery: Sendable {
    package var filter: Filter
    package var sessions: [String] = []
    package var labels: [(key: String, value: String)] = []
    /// The newest exchanges are taken.
    package var limit: Int

    /// Splits the words of a command line; the rest is the filter's text.
    package static func split(
        _ words: [String]
    ) throws(StoreError) -> (
        sessions: [String], labels: [(key: String, value: String)], filter: String
    ) {
        var rest: [String] = []
        var sessions: [String] = []
        var labels: [(key: String, value: String)] = []
        for word in words.flatMap(StoreQuery.words) {
            if word.hasPrefix("session:") {
                let beginning = word.dropFirst(8).lowercased()
                let isPart = !beginning.isEmpty && beginning.utf8.allSatisfy { $0 == 0x2D || $0.isHexadecimal }
                guard isPart else {
                    let what = "session: takes the beginning of a session's identifier"
                    throw StoreError(.address, "\(what); not '\(word.dropFirst(8))'.")
                }
                sessions.append(beginning)
            } else if word.hasPrefix("label:") {
                guard let label = StoreQuery.label(word.dropFirst(6).filter { $0 != "\"" }) else {
                    throw StoreError(.address, "label: takes a name and a value, for example label:\"branch=main\".")
                }
                labels.append(label)
            } else {
                rest.append(word)
            }
        }
        return (sessions, labels, rest.joined(separator: " "))
    }

    /// The name and the value of `k=v`; `nil` without a name or a `=`.
    package static func label(_ text: String) -> (key: String, value: String)? {
        guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return nil }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }

    /// Words at spaces outside of quotes.
    private static func words(_ text: String) -> [String] {
        var (words, isQuoted): ([String], Bool) = ([""], false)
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == " ", !isQuoted { words.append("") } else { words[words.count - 1].append(character) }
        }
        return words.filter { !$0.isEmpty }
    }

    package init(_ filter: Filter, limit: Int) { (self.filter, self.limit) = (filter, limit) }
}

extension UInt8 {
    fileprivate var isHexadecimal: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 6 }
}

extension FilterNode {
    /// A range that contains the starts of all exchanges that can match.
    var startTimes: ClosedRange<Int64> {
        let all = Int64.min...Int64.max
        func hull(_ ranges: [ClosedRange<Int64>]) -> ClosedRange<Int64> {
            let (least, most) = (ranges.map(\.lowerBound).min(), ranges.map(\.upperBound).max())
            return (least ?? all.lowerBound)...(most ?? all.upperBound)
        }
        switch self {
        case .everything, .not: return all
        case .term(let term):
            return hull(term.tests.map { if case .number(.startedAt, let range) = $0 { range } else { all } })
        case .or(let operands): return hull(operands.map(\.startTimes))
        case .and(let operands):
            // If two ranges exclude each other, either will do.
            return operands.map(\.startTimes).reduce(all) { $0.overlaps($1) ? $0.clamped(to: $1) : $0 }
        }
    }
}

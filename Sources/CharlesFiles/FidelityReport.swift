import Rules

/// What became of each rule on its way from one program's settings to the other's.
package struct FidelityReport: Sendable, Hashable, CustomStringConvertible {
    /// What became of one rule.
    package enum Fate: Sendable, Hashable {
        /// It means the same.
        case kept
        /// It is there, but something about it is not the same.
        case approximated(why: [String])
        /// It is not there.
        case skipped(why: String)
    }

    /// One rule and its fate.
    package struct Line: Sendable, Hashable, CustomStringConvertible {
        /// The rule, with its tool: `Map Remote 3: https://api.example.com/*`.
        package var rule: String
        /// What became of it.
        package var fate: Fate
        /// What `kept` is called: `imported` or `exported`.
        var word: String

        /// For example `approximated  Map Local 2: */fixtures (it is a Windows path)`.
        package var description: String {
            switch fate {
            case .kept: "\(word)      \(rule)"
            case .approximated(let why): "approximated  \(rule) (\(why.joined(separator: "; ")))"
            case .skipped(let why): "skipped       \(rule) (\(why))"
            }
        }
    }

    /// What `kept` is called: `imported` or `exported`.
    package let word: String
    /// All rules, in the order that they were met.
    package private(set) var lines: [Line] = []

    init(word: String) {
        self.word = word
    }

    mutating func add(_ rule: String, _ fate: Fate) {
        lines.append(Line(rule: rule.singleLine(upTo: 160), fate: fate, word: word))
    }

    /// Adds a rule that is there, with what is not the same about it.
    mutating func add(_ rule: String, notes: [String]) {
        add(rule, notes.isEmpty ? .kept : .approximated(why: notes))
    }

    /// The report with the lines of another after its own.
    package func adding(_ other: FidelityReport) -> FidelityReport {
        var sum = self
        sum.lines += other.lines
        return sum
    }

    /// How many rules came over as they were.
    package var keptCount: Int { lines.count { $0.fate == .kept } }
    /// How many came over with a difference.
    package var approximatedCount: Int {
        lines.count { if case .approximated = $0.fate { true } else { false } }
    }
    /// How many did not.
    package var skippedCount: Int { lines.count - keptCount - approximatedCount }

    /// For example `12 imported, 2 approximated, 1 skipped`.
    package var summary: String { "\(keptCount) \(word), \(approximatedCount) approximated, \(skippedCount) skipped" }

    /// A line for each rule, and the summary at the end.
    package var description: String { (lines.map(\.description) + [summary]).joined(separator: "\n") }
}

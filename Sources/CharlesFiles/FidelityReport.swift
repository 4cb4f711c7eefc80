import Rules

/// What became of each rule of Charles.
package struct FidelityReport: Sendable, Hashable, CustomStringConvertible {
    package enum Fate: Sendable, Hashable {
        case kept
        /// Imported with differences.
        case approximated(why: [String])
        /// Not imported.
        case skipped(why: String)

        /// An imported rule with its differences.
        static func kept(but notes: [String]) -> Fate { notes.isEmpty ? .kept : .approximated(why: notes) }
    }

    package struct Line: Sendable, Hashable, CustomStringConvertible {
        /// The rule, with its tool: `Map Remote 3: https://api.example.com/*`.
        package var rule: String
        package var fate: Fate

        /// For example `approximated  Map Local 2: */fixtures (it is a Windows path)`.
        package var description: String {
            switch fate {
            case .kept: "imported      \(rule)"
            case .approximated(let why): "approximated  \(rule) (\(why.joined(separator: "; ")))"
            case .skipped(let why): "skipped       \(rule) (\(why))"
            }
        }
    }

    package internal(set) var lines: [Line] = []

    mutating func add(_ rule: String, _ fate: Fate) { lines.append(Line(rule: rule.singleLine(upTo: 160), fate: fate)) }

    package var keptCount: Int { lines.count { $0.fate == .kept } }
    package var approximatedCount: Int { lines.count { if case .approximated = $0.fate { true } else { false } } }
    package var skippedCount: Int { lines.count - keptCount - approximatedCount }

    /// For example `12 imported, 2 approximated, 1 skipped`.
    package var summary: String { "\(keptCount) imported, \(approximatedCount) approximated, \(skippedCount) skipped" }

    /// A line for each rule, and the summary at the end.
    package var description: String { (lines.map(\.description) + [summary]).joined(separator: "\n") }
}

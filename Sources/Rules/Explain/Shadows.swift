import HTTPModel

extension RuleScope {
    /// Whether every request in the scope of `other` is also in this scope; `false` if that is not certain.
    func covers(_ other: RuleScope) -> Bool {
        guard methods.isEmpty || (!other.methods.isEmpty && methods.isSuperset(of: other.methods)) else { return false }
        // Each exception of this scope must be covered by an exception of the other scope.
        guard exceptions.allSatisfy({ hole in other.exceptions.contains { $0.covers(hole) } }) else { return false }
        guard let locations else { return true }
        guard let others = other.locations else { return locations.contains { $0.matchesEverything } }
        return others.allSatisfy { narrow in locations.contains { $0.covers(narrow) } }
    }
}

/// Finds rules that never decide, because an earlier rule covers their scope.
struct Shadows {
    /// How many pairs of rules are compared at most; if there are more for one host, some shadows are not found.
    private static let mostComparisons = 400_000

    private var earlier = HostTable<[Int]>(none: [])
    private var comparisons = 0

    /// The rules that never decide, by position, with the rules that do instead. Conditional rules must be `nil`.
    static func find(_ headings: [RuleHeading?]) -> [Int: Int] {
        var shadows = Shadows()
        var found: [Int: Int] = [:]
        for (rule, heading) in headings.enumerated() {
            guard let heading, heading.isEnabled else { continue }
            found[rule] = shadows.coverer(of: heading, in: headings)
            shadows.add(rule, heading.scope)
        }
        return found
    }

    private mutating func add(_ rule: Int, _ scope: RuleScope) {
        for key in Set(scope.locations?.map(\.hostKey) ?? [.any]) { earlier.update(key) { $0.append(rule) } }
    }

    /// Checks only rules for the first location's host: a rule that covers the scope covers its first location, too.
    private mutating func coverer(of heading: RuleHeading, in headings: [RuleHeading?]) -> Int? {
        if heading.scope.locations?.isEmpty == true { return nil }
        let host =
            switch heading.scope.locations?.first?.hostKey {
            case .exact(let name)?: name
            // Any host with the suffix finds the right rules in the table.
            case .suffix(let suffix)?: "x" + suffix
            case .any?, nil: ""
            }
        var found: Int?
        var comparisons = comparisons
        earlier.forEach(host) { rules in
            for rule in rules where rule < found ?? .max && comparisons < Shadows.mostComparisons {
                comparisons += 1
                if headings[rule]?.scope.covers(heading.scope) == true { found = rule }
            }
        }
        self.comparisons = comparisons
        return found
    }
}

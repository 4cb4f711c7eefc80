import HTTPModel

extension RuleScope {
    /// Whether every request in the scope of `other` is in this one too; `false` also where that is not certain.
    func covers(_ other: RuleScope) -> Bool {
        guard methods.isEmpty || (!other.methods.isEmpty && methods.isSuperset(of: other.methods)) else { return false }
        // Each hole of this scope must be one of the other's, too.
        guard exceptions.allSatisfy({ hole in other.exceptions.contains { $0.covers(hole) } }) else { return false }
        guard let locations else { return true }
        guard let others = other.locations else { return locations.contains { $0.matchesEverything } }
        return others.allSatisfy { narrow in locations.contains { $0.covers(narrow) } }
    }
}

/// Finds rules that never decide, since an earlier one covers their scope.
struct Shadows {
    /// How many pairs of rules are compared at most; with more rules for one host some shadows are not found.
    private static let mostComparisons = 400_000

    private var earlier = HostTable<[Int]>(none: [])
    private var comparisons = 0

    /// The rules that never decide, and those that do instead, by position; rules with other conditions are `nil`.
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

    /// Looks only at rules for the first location's host: a rule that covers all locations covers that one, too.
    private mutating func coverer(of heading: RuleHeading, in headings: [RuleHeading?]) -> Int? {
        if heading.scope.locations?.isEmpty == true { return nil }
        let host =
            switch heading.scope.locations?.first?.hostKey {
            case .exact(let name)?: name
            // The table takes the text for a host of the suffix.
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

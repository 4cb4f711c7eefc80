/// How many requests a rule has counted, in all.
package struct RuleCount: Sendable, Hashable, Codable {
    package let rule: String
    package let count: Int

    package init(rule: String, count: Int) { (self.rule, self.count) = (rule, count) }
}

/// Counts the requests of a rule, in all and by key. Of many keys the oldest is forgotten.
package final class KeyCounter: Sendable {
    package static let mostKeys = 10_000

    private struct Counts {
        var total = 0
        /// By the hash of the key.
        var byKey: [Int: Int] = [:]
        /// In the order of their first use, as a ring.
        var keys: [Int] = []
        var oldest = 0
    }

    private let counts: ContinuedState<Counts>

    package convenience init() { self.init(ContinuedState(Counts())) }

    private init(_ counts: ContinuedState<Counts>) { self.counts = counts }

    package var copy: KeyCounter { KeyCounter(counts.copy) }
    package var total: Int { counts.update { $0.total } }

    /// Continues a different counter; from now on both share their counts.
    package func goOn(from other: KeyCounter) { counts.goOn(from: other.counts) }

    package func reset() { counts.update { $0 = Counts() } }

    /// The number of the request among those with its key, or in all without a key, from 1.
    package func next(_ key: String?) -> Int {
        let key = key?.hashValue
        return counts.update { counts in
            counts.total &+= 1
            guard let key else { return counts.total }
            if counts.byKey[key] == nil {
                if counts.keys.count < KeyCounter.mostKeys {
                    counts.keys.append(key)
                } else {
                    counts.byKey[counts.keys[counts.oldest]] = nil
                    counts.keys[counts.oldest] = key
                    counts.oldest = (counts.oldest + 1) % KeyCounter.mostKeys
                }
            }
            counts.byKey[key, default: 0] &+= 1
            return counts.byKey[key, default: 1]
        }
    }
}

extension RuleList {
    /// The rules that replace rules of an older list: those of the same name, in order.
    package func replacing(_ old: RuleList) -> [(new: Rule, old: Rule)] {
        var named: [String: [Rule]] = [:]
        for rule in old.all.reversed() { named[rule.heading.name, default: []].append(rule) }
        return all.compactMap { rule in named[rule.heading.name]?.popLast().map { (rule, $0) } }
    }
}

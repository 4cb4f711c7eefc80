import ExchangeCore
import HTTPModel

/// Finds the rules that match a request by its host, without checking all of them.
struct RuleIndex: Sendable {
    /// A rule with one of its locations. It has no references, so that finding it counts none.
    struct Match: Sendable {
        /// The rule's index among the headings.
        let rule: Int
        /// The index of its target.
        fileprivate let target: Int
        /// Whether all requests for the host match, so that the target is not asked.
        fileprivate let isForWholeHost: Bool
        /// The number of the place that the condition needs; -1 if it needs none.
        fileprivate let neededPlace: Int
        /// The numbers of the rule's condition, and of its values if they may have to wait for the request.
        let condition: Int?
        let values: Int?

        fileprivate init(_ rule: Int, _ target: Int, _ isForWholeHost: Bool, _ heading: RuleHeading) {
            (self.rule, self.target, self.isForWholeHost) = (rule, target, isForWholeHost)
            (condition, neededPlace) = (heading.condition?.number, heading.condition?.needed?.placeNumber ?? -1)
            values = heading.values.flatMap { $0.bodyPlaces.isEmpty ? nil : $0.number }
        }
    }

    private final class Target: Sendable {
        /// `nil` if the rule is for every request.
        let location: Location?
        /// `nil` if each request that matches the location is in it.
        private let scope: RuleScope?
        /// Whether the table has the location under its host, so that the host is not compared again.
        private let isHostKnown: Bool
        let needed: ConditionTest?

        init(_ location: Location?, _ heading: RuleHeading) {
            (self.location, needed) = (location, heading.condition?.needed)
            scope = heading.scope.methods.isEmpty && heading.scope.exceptions.isEmpty ? nil : heading.scope
            isHostKnown = if case .exact? = location?.hostKey { true } else { false }
        }

        var isForWholeHost: Bool {
            guard scope == nil, let pattern = location?.pattern else { return scope == nil }
            return isHostKnown && pattern == LocationPattern(host: pattern.host)
        }

        func matches(_ opening: ExchangeOpening) -> Bool {
            (location?.matches(opening.url, isHostKnown: isHostKnown) ?? true)
                && (scope?.admits(method: opening.head.method, url: opening.url) ?? true)
        }
    }

    private var byHost = HostTable<[Match]>(none: [])
    /// In the order of the rules and of their locations.
    private var targets: [Target] = []

    init(_ headings: [RuleHeading]) {
        for (rule, heading) in headings.enumerated() where heading.isEnabled {
            for location in heading.scope.locations?.map(Optional.some) ?? [nil] {
                let target = Target(location, heading)
                let match = Match(rule, targets.count, target.isForWholeHost, heading)
                byHost.update(location?.hostKey ?? .any) { $0.append(match) }
                targets.append(target)
            }
        }
    }

    /// The location that matches; `nil` if the rule is for every request.
    func location(of match: Match) -> Location? { targets[match.target].location }

    /// The first rule, in the user's order, that matches a request, with the first of its locations that matches.
    func first(_ opening: ExchangeOpening) -> Match? {
        var best: Match?
        byHost.forEach(opening.url.host) { entries in
            for entry in entries where best.map({ entry.target < $0.target }) ?? true {
                if matches(entry, opening) { best = entry }
            }
        }
        return best
    }

    /// All rules that match a request, in the user's order, each with the first of its locations that matches. Rules
    /// whose conditions fail without a value that the request lacks are left out.
    func all(_ opening: ExchangeOpening, _ conditions: OpenConditions? = nil) -> [Match] {
        var found: [Match] = []
        var isInOrder = true
        // By the numbers of places.
        var (present, lacking): (UInt64, UInt64) = (0, 0)
        byHost.forEach(opening.url.host) { entries in
            for entry in entries where matches(entry, opening) {
                if let conditions, entry.neededPlace >= 0 {
                    // Numbers from 64 have no bit.
                    let (place, bit) = (entry.neededPlace, UInt64(1) << UInt64(entry.neededPlace))
                    if lacking & bit != 0 { continue }
                    if present & bit == 0,
                        conditions.facts.lacksValue(at: targets[entry.target].needed?.place, place)
                    {
                        lacking |= bit
                        continue
                    }
                    present |= bit
                }
                if let last = found.last, last.rule >= entry.rule { isInOrder = false }
                found.append(entry)
            }
        }
        if isInOrder { return found }
        found.sort { $0.target < $1.target }
        return found.indices.filter { $0 == 0 || found[$0].rule != found[$0 - 1].rule }.map { found[$0] }
    }

    private func matches(_ entry: Match, _ opening: ExchangeOpening) -> Bool {
        entry.isForWholeHost || targets[entry.target].matches(opening)
    }
}

struct HostTable<Value: Sendable>: Sendable {
    private let none: Value
    private var exact: [Substring: Value] = [:]
    /// By domain, as in `.example.com`.
    private var suffixes: [Substring: Value] = [:]
    private var others: Value

    init(none: Value) { (self.none, others) = (none, none) }

    mutating func update(_ key: Location.HostKey, _ change: (inout Value) -> Void) {
        let none = none
        switch key {
        case .exact(let host): change(&exact[host[...], default: none])
        case .suffix(let suffix) where suffix.first == ".": change(&suffixes[suffix[...], default: none])
        case .suffix, .any: change(&others)
        }
    }

    /// Calls `body` with every value that may be for a host; allocates nothing.
    func forEach(_ host: String, _ body: (Value) -> Void) {
        body(others)
        if !exact.isEmpty, let value = exact[host[...]] { body(value) }
        guard !suffixes.isEmpty else { return }
        var rest = host[...]
        while let dot = rest.utf8.dropFirst().firstIndex(of: UInt8(ascii: ".")) {
            rest = rest[dot...]
            if let value = suffixes[rest] { body(value) }
        }
    }
}

/// Finds the stages that may act on a host, with one search for all stages.
struct HostPreselection: StagePreselection {
    private var byHost = HostTable<UInt64>(none: 0)
    /// The locations whose rules must read the requests to a server, each with the index of its stage.
    private var read: [(location: Location, stage: Int)] = []

    /// Indexes tools and rules in the order of the stages.
    init(_ stages: [(tool: Tool, rules: [RuleHeading])]) {
        for (position, stage) in stages.enumerated() {
            let bit = UInt64(1) << UInt64(position)
            let headings = stage.rules.filter(\.isEnabled)
            read += headings.flatMap { $0.scope.locations ?? [] }
                .filter { stage.tool.hasToRead($0) }.map { ($0, position) }
            if stage.tool.actsWithoutMatch {
                byHost.update(.any) { $0 |= bit }
                continue
            }
            for heading in headings {
                for key in heading.scope.locations?.map(\.hostKey) ?? [.any] {
                    byHost.update(key) { $0 |= bit }
                }
            }
        }
    }

    func candidates(for url: RequestURL) -> UInt64 {
        var bits: UInt64 = 0
        byHost.forEach(url.host) { bits |= $0 }
        return bits
    }

    func reader(of url: RequestURL) -> Int? { read.first { $0.location.matchesServer(of: url) }?.stage }
}

package import Content
package import Description
import HTTPModel
import Text

/// How exchanges are compared.
package struct ComparisonSettings: Sendable {
    package let rules: ComparisonRules
    /// The places that the user ignores.
    package let named: [String]
    package let version: MessageVersion

    package init(ignoring named: [String] = [], isExact: Bool = false, responses version: MessageVersion = .sent) {
        (rules, self.named, self.version) = (ComparisonRules(ignoring: named, isExact: isExact), named, version)
    }

    /// Compares two exchanges, or only their responses. Throws the sources' errors.
    package func difference(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        ofResponses: Bool = false
    ) throws -> ExchangeDifference {
        try ExchangeDifference(old, new, rules: rules, ofResponses: ofResponses, responses: version)
    }

    /// What is ignored, and how many differences that hid.
    package func ignored(_ counts: [ComparisonRules.Reason: Int]) -> String {
        var parts: [String] = []
        if rules.ignoresVolatile {
            parts.append(
                "times, identifiers, and fields that differ in every exchange, such as Date (--exact compares them)"
            )
        }
        if !named.isEmpty { parts.append(named.map(VisibleText.of).joined(separator: ", ")) }
        let text = parts.isEmpty ? "Nothing is ignored." : "Ignored: \(parts.joined(separator: "; "))."
        let nouns: [(ComparisonRules.Reason, String)] = [
            (.moment, "time"), (.identifier, "identifier"), (.field, "header value"),
        ]
        let found =
            nouns.compactMap { reason, noun in counts[reason]?.of(noun) }
            + (counts[.named].map { ["\($0.grouped) as you named"] } ?? [])
        return text + (found.isEmpty ? "" : " Ignored: \(found.joined(separator: ", ")).")
    }
}

/// The places in which pairs of exchanges differ.
package struct DifferenceCounts: Sendable {
    package struct Place: Sendable, Hashable {
        /// For example `status`, `response $.items[].name`.
        package var name: String
        package var part: ExchangeDifference.Part
        /// How many pairs differ there.
        package var count = 1
        /// The values of the first pair that differs there, and the numbers of its exchanges.
        package var old: String?
        package var new: String?
        package var exchanges: [Int64]
        /// The place of that pair among all, and of the difference among those of the pair.
        fileprivate var order: [Int]
    }

    package private(set) var compared = 0
    package private(set) var different = 0
    /// In how many pairs each part differs.
    package private(set) var parts: [ExchangeDifference.Part: Int] = [:]
    package private(set) var leftOut: [ComparisonRules.Reason: Int] = [:]
    private var placesByName: [String: Place] = [:]
    /// Whether there are places that were not kept.
    package private(set) var hasMore = false

    package init() {}

    package var same: Int { compared - different }

    /// The places where most pairs differ first.
    package var places: [Place] {
        placesByName.values.sorted {
            $0.count == $1.count ? $0.order.lexicographicallyPrecedes($1.order) : $0.count > $1.count
        }
    }

    private static let maximumPlaces = 60

    package mutating func add(_ difference: ExchangeDifference, _ exchanges: [Int64], at index: Int) {
        compared += 1
        leftOut.merge(difference.leftOut, uniquingKeysWith: +)
        guard !difference.isSame else { return }
        different += 1
        for part in Set(difference.changes.map(\.part)) { parts[part, default: 0] += 1 }
        var seen: Set<String> = []
        for (order, change) in difference.changes.enumerated() {
            let name = ComparisonRules.withoutIndices(change.place)
            guard seen.insert(name).inserted else { continue }
            add(
                Place(
                    name: name,
                    part: change.part,
                    old: change.old,
                    new: change.new,
                    exchanges: exchanges,
                    order: [index, order]
                )
            )
        }
    }

    private mutating func add(_ place: Place) {
        guard var known = placesByName[place.name] else {
            if placesByName.count < Self.maximumPlaces { placesByName[place.name] = place } else { hasMore = true }
            return
        }
        let count = known.count + place.count
        if place.order.lexicographicallyPrecedes(known.order) { known = place }
        known.count = count
        placesByName[place.name] = known
    }

    package mutating func add(_ other: DifferenceCounts) {
        compared += other.compared
        different += other.different
        hasMore = hasMore || other.hasMore
        parts.merge(other.parts, uniquingKeysWith: +)
        leftOut.merge(other.leftOut, uniquingKeysWith: +)
        for place in other.placesByName.values { add(place) }
    }

    func adding(_ other: DifferenceCounts) -> DifferenceCounts {
        var sum = self
        sum.add(other)
        return sum
    }

    /// Leaves only the numbers.
    mutating func removePlaces() {
        hasMore = hasMore || !placesByName.isEmpty
        placesByName = [:]
    }

    // MARK: - Reports

    /// The first places, a line each; `separator` is between the exchanges' numbers.
    package func lines(_ limit: Int, separator: String = " ~ ") -> [String] {
        let places = places
        let shown = places.prefix(limit).map { place in
            let numbers = place.exchanges.map { "#\($0)" }.joined(separator: separator)
            return "  ~ \(place.count.grouped) of \(compared.grouped)  \(VisibleText.of(place.name))  "
                + "\(Self.values(place.old, place.new))  (\(numbers))"
        }
        return shown + (places.count > limit || hasMore ? ["    and more places; --json has them"] : [])
    }

    private static let shownValue = 60

    /// A value and what it became, in one line.
    package static func values(_ old: String?, _ new: String?) -> String {
        func shown(_ value: String?) -> String {
            value.map { $0.isEmpty ? "\"\"" : VisibleText.of($0.shortened(to: shownValue)) } ?? "none"
        }
        return "\(shown(old)) -> \(shown(new))"
    }
}

extension JSONWriter {
    package mutating func numbers(_ name: String, _ numbers: some Sequence<Int64>) {
        key(name)
        number("[\(numbers.map(String.init).joined(separator: ","))]")
    }

    /// The settings, and how many differences they hid.
    package mutating func ignored(_ settings: ComparisonSettings, _ leftOut: [ComparisonRules.Reason: Int]) throws {
        let volatile = ["moments", "identifiers"] + ComparisonRules.volatileFields.sorted()
        try strings("ignored", (settings.rules.ignoresVolatile ? volatile : []) + settings.named)
        try object("leftOut") { json in
            for reason in ComparisonRules.Reason.allCases { json.member(reason.rawValue, leftOut[reason] ?? 0) }
        }
    }

    /// Places with their values, masked if there are masked ones.
    package mutating func differences(_ counts: DifferenceCounts, _ masked: MaskedValues?) throws {
        try objects("differences", counts.places) { json, place in
            json.member("place", place.name)
            json.member("part", place.part.rawValue)
            json.member("count", place.count)
            let shown = masked?.values(of: place.name, in: place.exchanges) ?? (place.old, place.new)
            json.optionalMember("old", shown.0)
            json.optionalMember("new", shown.1)
            json.numbers("exchanges", place.exchanges)
        }
    }
}

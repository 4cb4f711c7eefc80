package import Content
package import Description
package import HTTPModel
import Text

package struct ComparisonSettings: Sendable {
    package let rules: ComparisonRules
    package let named: [IgnoreRule]
    package let version: MessageVersion

    package init(ignoring named: [IgnoreRule] = [], isExact: Bool = false, responses version: MessageVersion = .sent) {
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

    package func ignored(_ counts: [ComparisonRules.Reason: Int]) -> String {
        var parts: [String] = []
        if rules.ignoresVolatile {
            parts.append(
                "times, identifiers, and fields that differ in every exchange, such as Date (--exact compares them)"
            )
        }
        if !named.isEmpty { parts.append(named.map { VisibleText.of($0.description) }.joined(separator: ", ")) }
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

package struct DifferenceCounts: Sendable {
    package struct Place: Sendable, Hashable {
        /// With `[*]` in place of each array index.
        package var subject: ExchangeDifference.Subject
        package var count = 1
        /// The values in the first pair that differs there, and the numbers of that pair's exchanges.
        package var old: String?
        package var new: String?
        package var exchanges: [Int64]
        /// The position of that pair among all pairs, then the position of the difference in that pair.
        fileprivate var order: [Int]
    }

    package private(set) var compared = 0
    package private(set) var different = 0
    /// In how many pairs each part differs.
    package private(set) var parts: [ExchangeDifference.Part: Int] = [:]
    package private(set) var leftOut: [ComparisonRules.Reason: Int] = [:]
    private var known: [ExchangeDifference.Subject: Place] = [:]
    /// Whether there are places that were not kept.
    package private(set) var hasMore = false

    package init() {}

    package var same: Int { compared - different }

    /// Sorted by the number of pairs that differ there, the highest first.
    package var places: [Place] {
        known.values.sorted {
            $0.count == $1.count ? $0.order.lexicographicallyPrecedes($1.order) : $0.count > $1.count
        }
    }

    private static let maximumPlaces = 60

    package mutating func add(_ difference: ExchangeDifference, _ exchanges: [Int64], at index: Int) {
        compared += 1
        leftOut.merge(difference.leftOut, uniquingKeysWith: +)
        guard !difference.isSame else { return }
        different += 1
        for part in Set(difference.changes.map(\.subject.part)) { parts[part, default: 0] += 1 }
        var seen: Set<ExchangeDifference.Subject> = []
        for (order, change) in difference.changes.enumerated() {
            let subject = change.subject.general
            guard seen.insert(subject).inserted else { continue }
            let order = [index, order]
            add(Place(subject: subject, old: change.old, new: change.new, exchanges: exchanges, order: order))
        }
    }

    private mutating func add(_ place: Place) {
        guard let other = known[place.subject] else {
            if known.count < Self.maximumPlaces { known[place.subject] = place } else { hasMore = true }
            return
        }
        let first = place.order.lexicographicallyPrecedes(other.order) ? place : other
        known[place.subject] = first
        known[place.subject]?.count = other.count + place.count
    }

    package mutating func add(_ other: DifferenceCounts) {
        compared += other.compared
        different += other.different
        hasMore = hasMore || other.hasMore
        parts.merge(other.parts, uniquingKeysWith: +)
        leftOut.merge(other.leftOut, uniquingKeysWith: +)
        for place in other.known.values { add(place) }
    }

    mutating func removePlaces() {
        hasMore = hasMore || !known.isEmpty
        known = [:]
    }

    /// The first places, a line each; `separator` is between the exchanges' numbers.
    package func lines(_ limit: Int, separator: String = " ~ ") -> [String] {
        let places = places
        let shown = places.prefix(limit).map { place in
            let numbers = place.exchanges.map { "#\($0)" }.joined(separator: separator)
            return
                "  ~ \(place.count.grouped) of \(compared.grouped)  \(Self.line(place.subject, place.old, place.new))  "
                + "(\(numbers))"
        }
        return shown + (places.count > limit || hasMore ? ["    and more places; --json has them"] : [])
    }

    /// In characters.
    private static let (shownPlace, shownValue) = (200, 60)

    /// The subject that differs, its old value and its new value, in one line.
    static func line(_ subject: ExchangeDifference.Subject, _ old: String?, _ new: String?) -> String {
        func shown(_ value: String?) -> String {
            value.map { $0.isEmpty ? "\"\"" : VisibleText.of($0.shortened(to: shownValue)) } ?? "none"
        }
        let place = VisibleText.of(subject.description.shortened(to: shownPlace))
        return "\(place)  \(shown(old)) -> \(shown(new))"
    }
}

extension JSONWriter {
    package mutating func numbers(_ name: String, _ numbers: some Sequence<Int64>) {
        key(name)
        number("[\(numbers.map(String.init).joined(separator: ","))]")
    }

    package mutating func ignored(_ settings: ComparisonSettings, _ leftOut: [ComparisonRules.Reason: Int]) throws {
        let volatile = ["moments", "identifiers"] + ComparisonRules.volatileFields.sorted()
        try strings("ignored", (settings.rules.ignoresVolatile ? volatile : []) + settings.named.map(\.description))
        try object("leftOut") { json in
            for reason in ComparisonRules.Reason.allCases { json.member(reason.rawValue, leftOut[reason] ?? 0) }
        }
    }

    /// The places with their values; with `masked`, the masked values.
    package mutating func differences(_ counts: DifferenceCounts, _ masked: MaskedValues?) throws {
        try objects("differences", counts.places) { json, place in
            json.member("place", place.subject.description)
            json.member("part", place.subject.part.rawValue)
            json.member("count", place.count)
            let shown = masked?.values(of: place.subject, in: place.exchanges) ?? (place.old, place.new)
            json.optionalMember("old", shown.0)
            json.optionalMember("new", shown.1)
            json.numbers("exchanges", place.exchanges)
        }
    }
}

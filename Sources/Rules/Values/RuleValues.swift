import Content
import ExchangeCore
import HTTPModel
import Text

/// What the values in a rule's texts need, and their state from one exchange to the next.
package final class RuleValues: Sendable {
    /// Among the needs of all rules of the profile.
    let number: Int
    /// The numbers of the places that the texts read.
    let places: [Place: Int]
    /// In the request's body, which is waited for.
    let bodyPlaces: [Place]
    private let seeded: (draws: SeededDraw, requests: RequestCounter)?
    private let matches: ContinuedState<Int64>

    fileprivate init(_ sources: [ValueSource], seed: UInt64?, rule: String, _ numbers: inout NeedNumbers) {
        number = numbers.nextNeed()
        var places: [Place: Int] = [:]
        for case .place(let place) in sources { places[place] = numbers.number(of: place) }
        self.places = places
        bodyPlaces = places.keys.filter(\.isInBody)
        seeded = seed.map { (SeededDraw(seed: $0, rule: rule), RequestCounter()) }
        matches = ContinuedState(0)
    }

    private init(copying other: RuleValues) {
        (number, places, bodyPlaces) = (other.number, other.places, other.bodyPlaces)
        seeded = other.seeded.map { ($0.draws, $0.requests.copy) }
        matches = other.matches.copy
    }

    /// With counts of its own, for a dry run.
    var copy: RuleValues { RuleValues(copying: self) }

    /// Continues the counts of an older rule; from now on both share them.
    func goOn(from other: RuleValues) {
        matches.goOn(from: other.matches)
        if let seeded, let older = other.seeded { seeded.requests.goOn(from: older.requests) }
    }

    fileprivate func countMatch() -> Int64 {
        matches.update { count in
            count += 1
            return count
        }
    }

    /// Draws for one request, in 0..<1; the argument distinguishes them.
    fileprivate func draws(for opening: ExchangeOpening) -> (Int) -> Double {
        guard let seeded else { return { _ in Double.random(in: 0..<1) } }
        let (method, url) = (opening.head.method, opening.url)
        let nth = seeded.requests.next(method, url)
        return { seeded.draws.uniform(method, url, nth: nth, index: $0) }
    }
}

/// The values of one rule that belong to one exchange.
final class ExchangeValues {
    /// How often the rule has matched, from 1.
    let count: Int64
    /// In microseconds since 1970; the same for all texts of the rule.
    let now = WallClock.now()
    private let draw: (Int) -> Double
    private var index = 0

    init(_ rule: RuleValues, _ opening: ExchangeOpening) {
        (count, draw) = (rule.countMatch(), rule.draws(for: opening))
    }

    private func next() -> Double {
        index += 1
        return draw(index - 1)
    }

    func number(in range: ClosedRange<Int64>) -> Int64 {
        let width = Double(range.upperBound - range.lowerBound) + 1
        return min(range.upperBound, range.lowerBound + Int64(next() * width))
    }

    /// Version 4 (RFC 9562 §5.4).
    func uuid() -> String {
        var words = (0..<4).map { _ in UInt32(next() * 0x1p32) }
        words[1] = words[1] & 0xFFFF_0FFF | 0x4000
        words[2] = words[2] & 0x3FFF_FFFF | 0x8000_0000
        let digits = words.map { $0.padded(to: 8, radix: 16) }.joined()
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(digits)[$0]) }.joined(separator: "-")
    }
}

/// A value that a text of the rule being read names.
struct ValueUse {
    let source: ValueSource
    let node: Node
    /// In characters.
    let offset: Int
}

extension ProfileReader {
    /// Whether a text of the rule that is being read has values.
    package var namesValues: Bool { !valueUses.isEmpty }

    /// Checks the values that the texts of a rule name; `nil` if they name none.
    mutating func values(of rule: RuleHeading, _ tool: ToolDescriptor, _ fields: ProfileFields) -> RuleValues? {
        if valueUses.isEmpty { return nil }
        for use in valueUses {
            switch use.source {
            case .place(let place) where place.isInBody && !tool.conditions.contains(.bodies):
                error("'\(place)' needs the body, and \(tool.noun) does not wait for bodies", at: use)
            case .star(let number):
                let count = rule.scope.locations?.map(\.starCount).min() ?? 0
                guard number > count else { continue }
                let stars = "'\(tool.scope.rawValue)' has \(count) star\(count == 1 ? "" : "s")"
                error("there is no ${at.\(number)}: \(stars)", at: use)
            default: break
            }
        }
        let seed = fields["seed"]?.string.flatMap { Double($0) }.flatMap { UInt64(exactly: $0) }
        return RuleValues(valueUses.map(\.source), seed: seed, rule: rule.name, &numbers)
    }

    private mutating func error(_ message: String, at use: ValueUse) {
        error(message, at: use.node, offset: use.offset)
    }
}

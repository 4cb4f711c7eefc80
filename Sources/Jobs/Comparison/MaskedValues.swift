package import Content
package import Description
import Formats
package import HTTPModel
package import Masking

package struct MaskedValues {
    private var differences: [[Int64]: ExchangeDifference] = [:]

    /// Reads pairs of an older and a newer exchange again, masked. Without `known`, searches for secrets first.
    package init(
        _ pairs: [[Int64]],
        _ sources: [any ExchangeSource],
        _ version: MessageVersion,
        known: TextMask?,
        _ rules: MaskRules
    ) throws {
        let text = known ?? TextMask(rules)
        let masked = sources.map { MaskedSource($0, text) }
        var seen: Set<[Int64]> = []
        let pairs = pairs.filter { seen.insert($0).inserted }
        /// Both exchanges of the pair, or an empty list.
        func exchanges(_ pair: [Int64]) throws -> [(source: MaskedSource, exchange: RecordedExchange)] {
            let found = try zip(sources, pair).compactMap { try $0.exchange(ExchangeID($1)) }
            return found.count == 2 ? zip(masked, found).map { ($0, $1) } : []
        }
        if known == nil {
            for pair in pairs { for one in try exchanges(pair) { try one.source.collectAll(one.exchange) } }
            text.endCollecting()
        }
        for pair in pairs {
            let sides = try exchanges(pair).map { ExchangeDifference.Side($0.source.masked($0.exchange), $0.source) }
            if sides.isEmpty { continue }
            let rules = ComparisonRules(isExact: true)
            differences[pair] = try ExchangeDifference(sides[0], sides[1], rules: rules, responses: version)
        }
    }

    /// The masked values of a difference in a pair; `masked` for both if the masked values are equal or unknown.
    package func values(of subject: ExchangeDifference.Subject, in pair: [Int64]) -> (String?, String?) {
        let change = differences[pair]?.changes.first { $0.subject == subject || $0.subject.general == subject }
        return change.map { ($0.old, $0.new) } ?? ("masked", "masked")
    }
}

package import Description
import Formats
import HTTPModel
import Masking
package import Recording

/// The values of differences with secrets masked.
package struct MaskedValues {
    private var differences: [[Int64]: ExchangeDifference] = [:]

    /// Reads pairs of exchanges again, masked; the same secret has the same placeholder in all.
    package init(
        _ pairs: [[Int64]],
        _ old: SessionReader,
        _ new: SessionReader,
        _ version: MessageVersion,
        _ mask: ReportMask
    ) throws {
        var seen: Set<[Int64]> = []
        let pairs = pairs.filter { seen.insert($0).inserted }
        let text = mask.known ?? TextMask(mask.rules)
        let sources = [MaskedSource(old, text), MaskedSource(new, text)]
        func exchange(_ pair: [Int64], _ index: Int) throws -> RecordedExchange? {
            try (index == 0 ? old : new).exchange(ExchangeID(pair[index]))
        }
        if mask.known == nil {
            for pair in pairs where pair.count == 2 {
                for index in 0...1 { try exchange(pair, index).map { try sources[index].collectAll($0) } }
            }
            text.endCollecting()
        }
        for pair in pairs where pair.count == 2 {
            guard let left = try exchange(pair, 0), let right = try exchange(pair, 1) else { continue }
            differences[pair] = try ExchangeDifference(
                .init(sources[0].masked(left), sources[0]),
                .init(sources[1].masked(right), sources[1]),
                rules: ComparisonRules(isExact: true),
                responses: version
            )
        }
    }

    static func difference(
        _ old: ExchangeDifference.Side,
        _ new: ExchangeDifference.Side,
        _ version: MessageVersion,
        _ mask: MaskRules
    ) throws -> ExchangeDifference {
        let text = TextMask(mask)
        let sources = [MaskedSource(old.source, text), MaskedSource(new.source, text)]
        try sources[0].collectAll(old.exchange)
        try sources[1].collectAll(new.exchange)
        text.endCollecting()
        return try ExchangeDifference(
            .init(sources[0].masked(old.exchange), sources[0]),
            .init(sources[1].masked(new.exchange), sources[1]),
            rules: ComparisonRules(isExact: true),
            responses: version
        )
    }

    /// The masked values of a place; `masked` for both if they are the same or unknown.
    package func values(of place: String, in pair: [Int64]) -> (String?, String?) {
        guard let difference = differences[pair] else { return ("masked", "masked") }
        return MaskedValues.values(of: place, in: difference)
    }

    static func values(of place: String, in difference: ExchangeDifference) -> (String?, String?) {
        let change = difference.changes.first { $0.place == place || ComparisonRules.withoutIndices($0.place) == place }
        return change.map { ($0.old, $0.new) } ?? ("masked", "masked")
    }
}

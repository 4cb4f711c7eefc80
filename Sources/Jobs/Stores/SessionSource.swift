import Foundation
package import HTTPModel
import Masking
package import Recording
package import Store

/// The exchanges of a session on their way into a store, masked as exports are, with the secrets found so far.
package final class SessionSource: Shipper.Source {
    private let reader: SessionReader
    private let pages: SessionPages
    private let masked: MaskedSource?
    private let rules: MaskRules

    /// Without `key`, secrets stay.
    package init(_ reader: SessionReader, _ rules: MaskRules, key: LabelKey?) {
        (self.reader, self.rules) = (reader, rules)
        let pages = SessionPages(reader)
        self.pages = pages
        masked = key.map { key in MaskedSource(pages, TextMask(rules, label: key.label)) }
    }

    package var identifier: String { get throws { try reader.identity().identifier.uuidString.lowercased() } }

    package var ended: [Int64] {
        get throws { try reader.states(of: .all).filter { !$0.isInFlight }.map(\.number) }
    }

    package func annotations() throws -> [Int64: ExchangeAnnotation] {
        try reader.annotations().mapValues { annotation in
            var annotation = annotation
            annotation.comment = annotation.comment.map { masked?.masked(text: $0) ?? $0 }
            return annotation
        }
    }

    package func rules(after number: Int64) throws -> [StoredRules] {
        let mask = masked.map { ProfileMask($0, rules) }
        return try reader.rules().filter { $0.number > number }.map { set in
            var set = set
            if let masked { for source in set.sources { ProfileMask.collect(source.text, masked) } }
            set.sources = set.sources.map { mask?.source($0) ?? $0 }
            return set
        }
    }

    package func fill(_ batch: StoreBatch, with numbers: [Int64]) throws -> Int {
        masked?.mask.boundWhatIsSought()
        var rest = numbers[...]
        // A page has at most a megabyte and one exchange.
        let exchanges = try pages.read(&rest)
        // A secret may be found in a later part than that which has it, too.
        if let masked { for exchange in exchanges { try masked.collect(exchange) } }
        let replay = ExchangeReplay(BodyCopy(source: pages, hasBody: pages.hasBody, output: batch), masked)
        for exchange in exchanges { try replay.add(exchange) }
        return numbers.count - rest.count
    }
}

import Description
import Foundation
package import HTTPModel
import Masking
import Synchronization

/// Writes a line for each ended exchange, on the recorder's thread.
package final class ExchangeLog: Sendable {
    package enum Form: String, Sendable, CaseIterable {
        case lines
        /// One JSON object for each line.
        case json
        case quiet
    }

    private let form: Form
    private let write: @Sendable (String) -> Void
    /// Masks secrets in lines of JSON.
    private let mask: Mutex<RecordMask?>
    private let hasHeader = Atomic(false)
    private let maskedPlaces = Atomic(0)
    private let maskedLines = Atomic(0)

    package init(form: Form, mask: MaskRules? = nil, write: @escaping @Sendable (String) -> Void) {
        self.form = form
        self.write = write
        self.mask = Mutex(form == .json ? mask.map { RecordMask($0) } : nil)
    }

    package func add(_ exchanges: [RecordedExchange]) {
        guard form != .quiet, !exchanges.isEmpty else { return }
        var lines = exchanges.map { exchange in
            guard form == .json else { return ExchangeLine.human(exchange) }
            return ExchangeLine.json(masked(exchange), isUnrecorded: exchange.isUnrecorded)
        }
        if form == .lines, !hasHeader.exchange(true, ordering: .relaxed) { lines.insert(ExchangeLine.header, at: 0) }
        write(lines.joined(separator: "\n") + "\n")
    }

    private func masked(_ exchange: RecordedExchange) -> ExchangeRecord {
        let record = mask.withLock { $0?.masked(exchange) ?? exchange.record }
        let count = record.extras.masked.count - exchange.record.extras.masked.count
        if count > 0 {
            maskedPlaces.add(count, ordering: .relaxed)
            maskedLines.add(1, ordering: .relaxed)
        }
        return record
    }

    /// How much was masked so far.
    package var summary: String? {
        RunSummary.masked(
            places: maskedPlaces.load(ordering: .relaxed),
            exchanges: maskedLines.load(ordering: .relaxed)
        )
    }
}

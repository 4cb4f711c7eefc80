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
    private let hasHeader = Atomic(false)
    /// Masks secrets in JSON lines; counts the masked places and the lines that had secrets.
    private let masking: Mutex<(mask: RecordMask?, places: Int, lines: Int)>

    package init(form: Form, mask: MaskRules? = nil, write: @escaping @Sendable (String) -> Void) {
        self.form = form
        self.write = write
        masking = Mutex((form == .json ? mask.map { RecordMask($0) } : nil, 0, 0))
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
        masking.withLock { masking in
            let record = masking.mask?.masked(exchange) ?? exchange.record
            let count = record.extras.masked.count - exchange.record.extras.masked.count
            if count > 0 { (masking.places, masking.lines) = (masking.places + count, masking.lines + 1) }
            return record
        }
    }

    /// How much was masked so far.
    package var summary: String? {
        masking.withLock { RunSummary.masked(places: $0.places, exchanges: $0.lines) }
    }
}

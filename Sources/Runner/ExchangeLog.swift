import Foundation
package import HTTPModel
import Sharing
import Synchronization

/// Writes a line for each exchange that ended, on the recorder's thread.
package final class ExchangeLog: Sendable {
    package enum Form: String, Sendable, CaseIterable {
        /// Columns.
        case lines
        /// One JSON object a line.
        case json
        /// No lines.
        case quiet
    }

    private let form: Form
    private let write: @Sendable (String) -> Void
    private let hasHeader = Atomic(false)

    package init(form: Form, write: @escaping @Sendable (String) -> Void) {
        self.form = form
        self.write = write
    }

    package func add(_ records: [ExchangeRecord]) {
        guard form != .quiet, !records.isEmpty else { return }
        var lines = records.map { form == .json ? ExchangeLine.json($0) : ExchangeLine.human($0) }
        if form == .lines, !hasHeader.exchange(true, ordering: .relaxed) { lines.insert(ExchangeLine.header, at: 0) }
        write(lines.joined(separator: "\n") + "\n")
    }
}

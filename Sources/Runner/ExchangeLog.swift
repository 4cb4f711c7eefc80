import Foundation
package import HTTPModel
import Sharing
import Synchronization

/// Writes a line for each exchange that ended.
///
/// Called on the recorder's thread.
package final class ExchangeLog: Sendable {
    /// What a line looks like.
    package enum Form: String, Sendable, CaseIterable {
        /// Columns for people.
        case lines
        /// One JSON object.
        case json
        /// No line at all.
        case quiet
    }

    private let form: Form
    private let write: @Sendable (String) -> Void
    private let hasHeader = Mutex(false)

    package init(form: Form, write: @escaping @Sendable (String) -> Void) {
        self.form = form
        self.write = write
    }

    /// Writes the lines of exchanges that ended.
    package func add(_ records: [ExchangeRecord]) {
        guard form != .quiet, !records.isEmpty else { return }
        var text = ""
        if form == .lines,
            hasHeader.withLock({ was in
                defer { was = true }
                return !was
            })
        {
            text += ExchangeLine.header + "\n"
        }
        for record in records {
            text += form == .json ? ExchangeLine.json(record) : ExchangeLine.human(record)
            text += "\n"
        }
        write(text)
    }
}

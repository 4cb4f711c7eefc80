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

/// Standard output and standard error, written without buffering in between.
///
/// What a terminal would obey or hide is made visible, wherever it comes from: traffic, files, arguments. Bytes that are
/// to stay exact go through ``OutputFile``.
package enum StandardStreams {
    package static func out(_ text: String) { write(text, to: FileHandle.standardOutput) }
    package static func error(_ text: String) { write(text, to: FileHandle.standardError) }

    private static func write(_ text: String, to handle: FileHandle) {
        // A reader that went away (`| head`) is no reason to stop the proxy.
        try? handle.write(contentsOf: Data(VisibleText.lines(text).utf8))
    }
}

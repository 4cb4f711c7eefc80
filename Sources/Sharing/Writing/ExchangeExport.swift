package import HTTPModel
package import NIOCore

/// Takes the next bytes of an export, to a file or a terminal.
package typealias ExportSink = (ByteBuffer) throws -> Void

/// A format that exchanges are exported in, one by one, so that a session is never whole in memory. Call `add` for each
/// exchange in order, then `finish` once; nothing is valid output before that.
package protocol ExchangeExport {
    mutating func add(_ exchange: RecordedExchange) throws
    mutating func finish() throws
    /// What whoever exports is to know of what was written, in a sentence without its end; `nil` for nothing. It is whole after
    /// `finish`.
    var remark: String? { get }
}

extension ExchangeExport {
    package var remark: String? { nil }
}

package import Content
package import Description
package import HTTPModel
package import NIOCore

/// Writes exchanges, one by one. Call `add` for each in order, then `finish` once; nothing is valid before that.
package protocol ExchangeExport {
    mutating func add(_ exchange: RecordedExchange) throws
    mutating func finish() throws
    /// A sentence for the user on the written exchanges, without a full stop; complete after `finish`.
    var remark: String? { get }
}

extension ExchangeExport {
    package var remark: String? { nil }
}

package protocol ScriptExport: ExchangeExport {
    /// Whether it is for a shell, which has variables for masked secrets.
    var isForShell: Bool { get }
    /// The exchanges that could not become commands, each with the reason.
    var skipped: [(id: ExchangeID, reason: String)] { get }
}

/// A format whose exchanges are independent: several threads can make parts, which are joined in order.
package protocol PartedExport: ExchangeExport {
    /// Makes an export for a sequence of exchanges within this export.
    var part: ExportPart { get }
    /// Adds the next piece of a part's output; parts without output are left out.
    mutating func add(_ piece: ByteBuffer, beginsPart: Bool) throws
}

/// Makes a part of an export from a separate source: only exchanges and their separators.
package typealias ExportPart =
    @Sendable (_ source: any ExchangeSource, _ sink: @escaping ExportSink) -> any ExchangeExport

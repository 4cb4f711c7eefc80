package import Content
package import Description
package import HTTPModel
package import NIOCore

/// Writes exchanges, one by one. Call `add` for each in order, then `finish` once; nothing is valid before that.
package protocol ExchangeExport {
    mutating func add(_ exchange: RecordedExchange) throws
    mutating func finish() throws
    /// For the user, about the written exchanges, a sentence without its end; complete after `finish`.
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
    /// Makes an export of exchanges that follow each other somewhere in this one.
    var part: ExportPart { get }
    /// Adds the next piece of what a part wrote; parts that wrote nothing are left out.
    mutating func add(_ piece: ByteBuffer, beginsPart: Bool) throws
}

/// Makes a part of an export from a source of its own: only exchanges and what stands between them.
package typealias ExportPart =
    @Sendable (_ source: any ExchangeSource, _ sink: @escaping ExportSink) -> any ExchangeExport

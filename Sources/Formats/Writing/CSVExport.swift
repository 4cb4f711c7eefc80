package import Content
package import Description
package import HTTPModel
import NIOCore
import Text

/// Exports exchanges as a table: RFC 4180, with a header line, in UTF-8. A text that a spreadsheet would take for a
/// formula (it begins with `=`, `+`, `-`, `@`, also in full width, a tab or a line end) gets an apostrophe before it.
package struct CSVExport: ExchangeExport {
    private static let columns = [
        "number", "started", "kind", "state", "method", "url", "host", "status", "type", "request bytes",
        "response bytes", "milliseconds", "client version", "server version", "failure", "process", "comment", "colour",
        "masked",
    ]

    private let source: any ExchangeSource
    private let sink: ExportSink
    private var text = columns.joined(separator: ",") + "\r\n"

    package init(source: any ExchangeSource, sink: @escaping ExportSink) { (self.source, self.sink) = (source, sink) }

    package mutating func add(_ exchange: RecordedExchange) throws {
        let record = exchange.record
        let cells = [
            "\(record.id.number)", Timestamp.iso8601(record.startedAt), record.kind.exportName, record.state.exportName,
            CSVExport.cell(record.method), CSVExport.cell(record.url.description), CSVExport.cell(record.url.authority),
            record.status > 0 ? "\(record.status)" : "", CSVExport.cell(record.mediaType),
            "\(record.sizes.requestBody)", "\(record.sizes.responseBody)",
            milliseconds(record.timings.total),
            record.clientVersion.description, record.upstreamVersion?.description ?? "",
            CSVExport.cell(record.failure.map { "\($0.code.rawValue): \($0.message)" } ?? ""),
            CSVExport.cell(record.extras.process.map { "\($0.name) (\($0.id))" } ?? ""),
            CSVExport.cell(record.extras.annotation.comment ?? ""),
            CSVExport.cell(record.extras.annotation.colour ?? ""),
            CSVExport.cell(source.maskedParts(of: record).joined(separator: ", ")),
        ]
        text += cells.joined(separator: ",") + "\r\n"
        if text.utf8.count > 1 << 16 { try write() }
    }

    package mutating func finish() throws { try write() }

    private mutating func write() throws {
        try sink(ByteBuffer(string: text))
        text = ""
    }

    private func milliseconds(_ microseconds: Int64?) -> String {
        guard let microseconds else { return "" }
        var writer = JSONWriter()
        writer.milliseconds(microseconds)
        return String(buffer: writer.buffer)
    }

    /// A text as a cell: in quotes if necessary, and without characters that control a terminal.
    static func cell(_ text: String) -> String {
        let text = text.split(separator: "\r\n", omittingEmptySubsequences: false).map { VisibleText.lines(String($0)) }
            .joined(separator: "\r\n")
        let isFormula = text.unicodeScalars.first.map { "=+-@＝＋－＠\t\r\n".unicodeScalars.contains($0) } ?? false
        let plain = isFormula ? "'" + text : text
        // Some spreadsheets are set to separate cells at semicolons or tabs.
        guard plain.unicodeScalars.contains(where: { "\",;\t\r\n".unicodeScalars.contains($0) }) else { return plain }
        return "\"" + plain.replacing(["\"": "\"\""]) + "\""
    }
}

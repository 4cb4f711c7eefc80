import Content
import HTTPModel
import Text

/// The decoded fields of a query or a form; also as sent, if that shows more.
struct FormTable {
    private static let mostFields = 2000

    private let text: String
    private let part: Place?

    /// `text` is a query without its `?`, or the body of a form; `part` is its place.
    init(_ text: String, at part: Place? = nil) { (self.text, self.part) = (text, part) }

    func write(into writer: inout DetailWriter) {
        let bytes = Array(text.utf8)
        let fields = FormFields.parse(bytes, limit: FormTable.mostFields)
        let pairs = bytes.split(separator: UInt8(ascii: "&"), maxSplits: FormTable.mostFields)
        let rows = zip(fields, pairs).map { field, pair -> (name: Span, value: [Span]) in
            let hasValue = pair.contains(UInt8(ascii: "="))
            var value = [hasValue ? Span(field.value, .string) : Span("(no value)", .faint)]
            let sent = String(decoding: pair, as: UTF8.self)
            // A space as + or %20 is not worth mentioning.
            let isOdd = FormTable.isOdd(field.name + field.value) && sent != field.name + "=" + field.value
            if isOdd { value.append(Span("  \(sent)", .faint)) }
            return (Span(field.name.isEmpty ? "(no name)" : field.name, .key), value)
        }
        writer.table(rows, of: part)
        if pairs.count > fields.count {
            writer.leaveOut("Only the first \(FormTable.mostFields.grouped) fields are shown.")
        }
    }

    private static func isOdd(_ text: String) -> Bool {
        VisibleText.of(text) != text || text.contains("\u{FFFD}") || text.first == " " || text.last == " "
    }
}

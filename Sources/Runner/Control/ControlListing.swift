import Foundation
import HTTPModel
import Text

package enum ControlListing {
    // MARK: - Holds

    /// The messages that wait, one a line, under a header.
    package static func table(_ holds: [HoldSummary]) -> String {
        let rows = holds.map { hold in
            [
                hold.id, clock(hold.age), hold.status.map { "\($0) for \(hold.method)" } ?? hold.method,
                hold.url, hold.size.map(size) ?? "head", unanswered(hold),
            ]
        }
        return columns([["ID", "AGE", "WHAT", "URL", "BODY", "UNANSWERED"]] + rows, rightAligned: [1, 4])
    }

    /// A message that waits, whole.
    package static func text(_ hold: HoldDetails) -> String {
        let summary = hold.summary
        let request = VisibleText.of("\(summary.method) \(summary.url)")
        let subject = summary.side == "request" ? "request" : "response to \(request)"
        var text = "\(summary.id)  \(subject), held for \(clock(summary.age)); unanswered: \(unanswered(summary))\n\n"
        text += printable(hold.head)
        guard let body = hold.body else { return text + "\n(the body is not held; it streams on)\n" }
        if let problem = body.problem { text += "\n(the body could not be decoded whole: \(problem))\n" }
        guard body.size > 0 else { return text }
        if let shown = body.text {
            text += "\n\(printable(shown))"
            return text.hasSuffix("\n") ? text : text + "\n"
        }
        let encoded = body.size == body.decodedSize ? "" : ", \(size(body.size)) as received"
        text += "\n(a body of \(size(body.decodedSize))\(encoded)"
        guard !body.isCut, let bytes = body.base64 else { return text + ")\n" }
        return text + " that is no text; it begins with \(hex(bytes.prefix(24))))\n"
    }

    private static func unanswered(_ hold: HoldSummary) -> String {
        guard let what = hold.unanswered else { return "waits" }
        return "\(what) in \(clock(max(0, hold.remaining ?? 0)))"
    }

    // MARK: - Tools

    /// The tools, one a line, under a header.
    package static func table(_ tools: [ToolState]) -> String {
        let rows = tools.map { tool in
            let disabled = tool.rules - tool.enabled
            let note = disabled > 0 ? " (\(disabled) not enabled)" : ""
            return [tool.name, tool.isOn ? "on" : "off", "\(tool.rules)\(note)"]
        }
        return columns([["TOOL", "", "RULES"]] + rows, rightAligned: [])
    }

    // MARK: - Form

    /// A value as one line of JSON.
    package static func json(_ value: some Encodable) throws -> String {
        String(decoding: try ControlLine.encode(value), as: UTF8.self)
    }

    private static func columns(_ rows: [[String]], rightAligned: Set<Int>) -> String {
        let rows = rows.map { $0.map(VisibleText.of) }
        let count = rows.first?.count ?? 0
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let gap = String(repeating: " ", count: widths[column] - cell.count)
                line += rightAligned.contains(column) ? gap + cell : cell + gap
                line += "  "
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private static func clock(_ seconds: Double) -> String {
        let total = Int(seconds.isFinite ? min(max(seconds, 0), 1e9) : 0)
        let (hours, minutes, rest) = (total / 3_600, total / 60 % 60, total % 60)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
    }

    private static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000: "\(bytes) B"
        case ..<1_000_000: "\((Double(bytes) / 100).rounded() / 10) kB"
        default: "\((Double(bytes) / 100_000).rounded() / 10) MB"
        }
    }

    private static func hex(_ bytes: Data) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
    }

    /// Lines as a terminal may have them; the exact text is had with `--json`.
    private static func printable(_ text: String) -> String {
        VisibleText.lines(text.replacing("\r\n", with: "\n"))
    }
}

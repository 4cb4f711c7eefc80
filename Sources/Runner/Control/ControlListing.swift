import Description
import Foundation
import HTTPModel
import Rules
package import Store
import Telemetry
import Text

package enum ControlListing {
    package static func table(_ holds: [HoldSummary]) -> String {
        let rows = holds.map { hold in
            [
                hold.id, clock(hold.age), hold.status.map { "\($0) for \(hold.method)" } ?? hold.method,
                hold.url, hold.size.map { Measures.size(Int64($0)) } ?? "head", unanswered(hold),
            ]
        }
        return columns([["ID", "AGE", "WHAT", "URL", "BODY", "UNANSWERED"]] + rows, rightAligned: [1, 4])
    }

    package static func text(_ hold: HoldDetails) -> String {
        let summary = hold.summary
        let request = VisibleText.of("\(summary.method) \(summary.url)")
        let subject = summary.side == "request" ? "request" : "response to \(request)"
        var text = "\(summary.id)  \(subject), held for \(clock(summary.age)); unanswered: \(unanswered(summary))\n\n"
        text += printable(hold.head)
        guard let body = hold.body else { return text + "\n(the body is not held)\n" }
        if let problem = body.problem { text += "\n(the body could not be decoded completely: \(problem))\n" }
        guard body.size > 0 else { return text }
        if let shown = body.text {
            text += "\n\(printable(shown))"
            return text.hasSuffix("\n") ? text : text + "\n"
        }
        let encoded = body.size == body.decodedSize ? "" : ", \(Measures.size(Int64(body.size))) as received"
        text += "\n(a body of \(Measures.size(Int64(body.decodedSize)))\(encoded)"
        guard !body.isCut, let bytes = body.base64 else { return text + ")\n" }
        let start = bytes.prefix(24).map { String(format: "%02x", $0) }.joined(separator: " ")
        return text + " that is not text; it begins with \(start))\n"
    }

    private static func unanswered(_ hold: HoldSummary) -> String {
        guard let what = hold.unanswered else { return "waiting" }
        return "\(what) in \(clock(max(0, hold.remaining ?? 0)))"
    }

    package static func text(_ status: ControlStatus) -> String {
        var rows = [["Sluice", "\(status.version), process \(status.pid)"]]
        rows += status.listeners.map { ["listening", "\($0.address)\($0.isForward ? "" : " as \($0.mode)")"] }
        rows.append(["session", status.session ?? "none"])
        if let problem = status.recordingProblem {
            rows.append(["recording", "stopped: \(problem)"])
        } else if status.session != nil {
            rows.append(["recording", status.recording.isOn ? "on" : "off"])
        }
        if let store = status.store { rows.append(["store", text(store)]) }
        rows.append(["profile", status.profiles.isEmpty ? "none" : status.profiles.joined(separator: ", ")])
        let tools = status.tools.filter { $0.isOn && $0.enabled > 0 }.map(\.name)
        rows.append(["tools", tools.isEmpty ? "none" : tools.joined(separator: ", ")])
        rows.append(["held", status.holds.of("message")])
        if let spans = status.spans {
            let lost = spans.refused + spans.dropped
            let text = "\(spans.sent.grouped) sent, \(spans.waiting.grouped) waiting"
            rows.append(["spans", lost > 0 ? "\(text), \(lost.grouped) lost" : text])
        }
        return columns(rows, rightAligned: [])
    }

    /// How many exchanges a store has and lacks, since when, and why.
    package static func text(_ store: Shipper.Status) -> String {
        var text = "\(store.stored.grouped) stored"
        if store.waiting > 0 { text += ", \(store.waiting.grouped) waiting" }
        if store.waiting > 0, let since = store.waitsSince { text += " since \(Timestamp.clock(since))" }
        if store.lost > 0 { text += ", \(store.lost.grouped) lost" }
        return text + (store.error.map { ": \($0)" } ?? "")
    }

    /// Without the proxy's password.
    package static func json(_ status: ControlStatus) throws -> String {
        var status = status
        status.proxyAuthorization = nil
        return String(decoding: try ControlLine.encode(status), as: UTF8.self)
    }

    package static func table(_ tools: [ToolState]) -> String {
        let rows = tools.map { tool in
            let disabled = tool.rules - tool.enabled
            let note = disabled > 0 ? " (\(disabled) not enabled)" : ""
            let counts = tool.counts?.map { "\($0.rule) \($0.count.grouped)" }.joined(separator: ", ")
            return [
                tool.name, tool.isOn ? "on" : "off", "\(tool.rules)\(note)\(counts.map { "; answers: \($0)" } ?? "")",
            ]
        }
        return columns([["TOOL", "", "RULES"]] + rows, rightAligned: [])
    }

    package static func json(_ value: some Encodable) throws -> String {
        String(decoding: try ControlLine.encode(value), as: UTF8.self)
    }

    package static func jsonLines(_ values: [some Encodable]) throws -> String {
        try values.map { try json($0) }.joined()
    }

    private static func columns(_ rows: [[String]], rightAligned: Set<Int>) -> String {
        TextTable.text(rows.map { $0.map(VisibleText.of) }, rightAligned: rightAligned)
    }

    private static func clock(_ seconds: Double) -> String {
        let total = Int(seconds.isFinite ? min(max(seconds, 0), 1e9) : 0)
        let (hours, minutes, rest) = (total / 3_600, total / 60 % 60, total % 60)
        return hours > 0
            ? String(format: "%d:%02d:%02d", hours, minutes, rest) : String(format: "%d:%02d", minutes, rest)
    }

    /// For a terminal; `--json` prints the exact text.
    private static func printable(_ text: String) -> String { VisibleText.lines(text.replacing("\r\n", with: "\n")) }
}

import HTTPModel
import Text

/// The time of an exchange by phases: a bar for each phase, with its name and its time as text.
struct Waterfall {
    let phases: Phases

    private struct Phase {
        var name: String
        var start: Int64
        var length: Int64
        var explanation: String
    }

    func write(into writer: inout DetailWriter) {
        let timings = phases.timings
        let phases = bars
        let end = max(phases.last.map { $0.start + $0.length } ?? 0, timings.total ?? 0)
        let width = max(10, writer.options.width - writer.margin - 46)
        for phase in phases {
            let bar = writer.options.hasBars ? bar(phase, end, width, writer) + "  " : ""
            add(phase.name, phase.length, [Span("  "), Span(bar, .success), Span(phase.explanation, .faint)], &writer)
        }
        if let total = timings.total { add("total", total, [], &writer) }
    }

    private func add(_ name: String, _ time: Int64, _ rest: [Span], _ writer: inout DetailWriter) {
        let spans = [Span(name.filled(to: 8) + " ", .label), Span(Measures.duration(time).aligned(to: 9), .number)]
        writer.add(spans + rest, wraps: false)
    }

    private var bars: [Phase] {
        let timings = phases.timings
        let known: [(String, Int64?, String)] = [
            ("blocked", timings.blocked, "waiting for rules, or a connection"),
            ("dns", timings.dns, "resolving the name"),
            ("connect", timings.connect, "making the connection"),
            ("tls", timings.tls, "the TLS handshake"),
            ("send", timings.send, "sending the request"),
            ("wait", timings.wait, "until the first byte"),
            ("receive", timings.receive, "the response"),
            ("deliver", phases.deliver, "to the client: throttle, breakpoint, slow client"),
        ]
        var start: Int64 = 0
        return known.compactMap { name, time, explanation in
            guard let time else { return nil }
            let length = min(max(0, time), Int64.max / 16)
            defer { start += length }
            return Phase(name: name, start: start, length: length, explanation: explanation)
        }
    }

    /// The bar at its position; at least one character wide.
    private func bar(_ phase: Phase, _ end: Int64, _ width: Int, _ writer: DetailWriter) -> String {
        guard end > 0 else { return String(repeating: " ", count: width) }
        let scale = Double(width) / Double(end)
        let first = min(width - 1, Int(Double(phase.start) * scale))
        let length = max(1, min(width - first, Int((Double(phase.length) * scale).rounded())))
        func blank(_ count: Int) -> String { String(repeating: writer.sign("·", "."), count: max(0, count)) }
        return blank(first) + String(repeating: writer.sign("━", "="), count: length) + blank(width - first - length)
    }
}

import HTTPModel
import Text

/// The progress of a response that is still arriving.
struct DownloadProgress {
    private static let (leastBar, mostBar) = (8, 30)
    /// The columns that a row of the detail pane needs at both ends.
    private static let ends = 6

    private let received: Int64
    /// From Content-Length; `nil` if the length is not known.
    private let whole: Int64?
    /// How long the response has been arriving, in microseconds.
    private let time: Int64

    /// `nil` if no response is arriving.
    init?(_ exchange: RecordedExchange, now: Int64) {
        let record = exchange.record
        guard record.state == .inFlight, record.kind == .http, exchange.messages.responseHead != nil else { return nil }
        received = record.sizes.responseBody
        let fields = exchange.messages.fields(of: .responseReceived)
        let length = fields.contains(.transferEncoding) ? nil : fields.value(of: .contentLength).flatMap { Int64($0) }
        whole = length.flatMap { $0 > 0 ? $0 : nil }
        let timings = record.timings
        let before = [timings.blocked, timings.dns, timings.connect, timings.tls, timings.send, timings.wait]
        let waited = before.reduce(Int64(0)) { $0 &+ max(0, $1 ?? 0) }
        time = max(0, now &- record.startedAt &- waited)
    }

    /// Bytes per second; `nil` until enough has arrived to tell.
    private var rate: Int64? {
        guard time >= 100_000, received > 0 else { return nil }
        return Int64(Double(received) / (Double(time) / 1_000_000))
    }

    /// Writes a bar that fits into the row, and figures; `label` columns precede them.
    func write(into writer: inout DetailWriter, beside label: Int = 0) {
        let part = whole.map { min(1, Double(received) / Double($0)) } ?? 0
        let size = Measures.size(received)
        var words = whole.map { ["\(Int(part * 100)) %", "\(size) of \(Measures.size($0))"] } ?? [size]
        if let rate {
            words.append("\(Measures.size(rate))/s")
            if let whole, rate > 0, received < whole {
                words.append("\(Timestamp.span((whole - received) / rate)) left")
            }
        }
        if whole == nil { words.append("length not known") }
        let text = words.joined(separator: ", ")
        guard whole != nil, writer.options.hasBars else { return writer.add(text) }
        let room = writer.options.width - writer.margin - label - text.count - DownloadProgress.ends
        let width = min(DownloadProgress.mostBar, max(DownloadProgress.leastBar, room))
        let full = Int(part * Double(width))
        let done = String(repeating: writer.sign("█", "#"), count: full)
        writer.add("\(done)\(String(repeating: writer.sign("░", "."), count: width - full)) \(text)")
    }
}

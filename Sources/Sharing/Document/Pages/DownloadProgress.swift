import HTTPModel
import Text

/// How far a response that is still coming has come.
struct DownloadProgress {
    private static let barWidth = 30

    private let received: Int64
    /// By its Content-Length; `nil` where that is not known.
    private let whole: Int64?
    /// For how long it has been coming, in microseconds.
    private let time: Int64

    /// `nil` where no response is on its way.
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

    /// Bytes a second; `nil` while that cannot be told.
    private var rate: Int64? {
        guard time >= 100_000, received > 0 else { return nil }
        return Int64(Double(received) / (Double(time) / 1_000_000))
    }

    func write(into writer: inout DetailWriter) {
        var words = [Measures.size(received)]
        if let whole {
            let part = min(1, Double(received) / Double(whole))
            if writer.options.hasBars {
                let width = min(DownloadProgress.barWidth, max(8, writer.options.width - writer.margin - 50))
                let full = Int(part * Double(width))
                let bar =
                    String(repeating: writer.sign("█", "#"), count: full)
                    + String(repeating: writer.sign("░", "."), count: width - full)
                words.insert("\(bar) \(Int(part * 100)) %", at: 0)
            } else {
                words.insert("\(Int(part * 100)) %", at: 0)
            }
            words[1] += " of \(Measures.size(whole))"
        }
        if let rate {
            words.append("\(Measures.size(rate))/s")
            if let whole, rate > 0, received < whole {
                words.append("\(Timestamp.span((whole - received) / rate)) left")
            }
        }
        if whole == nil { words.append("length not known") }
        writer.add(words.joined(separator: ", "), wraps: true)
    }
}

import HTTPModel
import NIOCore
import ProxyServer
import Recording

/// When the parts of a recorded answer arrived. If that was not recorded, the parts are spread over the body's time.
struct RecordedPace {
    let exchange: RecordedExchange
    let reader: SessionReader
    let bodySize: Int64
    let factor: Double

    /// Later arrivals of a stream have no delay.
    private static let mostArrivals = 100_000
    private static let mostSteps: Int64 = 1_000

    func set(_ answer: inout RecordedAnswer) throws {
        let record = exchange.record
        answer.delay = amount(record.timings.wait ?? 0)
        guard bodySize > 0 else { return }
        let limit = RecordedPace.mostArrivals
        let arrivals = try reader.arrivals(of: record.id, side: .responseReceived, from: 0, limit: limit)
        if !arrivals.isEmpty {
            let spent = [record.timings.blocked, record.timings.dns, record.timings.connect, record.timings.tls]
            let before = (spent + [record.timings.send, record.timings.wait]).reduce(0) { $0 + ($1 ?? 0) }
            let began = min(record.startedAt + before, arrivals.first?.at ?? Int64.max)
            answer.arrivals = arrivals.map { ($0.offset, amount(max(0, $0.at - began))) }
        } else if let receive = record.timings.receive, receive > 0 {
            let steps = RecordedPace.mostSteps
            let size = max(Int64(RecordedAnswer.pieceSize), (bodySize + steps - 1) / steps)
            answer.arrivals = stride(from: 0, to: bodySize, by: Int64.Stride(size)).map { offset in
                let end = min(bodySize, offset + size)
                return (offset, amount(Int64(Double(receive) * Double(end) / Double(bodySize))))
            }
        }
    }

    /// At most a day.
    private func amount(_ microseconds: Int64) -> TimeAmount {
        .microseconds(Int64(min(Double(microseconds) * factor, 86_400e6)))
    }
}

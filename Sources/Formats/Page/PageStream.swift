import Content
import Description
import HTTPModel
import NIOCore

struct PageStream {
    private let messages: [StreamedMessage]
    private let remarks: [String]
    /// How many messages are not in the page; 0 if all are, -1 if the number is unknown.
    private let leftOut: Int64

    /// Reads the beginning of a stream; `nil` if the exchange is not a stream. Throws the source's error.
    init?(_ exchange: RecordedExchange, source: any ExchangeSource, totals: inout PageTotals) throws {
        let limits = totals.limits
        let payload = max(0, min(limits.payload, limits.all - totals.written))
        guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: payload) else { return nil }
        var messages: [StreamedMessage] = []
        var hasMore = false
        while let message = try timeline.next() {
            if messages.count >= limits.messages || totals.written >= limits.all {
                hasMore = true
                break
            }
            messages.append(message)
            totals.written += message.payload.readableBytes
        }
        self.messages = messages
        remarks = hasMore ? [] : timeline.remarks
        let tally = exchange.record.tally
        let counted = messages.reduce(into: Int64(0)) { $0 += $1.isCounted ? 1 : 0 }
        let rest = tally.fromClient.addingReportingOverflow(tally.fromServer).partialValue &- counted
        leftOut = hasMore ? (rest > 0 ? rest : -1) : 0
        totals.messages &+= hasMore ? max(1, rest) : 0
    }

    func write(into writer: inout JSONWriter) throws {
        try writer.objects("messages", messages) { try $0.streamedMessage($1) }
        if !remarks.isEmpty { writer.member("messagesComment", remarks.joined(separator: " ")) }
        if leftOut != 0 { writer.member("messagesLeftOut", leftOut) }
    }
}

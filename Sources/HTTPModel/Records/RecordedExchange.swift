import NIOCore

package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    package var client: ConnectionRecord?
    package var upstream: ConnectionRecord?
    package var isUnrecorded: Bool

    package init(
        record: ExchangeRecord,
        messages: ExchangeMessages,
        client: ConnectionRecord? = nil,
        upstream: ConnectionRecord? = nil,
        isUnrecorded: Bool = false
    ) {
        self.record = record
        self.messages = messages
        self.client = client
        self.upstream = upstream
        self.isUnrecorded = isUnrecorded
    }
}

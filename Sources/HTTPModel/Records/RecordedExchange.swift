import NIOCore

package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    /// `nil` if it was not recorded.
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
        (self.record, self.messages, self.client) = (record, messages, client)
        (self.upstream, self.isUnrecorded) = (upstream, isUnrecorded)
    }
}

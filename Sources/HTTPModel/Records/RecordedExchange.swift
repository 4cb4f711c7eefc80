import NIOCore

package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    package var client: ConnectionRecord?
    package var upstream: ConnectionRecord?
    package var isUnrecorded: Bool
    /// The identifier of the session that records it; `nil` if none does, and for exchanges that were read.
    package var session: String?

    package init(
        record: ExchangeRecord,
        messages: ExchangeMessages,
        client: ConnectionRecord? = nil,
        upstream: ConnectionRecord? = nil,
        isUnrecorded: Bool = false,
        session: String? = nil
    ) {
        self.record = record
        self.messages = messages
        self.client = client
        self.upstream = upstream
        self.isUnrecorded = isUnrecorded
        self.session = session
    }
}

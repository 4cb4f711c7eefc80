import NIOCore

/// An exchange read back from a session, whole: what `show` prints and what exports are made of.
package struct RecordedExchange: Sendable {
    package var record: ExchangeRecord
    package var messages: ExchangeMessages
    /// The connection to the client; `nil` if the session does not have it.
    package var client: ConnectionRecord?
    /// The connection to the server; `nil` if there was none.
    package var upstream: ConnectionRecord?
    /// Whether it passed without being recorded.
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

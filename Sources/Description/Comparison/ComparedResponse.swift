import HTTPModel
import NIOCore

/// Status, fields and body of a response in one version. If nothing is recorded as sent, the received one was sent.
struct ComparedResponse {
    let exchange: RecordedExchange
    let version: MessageVersion

    /// What its head and its body are read by.
    var side: BodySide { hasOwnBody ? .responseSent : .responseReceived }

    private var hasOwnBody: Bool { version == .sent && exchange.record.flags.contains(.responseBodyChanged) }

    var head: ByteBuffer? {
        let messages = exchange.messages
        return version == .sent ? messages.responseHeadSent ?? messages.responseHead : messages.responseHead
    }

    /// 0 where there is none.
    var status: Int {
        guard version == .received, exchange.messages.responseHeadSent != nil else { return exchange.record.status }
        return head.flatMap { StoredHead.response($0) }?.status ?? exchange.record.status
    }

    /// The body's size as it was recorded; `nil` where only its bytes tell.
    var bodySize: Int64? { hasOwnBody ? nil : exchange.record.sizes.responseBody }

    /// The version in words, where the two are not the same.
    var note: String? {
        let flags: ExchangeRecord.Flags = [.responseChanged, .responseBodyChanged]
        guard exchange.messages.responseHeadSent != nil || !exchange.record.flags.isDisjoint(with: flags) else {
            return nil
        }
        return version == .sent ? "as sent" : "as received"
    }
}

import HTTPModel
import NIOCore

/// Status, fields and body of a response in one version. If no sent version is recorded, the received one was sent.
struct ComparedResponse {
    let exchange: RecordedExchange
    let version: MessageVersion

    /// The side of the body to read.
    var side: BodySide { hasOwnBody ? .responseSent : .responseReceived }

    private var hasOwnBody: Bool { version == .sent && exchange.record.flags.contains(.responseBodyChanged) }

    var head: ByteBuffer? {
        let messages = exchange.messages
        return version == .sent ? messages.responseHeadSent ?? messages.responseHead : messages.responseHead
    }

    /// 0 if there is no status.
    var status: Int {
        guard version == .received, exchange.messages.responseHeadSent != nil else { return exchange.record.status }
        return head.flatMap { StoredHead.response($0) }?.status ?? exchange.record.status
    }

    /// The recorded size of the body; `nil` if only its bytes show the size.
    var bodySize: Int64? { hasOwnBody ? nil : exchange.record.sizes.responseBody }

    /// The version in words; `nil` if both versions are the same.
    var note: String? {
        let flags: ExchangeRecord.Flags = [.responseChanged, .responseBodyChanged]
        guard exchange.messages.responseHeadSent != nil || !exchange.record.flags.isDisjoint(with: flags) else {
            return nil
        }
        return version == .sent ? "as sent" : "as received"
    }
}

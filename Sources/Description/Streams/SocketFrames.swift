package import Content
package import HTTPModel
package import NIOCore

/// The messages of a WebSocket with their secrets replaced, as frames without compression (RFC 6455 §5.2).
package enum SocketFrames {
    /// Calls `body` with each message's frame by arrival, `at` in microseconds since 1970. Returns remarks.
    package static func forEach(
        of exchange: RecordedExchange,
        from source: any ExchangeSource,
        _ body: (_ isSent: Bool, _ frame: ByteBuffer, _ at: Int64?) throws -> Void
    ) throws -> [String] {
        guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: MessageTimeline.longestPayload)
        else { return [] }
        var leftOut: Int64 = 0
        while let message = try timeline.next() {
            guard case .webSocket(let details) = message.kind else { continue }
            let isSent = message.direction == .fromClient
            var payload = message.payload
            if let close = details.close {
                payload = ByteBuffer(integer: UInt16(clamping: close.code))
                payload.writeString(close.reason)
            }
            try body(isSent, WebSocketFrame.of(details.opcode, payload, isMasked: isSent), message.arrivedAt)
            leftOut += message.leftOut
        }
        var remarks = timeline.remarks
        if leftOut > 0 { remarks.append("\(leftOut) bytes of long messages are not in this masked copy.") }
        return remarks
    }
}

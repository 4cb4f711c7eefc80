package import NIOCore

/// A client can send refused requests cheaply, so only little of them is recorded.
extension ExchangeRecord {
    /// In bytes of the head, and of each part of the URL.
    package static let refusedHeadLimit = 512

    package mutating func abridge() {
        method = ExchangeRecord.beginning(of: method)
        url.path = ExchangeRecord.beginning(of: url.path)
        url.query = url.query.map(ExchangeRecord.beginning)
    }

    private static func beginning(of text: String) -> String {
        text.utf8.count <= refusedHeadLimit ? text : String(decoding: text.utf8.prefix(refusedHeadLimit), as: UTF8.self)
    }
}

extension ExchangeMessages {
    package mutating func abridge() {
        guard let head = requestHead, head.readableBytes > ExchangeRecord.refusedHeadLimit else { return }
        // A slice would keep the whole head in memory.
        requestHead = head.beginning(ExchangeRecord.refusedHeadLimit)
        let text =
            "refused, so the session has the first \(ExchangeRecord.refusedHeadLimit) bytes of the request's head alone"
        trace.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
    }
}

extension ByteBuffer {
    /// A copy, which does not keep the whole buffer in memory.
    package func beginning(_ count: Int) -> ByteBuffer { ByteBuffer(bytes: readableBytesView.prefix(count)) }
}

package import NIOCore

/// A request that is refused costs its client nothing, so little of it is recorded.
extension ExchangeRecord {
    /// The most that is recorded of the head of a refused request, and of each part of its URL, in bytes.
    package static let refusedHeadLimit = 512

    /// Shortens what the client may have made long.
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
    /// Keeps the request's first lines alone, and says so.
    package mutating func abridge() {
        guard let head = requestHead, head.readableBytes > ExchangeRecord.refusedHeadLimit else { return }
        // A slice would keep all of it in memory.
        requestHead = head.beginning(ExchangeRecord.refusedHeadLimit)
        let text =
            "refused, so the session has the first \(ExchangeRecord.refusedHeadLimit) bytes of the request's head alone"
        trace.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
    }
}

extension ByteBuffer {
    /// A copy of the first bytes, in memory of its own.
    package func beginning(_ count: Int) -> ByteBuffer { ByteBuffer(bytes: readableBytesView.prefix(count)) }
}

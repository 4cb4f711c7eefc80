package import Content
import Description
package import HTTPModel
import NIOCore

/// Exports exchanges as JSON with everything that the session has about them: one array, or one object per line. The
/// page `json` of the guide describes the members.
///
/// The bodies of a WebSocket are its frames; if it is masked, each message is one frame without compression.
package typealias JSONExport = EntryExport<JSONEntry>

package struct JSONEntry: ExportedEntry {
    private let exchange: RecordedExchange
    private let source: any ExchangeSource
    private let options: EntryOptions
    private let heads: ReadHeads

    package init(_ exchange: RecordedExchange, source: any ExchangeSource, options: EntryOptions) {
        self.exchange = exchange
        self.source = source
        self.options = options
        heads = ReadHeads(exchange.messages)
    }

    package func write(into writer: inout JSONWriter) throws {
        let record = exchange.record
        let messages = exchange.messages
        try writer.rowMembers(record)
        try writer.object("timings") { $0.timings(record.phases) }
        try writer.connection("client", exchange.client)
        try writer.connection("upstream", exchange.upstream)
        try writer.object("request") {
            try $0.requestHead("received", heads.request)
            try $0.requestHead("sent", messages.requestHeadSent.flatMap { StoredHead.request($0) })
            try bodies(.requestReceived, .requestSent, .requestBodyChanged, into: &$0)
            if let trailers = messages.requestTrailers { try $0.fields("trailers", StoredHead.fields(trailers)) }
        }
        try writer.object("response") {
            $0.optionalMember("interim", messages.interimHeads.map { String(buffer: $0) })
            try $0.responseHead("received", heads.response)
            if messages.responseHeadSent != nil { try $0.responseHead("sent", heads.responseSent) }
            try bodies(.responseReceived, .responseSent, .responseBodyChanged, into: &$0)
            if let trailers = messages.responseTrailers { try $0.fields("trailers", StoredHead.fields(trailers)) }
        }
        try streamed(into: &writer)
        try writer.masked(record, by: source)
        try writer.trace(messages.trace)
    }

    private func streamed(into writer: inout JSONWriter) throws {
        guard let timeline = MessageTimeline(exchange, heads, source, options, .responseReceived) else { return }
        writer.key("messages")
        try writer.array { array in
            while let message = try timeline.next() { try array.object { try $0.streamedMessage(message) } }
        }
        let remarks = timeline.remarks
        if !remarks.isEmpty { writer.member("messagesComment", remarks.joined(separator: " ")) }
    }

    private func bodies(
        _ received: BodySide,
        _ sent: BodySide,
        _ changed: ExchangeRecord.Flags,
        into writer: inout JSONWriter
    ) throws {
        if exchange.record.kind == .webSocket, source.isMasking { return try frames(received, into: &writer) }
        try body("body", received, into: &writer)
        if exchange.record.flags.contains(changed) { try body("bodySent", sent, into: &writer) }
    }

    /// Writes new frames with secrets replaced, because a search finds no secrets in recorded, compressed frames.
    private func frames(_ side: BodySide, into writer: inout JSONWriter) throws {
        // Secrets in the messages are counted when the messages are written.
        let frames = try TransferredBody(exchange, side, from: source.again)
        var size = 0
        try RecordedBody(source: source.asRecorded, id: exchange.record.id, side: side)
            .forEachPiece { size += $0.readableBytes }
        guard size > 0 else { return }
        try writer.object("body") { body in
            body.member("size", size)
            body.member("decodedSize", size)
            body.key("text")
            var left = options.bodyLimit ?? .max
            try body.base64 { write in
                try frames.forEachPiece { piece in
                    let count = min(left, piece.readableBytes)
                    left -= count
                    try piece.withUnsafeReadableBytes { try write(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
                }
            }
            body.member("encoding", "base64")
            var remarks: [String] = []
            if !frames.isAsRecorded { remarks.append("Made anew of the messages, whose secrets are replaced.") }
            if frames.size > Int64(options.bodyLimit ?? .max) {
                remarks.append("Only the beginning of \(frames.size) bytes is here.")
            }
            if !remarks.isEmpty { body.member("comment", remarks.joined(separator: " ")) }
        }
    }

    private func body(_ name: String, _ side: BodySide, into writer: inout JSONWriter) throws {
        let fields = heads.fields(of: side)
        let mediaType = heads.contentType(of: side).mediaType
        let text = try JSONBody(exchange, side, mediaType, fields, from: source, options)
        guard text.encodedSize > 0 else { return }
        try writer.object(name) {
            $0.member("size", text.encodedSize)
            $0.member("decodedSize", text.decodedSize)
            $0.key("text")
            try text.write(into: &$0)
            if text.isBase64 { $0.member("encoding", "base64") }
            $0.optionalMember("comment", text.comment)
        }
    }
}

extension JSONWriter {
    mutating func timings(_ phases: Phases) {
        let timings = phases.timings
        optionalMilliseconds("blocked", timings.blocked)
        optionalMilliseconds("dns", timings.dns)
        optionalMilliseconds("connect", timings.connect)
        optionalMilliseconds("tls", timings.tls)
        optionalMilliseconds("send", timings.send)
        optionalMilliseconds("wait", timings.wait)
        optionalMilliseconds("receive", timings.receive)
        optionalMilliseconds("deliver", phases.deliver)
        optionalMilliseconds("total", timings.total)
    }
}

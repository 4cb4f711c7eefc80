package import Content
package import HTTPModel
package import NIOCore

/// Writes one body by itself: what `sluice show --body` prints.
package enum BodyExport {
    /// Text in encodings other than UTF-8 is converted in memory, so only up to this size.
    private static let longestConversion = 8 << 20

    /// Writes a body piece by piece: `raw` as recorded, otherwise without content coding and text in UTF-8. Returns the
    /// problem that stopped the decoding; the bytes before it are written. Throws the source's or the sink's error.
    package static func write(
        _ exchange: RecordedExchange,
        side: BodySide,
        from source: any ExchangeSource,
        raw: Bool,
        sink: (ByteBuffer) throws -> Void
    ) throws -> DecodingProblem? {
        let body = RecordedBody(source: source, id: exchange.record.id, side: side)
        if raw {
            try body.forEachPiece(sink)
            return nil
        }
        let fields = exchange.messages.fields(of: side)
        let codings = fields.combinedValue(of: .contentEncoding).map { ContentCoding.list($0) } ?? []
        let mediaType = fields.value(of: .contentType).flatMap { MediaType($0) }
        if mediaType?.isTextual == true, let text = try converted(body, codings, mediaType) {
            try sink(ByteBuffer(string: text))
            return nil
        }
        return try body.forEachDecodedPiece(codings, limit: .max) { try sink(ByteBuffer(bytes: $0)) }.problem
    }

    /// The text in UTF-8; `nil` if it is UTF-8 already, or if it is longer.
    private static func converted(
        _ body: RecordedBody,
        _ codings: [ContentCoding],
        _ mediaType: MediaType?
    ) throws -> String? {
        var whole = ByteBuffer()
        let (problem, _) = try body.forEachDecodedPiece(codings, limit: longestConversion) { whole.writeBytes($0) }
        guard problem == nil || problem?.kind == .notCoded else { return nil }
        let charset = Charset.detect(in: whole, mediaType: mediaType)
        return charset == .utf8 ? nil : TextDecoder.decode(whole, as: charset).text
    }
}

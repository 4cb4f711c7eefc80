package import Content
package import HTTPModel
package import NIOCore

/// The beginning of a recorded body, without its content coding unless it is shown as on the wire.
package struct LoadedBody {
    package let fields: FieldSection
    package let mediaType: MediaType?
    package let codings: [ContentCoding]
    /// How many bytes were recorded, as far as that is known.
    package let recordedSize: Int64
    /// The bytes without content coding, up to the limit.
    package let bytes: ByteBuffer
    package let isCut: Bool
    /// What stopped the decoding, other than the limit.
    package let problem: DecodingProblem?
    package let failure: String?
    /// A remark about the bytes if they are as on the wire; `nil` if they are decoded.
    package let wireFact: String?

    package init(
        _ exchange: RecordedExchange,
        _ side: BodySide,
        source: any ExchangeSource,
        limit: Int,
        isWire: Bool = false
    ) {
        fields = exchange.messages.fields(of: side)
        mediaType = fields.value(of: .contentType).flatMap { MediaType($0) }
        // A content coding in the head does not apply to the bytes of a WebSocket or a tunnel.
        let isCoded = exchange.record.kind == .http && !source.isMasking
        let named = isCoded ? ContentCoding.list(fields.combinedValue(of: .contentEncoding)) : []
        codings = isWire ? [] : named
        let names = named.isEmpty ? "no content coding" : "still \(named.map(\.description).joined(separator: ", "))"
        wireFact = isWire ? "as on the wire: \(names)" : nil
        var recorded = ByteBuffer()
        var failure: String?
        let limit = max(1, limit)
        do {
            // One byte more than the limit shows whether the body is longer.
            try RecordedBody(source: source, id: exchange.record.id, side: side).read(limit + 1, into: &recorded)
        } catch {
            failure = "\(error)"
        }
        self.failure = failure
        let isLonger = recorded.readableBytes > limit
        let sizes = exchange.record.sizes
        let known = side == .requestReceived ? sizes.requestBody : side == .responseReceived ? sizes.responseBody : 0
        recordedSize = max(known, Int64(recorded.readableBytes - (isLonger ? 1 : 0)))
        let looked = recorded.getSlice(at: recorded.readerIndex, length: min(limit, recorded.readableBytes))
        let decoded = DecodedContent.shown(looked ?? ByteBuffer(), codings: codings, limit: limit)
        bytes = decoded.bytes
        isCut = isLonger || decoded.stoppedAtLimit
        let isExpected = decoded.stoppedAtLimit || (isLonger && decoded.problem?.kind == .truncated)
        problem = isExpected ? nil : decoded.problem
    }

    package init(part: MultipartPart, isCut: Bool) {
        let type = part.mediaType ?? MediaType(type: "text", subtype: "plain")
        self.init(bytes: part.content, mediaType: type, fields: part.fields, isCut: isCut)
    }

    package init(bytes: ByteBuffer, mediaType: MediaType?, fields: FieldSection = FieldSection(), isCut: Bool = false) {
        self.fields = fields
        self.mediaType = mediaType
        self.bytes = bytes
        self.isCut = isCut
        recordedSize = Int64(bytes.readableBytes)
        (codings, problem, failure, wireFact) = ([], nil, nil, nil)
    }

    package var isEmpty: Bool { recordedSize == 0 && bytes.readableBytes == 0 }

    package var text: (text: String, notes: [String])? {
        let type = fields.value(of: .contentType) ?? mediaType?.description
        let preview = BodyPreview(bytes, contentType: type)
        guard problem?.kind != .unknownCoding, case .text(let text, let charset) = preview.content else { return nil }
        return (text, (charset == .utf8 ? [] : [charset.description]) + preview.notes)
    }

    /// What kind of bytes these are, in a few words, for example `PNG image`.
    package var binaryDescription: String {
        let preview = BodyPreview(bytes, contentType: mediaType?.description)
        if case .binary(let description) = preview.content { return description }
        return mediaType.map { "\($0.essence) data" } ?? "binary data"
    }

    /// Type, sizes and coding.
    package var facts: [String] {
        [mediaType?.essence, Measures.size(recordedSize), wireFact ?? decodedFact].compactMap(\.self)
    }

    /// What the content coding saved: `45.0 KB decoded from gzip, 27 % on the wire`; no numbers if only partly decoded.
    package var decodedFact: String? {
        guard !codings.isEmpty else { return nil }
        let names = codings.map(\.description).joined(separator: ", ")
        guard !isCut, problem == nil, bytes.readableBytes > 0 else { return names }
        let percent = recordedSize * 100 / Int64(bytes.readableBytes)
        return "\(Measures.size(Int64(bytes.readableBytes))) decoded from \(names), \(percent) % on the wire"
    }
}

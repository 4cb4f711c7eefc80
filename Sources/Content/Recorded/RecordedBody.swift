package import HTTPModel
package import NIOCore

/// One body of a recorded exchange, read in pieces.
package struct RecordedBody {
    private static let pieceSize = 256 * 1024

    package let source: any ExchangeSource
    package let id: ExchangeID
    package let side: BodySide

    package init(source: any ExchangeSource, id: ExchangeID, side: BodySide) {
        (self.source, self.id, self.side) = (source, id, side)
    }

    /// The body of a request to send again: as recorded if it has a content coding and no secret.
    package static func toRepeat(
        _ exchange: RecordedExchange,
        _ head: RequestHead,
        _ source: any ExchangeSource
    ) throws -> RecordedBody {
        let body = RecordedBody(source: source, id: exchange.record.id, side: .requestReceived)
        guard source.isMasking, head.fields.contains(.contentEncoding),
            try source.isUnchanged(body.id, side: body.side)
        else { return body }
        return RecordedBody(source: source.asRecorded, id: body.id, side: body.side)
    }

    package var forFile: RecordedBody { RecordedBody(source: source.forFiles, id: id, side: side) }

    /// Whether secrets in the request's body were replaced; known once the body was read.
    package func isMasked(_ record: ExchangeRecord) -> Bool {
        source.isMasking && source.maskedParts(of: record).contains("request body")
    }

    /// How masking changes a body with a content coding, in a sentence; `nil` if it does not.
    package func remark(onCoding coding: String?, isEmpty: Bool) throws -> String? {
        guard source.isMasking, let coding else { return nil }
        if !isEmpty { return "the body is sent without its Content-Encoding, \(coding), as it is masked" }
        return try self.isEmpty ? nil : "the body is left out, as it cannot be decoded to look for secrets"
    }

    package var isEmpty: Bool {
        get throws {
            // Reads the recorded body, because a masked body that cannot be decoded is empty.
            try source.asRecorded.body(of: id, side: side, offset: 0, limit: RecordedBody.pieceSize).readableBytes == 0
        }
    }

    package func forEachPiece(_ body: (ByteBuffer) throws -> Void) throws {
        var offset: Int64 = 0
        while true {
            let piece = try source.body(of: id, side: side, offset: offset, limit: RecordedBody.pieceSize)
            guard piece.readableBytes > 0 else { return }
            try body(piece)
            offset += Int64(piece.readableBytes)
        }
    }

    /// Calls `body` with the decoded bytes, piece by piece, at most `limit` of them; if nothing can be decoded, with
    /// the recorded bytes. Returns why decoding stopped, and how many bytes the source returned.
    package func forEachDecodedPiece(
        _ codings: [ContentCoding],
        limit: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> (problem: DecodingProblem?, size: Int) {
        var size = 0
        let decoder = ContentDecoder(codings: source.isMasking ? [] : codings, limit: limit)
        var decoded = 0
        var beginning: ByteBuffer?
        try forEachPiece { piece in
            size += piece.readableBytes
            beginning = beginning ?? piece
            try decoder.decode(piece) {
                decoded += $0.count
                try body($0)
            }
        }
        decoder.finish()
        if source.isMasking { return (source.problem(of: id, side: side) ?? decoder.problem, size) }
        guard let problem = decoder.problem, let beginning, problem.isAtBeginning(decoded: decoded, beginning) else {
            return (decoder.problem, size)
        }
        let plain = ContentDecoder(codings: [], limit: limit)
        try forEachPiece { try plain.decode($0, forEachPiece: body) }
        return (problem.givenAsReceived, size)
    }

    /// Reads at most `limit` bytes from the beginning, undecoded. After an error, `whole` has the bytes before it.
    package func read(_ limit: Int, into whole: inout ByteBuffer) throws {
        while whole.readableBytes < limit {
            let wanted = min(limit - whole.readableBytes, RecordedBody.pieceSize)
            var piece = try source.body(of: id, side: side, offset: Int64(whole.readableBytes), limit: wanted)
            guard piece.readableBytes > 0 else { return }
            whole.writeBuffer(&piece)
        }
    }
}

import Content
import HTTPModel
import Masking
import NIOCore

/// One body of a recorded exchange, read in pieces.
struct RecordedBody {
    private static let pieceSize = 256 * 1024

    let source: any ExchangeSource
    let id: ExchangeID
    let side: BodySide

    /// The source that gives bodies with their secrets replaced, without their content coding.
    var masked: MaskedSource? { source as? MaskedSource }

    var isEmpty: Bool {
        get throws { try source.body(of: id, side: side, offset: 0, limit: RecordedBody.pieceSize).readableBytes == 0 }
    }

    /// Calls `body` with the recorded bytes, piece by piece.
    func forEachPiece(_ body: (ByteBuffer) throws -> Void) throws {
        var offset: Int64 = 0
        while true {
            let piece = try source.body(of: id, side: side, offset: offset, limit: RecordedBody.pieceSize)
            guard piece.readableBytes > 0 else { return }
            try body(piece)
            offset += Int64(piece.readableBytes)
        }
    }

    /// Calls `body` with the bytes without content coding, piece by piece, at most `limit` of them. Returns what
    /// stopped the decoding, if anything did.
    func forEachDecodedPiece(
        _ codings: [ContentCoding],
        limit: Int,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> DecodingProblem? {
        var size = 0
        return try forEachDecodedPiece(codings, limit: limit, size: &size, body)
    }

    /// The same; `size` grows by the length of the body as recorded.
    func forEachDecodedPiece(
        _ codings: [ContentCoding],
        limit: Int,
        size: inout Int,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> DecodingProblem? {
        let decoder = ContentDecoder(codings: masked == nil ? codings : [], limit: limit)
        try forEachPiece { piece in
            size += piece.readableBytes
            try decoder.decode(piece, forEachPiece: body)
        }
        decoder.finish()
        return masked?.problem(of: id, side: side) ?? decoder.problem
    }

    /// Reads at most `limit` bytes from the beginning, as recorded; what was read before an error is there.
    func read(_ limit: Int, into whole: inout ByteBuffer) throws {
        while whole.readableBytes < limit {
            let wanted = min(limit - whole.readableBytes, RecordedBody.pieceSize)
            var piece = try source.body(of: id, side: side, offset: Int64(whole.readableBytes), limit: wanted)
            guard piece.readableBytes > 0 else { return }
            whole.writeBuffer(&piece)
        }
    }
}

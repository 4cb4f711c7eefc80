package import NIOCore

/// Bodies without the content coding that their head names, as some servers and tests send them: shown unchanged.
extension DecodingProblem {
    /// How many first bytes of a body show whether it really has its content coding.
    package static let tellingBytes = 4_096

    /// Whether decoding failed at the beginning, without output. A short text without coding looks like truncated data.
    package func isAtBeginning(decoded: Int, _ beginning: ByteBuffer) -> Bool {
        guard decoded == 0 else { return false }
        switch kind {
        case .corrupt: return true
        case .truncated: return TextDecoder.isText(beginning)
        case .trailingData, .stoppedAtLimit, .unknownCoding, .notCoded: return false
        }
    }

    /// Whether a body can be read without decoding: it is text or a file of a known kind, but not compressed.
    package static func isPlain(_ beginning: ByteBuffer) -> Bool {
        let packed: [[UInt8]] = [[0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD]]
        if packed.contains(where: { beginning.readableBytesView.starts(with: $0) }) { return false }
        return TextDecoder.isText(beginning) || BinaryKind.isKnown(beginning)
    }

    package var givenAsReceived: DecodingProblem {
        DecodingProblem(kind: .notCoded, coding: coding, offset: offset, message: message)
    }
}

extension DecodedContent {
    /// Decodes a whole body for display; returns the body unchanged if nothing can be decoded.
    package static func shown(_ bytes: ByteBuffer, codings: [ContentCoding], limit: Int) -> DecodedContent {
        let decoded = ContentDecoder.decode(bytes, codings: codings, limit: limit)
        // A text with an unknown coding never had this coding, or lost it before it was recorded.
        let isText = decoded.problem?.kind == .unknownCoding && TextDecoder.isText(bytes)
        guard let problem = decoded.problem,
            isText || problem.isAtBeginning(decoded: decoded.bytes.readableBytes, bytes)
        else { return decoded }
        let shown = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, max(limit, 0)))
        return DecodedContent(bytes: shown ?? ByteBuffer(), problem: problem.givenAsReceived)
    }
}

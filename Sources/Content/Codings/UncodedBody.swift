package import NIOCore

/// Bodies without the content coding that their head names, as some servers and tests send them: shown unchanged.
extension DecodingProblem {
    /// How many of the first bytes of a body tell whether it has its coding.
    package static let tellingBytes = 4_096

    /// Whether a decoding that gave `decoded` bytes ended at its beginning. Short texts may end a coding too early.
    package func isAtBeginning(decoded: Int, _ beginning: ByteBuffer) -> Bool {
        guard decoded == 0 else { return false }
        switch kind {
        case .corrupt: return true
        case .truncated: return TextDecoder.isText(beginning)
        case .trailingData, .stoppedAtLimit, .unknownCoding, .notCoded: return false
        }
    }

    /// Whether such a body can be read as it came: it is text, or a file of a known kind, and not one that is packed.
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
    /// Decodes a whole body to be shown; one of which nothing can be decoded is returned unchanged.
    package static func shown(_ bytes: ByteBuffer, codings: [ContentCoding], limit: Int) -> DecodedContent {
        let decoded = ContentDecoder.decode(bytes, codings: codings, limit: limit)
        // Text under the name of a coding that nobody knows never had it, or lost it before it was recorded.
        let isText = decoded.problem?.kind == .unknownCoding && TextDecoder.isText(bytes)
        guard let problem = decoded.problem,
            isText || problem.isAtBeginning(decoded: decoded.bytes.readableBytes, bytes)
        else { return decoded }
        let shown = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, max(limit, 0)))
        return DecodedContent(bytes: shown ?? ByteBuffer(), problem: problem.givenAsReceived)
    }
}

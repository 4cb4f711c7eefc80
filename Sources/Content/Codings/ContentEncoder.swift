import CBrotli
package import NIOCore

package struct EncodingError: Error, Hashable, CustomStringConvertible {
    package var coding: ContentCoding
    package var description: String
}

/// Applies content codings to a whole body, such as an edited one, at levels that favour speed over size.
package enum ContentEncoder {
    private static let brotliQuality: Int32 = 5

    /// Applies one coding; throws `EncodingError` if the coding is unknown or the library fails.
    package static func encode(_ bytes: ByteBuffer, coding: ContentCoding) throws -> ByteBuffer {
        switch coding {
        case .identity: bytes
        case .gzip, .deflate, .zstd: try stream(bytes, coding: coding)
        case .brotli: try brotli(bytes)
        case .other(let token):
            throw EncodingError(coding: coding, description: "the content coding '\(token)' is unknown")
        }
    }

    /// Applies codings in this order; also throws if there are more than ``ContentDecoder`` can decode.
    package static func encode(_ bytes: ByteBuffer, codings: [ContentCoding]) throws -> ByteBuffer {
        let codings = codings.filter { $0 != .identity }
        if codings.count > ContentDecoder.mostCodings, let last = codings.last {
            let message = "\(codings.count) content codings are more than the \(ContentDecoder.mostCodings) allowed"
            throw EncodingError(coding: last, description: message)
        }
        return try codings.reduce(bytes) { try encode($0, coding: $1) }
    }

    private static func stream(_ bytes: ByteBuffer, coding: ContentCoding) throws -> ByteBuffer {
        guard let coded = StreamEncoder(coding)?.encode(bytes, isLast: true) else {
            throw EncodingError(coding: coding, description: "the bytes cannot be encoded")
        }
        return coded
    }

    private static func brotli(_ bytes: ByteBuffer) throws -> ByteBuffer {
        // The bound is 0 for sizes it cannot compute.
        let capacity = max(BrotliEncoderMaxCompressedSize(bytes.readableBytes), bytes.readableBytes + 1024)
        var coded = ByteBuffer()
        var isDone = false
        coded.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { target in
            var count = target.count
            isDone = bytes.withUnsafeReadableBytes { source in
                let input = source.assumingMemoryBound(to: UInt8.self).baseAddress
                let output = target.assumingMemoryBound(to: UInt8.self).baseAddress
                let mode = BROTLI_MODE_GENERIC
                return BrotliEncoderCompress(brotliQuality, 22, mode, source.count, input, &count, output)
                    == BROTLI_TRUE
            }
            return isDone ? count : 0
        }
        guard isDone else { throw EncodingError(coding: .brotli, description: "the bytes cannot be encoded") }
        return coded
    }
}

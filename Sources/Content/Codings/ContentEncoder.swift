import CBrotli
import CZlib
import CZstd
package import NIOCore

package struct EncodingError: Error, Hashable, CustomStringConvertible {
    package var coding: ContentCoding
    package var description: String
}

/// Applies content codings to a whole body, such as an edited one, at levels that favour speed over size.
package enum ContentEncoder {
    private static let gzipLevel: Int32 = 6
    private static let brotliQuality: Int32 = 5
    private static let zstdLevel: Int32 = 3

    /// Applies one coding; throws `EncodingError` if the coding is unknown or the library fails.
    package static func encode(_ bytes: ByteBuffer, coding: ContentCoding) throws -> ByteBuffer {
        switch coding {
        case .identity: bytes
        case .gzip: try zlib(bytes, coding: coding, windowBits: 31)
        case .deflate: try zlib(bytes, coding: coding, windowBits: 15)
        case .brotli: try brotli(bytes)
        case .zstd: try zstd(bytes)
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

    private static func zlib(_ bytes: ByteBuffer, coding: ContentCoding, windowBits: Int32) throws -> ByteBuffer {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<z_stream>.size)
        let plan = Z_DEFAULT_STRATEGY
        let started = deflateInit2_(stream, gzipLevel, Z_DEFLATED, windowBits, 8, plan, ZLIB_VERSION, size)
        guard started == Z_OK, bytes.readableBytes <= Int(UInt32.max) else {
            throw EncodingError(coding: coding, description: "zlib cannot start")
        }
        defer { deflateEnd(stream) }
        // Plus 18 bytes for gzip's header and trailer, which some versions of zlib do not include in the bound.
        let capacity = Int(deflateBound(stream, UInt(bytes.readableBytes))) + 18
        return try fill(capacity, bytes, coding) { source, target in
            let input = source.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input)
            stream.pointee.avail_in = UInt32(source.count)
            stream.pointee.next_out = target.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(clamping: target.count)
            return deflate(stream, Z_FINISH) == Z_STREAM_END ? Int(stream.pointee.total_out) : nil
        }
    }

    private static func brotli(_ bytes: ByteBuffer) throws -> ByteBuffer {
        // The bound is 0 for sizes it cannot compute.
        let capacity = max(BrotliEncoderMaxCompressedSize(bytes.readableBytes), bytes.readableBytes + 1024)
        return try fill(capacity, bytes, .brotli) { source, target in
            var count = target.count
            let input = source.assumingMemoryBound(to: UInt8.self).baseAddress
            let output = target.assumingMemoryBound(to: UInt8.self).baseAddress
            let mode = BROTLI_MODE_GENERIC
            let done = BrotliEncoderCompress(brotliQuality, 22, mode, source.count, input, &count, output)
            return done == BROTLI_TRUE ? count : nil
        }
    }

    private static func zstd(_ bytes: ByteBuffer) throws -> ByteBuffer {
        try fill(ZSTD_compressBound(bytes.readableBytes), bytes, .zstd) { source, target in
            let count = ZSTD_compress(target.baseAddress, target.count, source.baseAddress, source.count, zstdLevel)
            return ZSTD_isError(count) == 0 ? count : nil
        }
    }

    private static func fill(
        _ capacity: Int,
        _ bytes: ByteBuffer,
        _ coding: ContentCoding,
        _ encode: (_ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer) -> Int?
    ) throws -> ByteBuffer {
        var output = ByteBuffer()
        var succeeded = false
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: capacity) { target in
            let written = bytes.withUnsafeReadableBytes { encode($0, target) }
            succeeded = written != nil
            return written ?? 0
        }
        guard succeeded else { throw EncodingError(coding: coding, description: "the bytes cannot be encoded") }
        return output
    }
}

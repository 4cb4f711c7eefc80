import CZlib
import CZstd
package import NIOCore

/// Applies gzip, deflate or Zstandard to bytes that come in pieces, at levels that favour speed over size.
package final class StreamEncoder {
    private enum Library {
        case zlib(UnsafeMutablePointer<z_stream>)
        case zstd(OpaquePointer)
    }

    private static let gzipLevel: Int32 = 6
    private static let zstdLevel: Int32 = 3
    private static let outputStep = 64 << 10

    private let library: Library

    /// Returns `nil` for other codings, and if the library cannot start.
    package init?(_ coding: ContentCoding) {
        switch coding {
        case .gzip, .deflate:
            // 16 more than the largest window means gzip's frame in place of zlib's.
            let windowBits: Int32 = coding == .gzip ? 31 : 15
            let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
            stream.initialize(to: z_stream())
            let size = Int32(MemoryLayout<z_stream>.size)
            let plan = Z_DEFAULT_STRATEGY
            let level = StreamEncoder.gzipLevel
            guard deflateInit2_(stream, level, Z_DEFLATED, windowBits, 8, plan, ZLIB_VERSION, size) == Z_OK else {
                stream.deallocate()
                return nil
            }
            library = .zlib(stream)
        case .zstd:
            guard let stream = ZSTD_createCStream() else { return nil }
            ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, StreamEncoder.zstdLevel)
            library = .zstd(stream)
        case .identity, .brotli, .other: return nil
        }
    }

    deinit {
        switch library {
        case .zlib(let stream):
            deflateEnd(stream)
            stream.deallocate()
        case .zstd(let stream): ZSTD_freeCStream(stream)
        }
    }

    /// Returns the coded bytes that are ready, perhaps none; with `isLast` all that remain. Returns `nil` if the library
    /// fails.
    package func encode(_ piece: ByteBuffer, isLast: Bool) -> ByteBuffer? {
        var output = ByteBuffer()
        var isDone = false
        let consumed = piece.withUnsafeReadableBytes { bytes -> Int? in
            var offset = 0
            repeat {
                var taken: Int?
                output.writeWithUnsafeMutableBytes(minimumWritableBytes: StreamEncoder.outputStep) { target in
                    let step = step(UnsafeRawBufferPointer(rebasing: bytes[offset...]), into: target, isLast: isLast)
                    taken = step?.taken
                    isDone = step?.isDone ?? true
                    return step?.produced ?? 0
                }
                guard let taken else { return nil }
                offset += taken
            } while !isDone
            return offset
        }
        return consumed == piece.readableBytes ? output : nil
    }

    /// One call of the library; `isDone` if it has taken all and has no more to give now.
    private func step(
        _ source: UnsafeRawBufferPointer,
        into target: UnsafeMutableRawBufferPointer,
        isLast: Bool
    ) -> (taken: Int, produced: Int, isDone: Bool)? {
        switch library {
        case .zlib(let stream):
            let input = source.assumingMemoryBound(to: UInt8.self).baseAddress
            let available = UInt32(clamping: source.count)
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input)
            stream.pointee.avail_in = available
            stream.pointee.next_out = target.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(clamping: target.count)
            let finishes = isLast && Int(available) == source.count
            let result = deflate(stream, finishes ? Z_FINISH : Z_NO_FLUSH)
            // Z_BUF_ERROR says that there was nothing to do.
            guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(result) else { return nil }
            let taken = Int(available - stream.pointee.avail_in)
            let produced = target.count - Int(stream.pointee.avail_out)
            let isDone = isLast ? result == Z_STREAM_END : taken == source.count && stream.pointee.avail_out > 0
            return (taken, produced, isDone)
        case .zstd(let stream):
            var input = ZSTD_inBuffer(src: source.baseAddress, size: source.count, pos: 0)
            var output = ZSTD_outBuffer(dst: target.baseAddress, size: target.count, pos: 0)
            let left = ZSTD_compressStream2(stream, &output, &input, isLast ? ZSTD_e_end : ZSTD_e_continue)
            guard ZSTD_isError(left) == 0 else { return nil }
            let isDone = isLast ? left == 0 : input.pos == input.size && output.pos < output.size
            return (input.pos, output.pos, isDone)
        }
    }
}

import CZstd

/// Decodes consecutive Zstandard frames.
final class ZstdDecoder: CodingDecoder {
    /// RFC 9659 §3 limits the window of a content coding to 8 MiB, which bounds the memory that decoding takes.
    private static let largestWindowLog: Int32 = 23

    private let stream: OpaquePointer?

    init() {
        stream = ZSTD_createDStream()
        if let stream { ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, ZstdDecoder.largestWindowLog) }
    }

    deinit {
        if let stream { ZSTD_freeDStream(stream) }
    }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        guard let stream else { return DecoderStep(consumed: 0, produced: 0, status: .failed("zstd cannot start")) }
        var source = ZSTD_inBuffer(src: input.baseAddress, size: min(input.count, longestStep), pos: 0)
        var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
        let result = ZSTD_decompressStream(stream, &target, &source)
        let status: DecoderStep.Status
        if ZSTD_isError(result) != 0 {
            status = .failed(ZSTD_getErrorName(result).map { String(cString: $0) } ?? "the data is corrupt")
        } else if result == 0 {
            status = .ended
        } else {
            status = target.pos == target.size ? .outputFull : .needsInput
        }
        return DecoderStep(consumed: source.pos, produced: target.pos, status: status)
    }

    func beginNextMember() -> Bool {
        guard let stream else { return false }
        return ZSTD_isError(ZSTD_DCtx_reset(stream, ZSTD_reset_session_only)) == 0
    }

    /// A frame, also a skippable one (RFC 8878 §3.1).
    func isBeginning(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 4 else { return false }
        return bytes == [0x28, 0xB5, 0x2F, 0xFD] || bytes[0] & 0xF0 == 0x50 && bytes[1...] == [0x2A, 0x4D, 0x18]
    }
}

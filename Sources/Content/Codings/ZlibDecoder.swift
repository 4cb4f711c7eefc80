import CZlib

/// Decodes gzip and both variants of deflate.
final class ZlibDecoder: CodingDecoder {
    enum Format: Int32 {
        case gzip = 31
        case zlib = 15
        case raw = -15
    }

    /// zlib stores this address, so the stream must not move.
    let stream: UnsafeMutablePointer<z_stream>
    private var format: Format
    let isReady: Bool

    init(_ format: Format) {
        self.format = format
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        isReady = inflateInit2_(stream, format.rawValue, ZLIB_VERSION, size) == Z_OK
    }

    deinit {
        if isReady { inflateEnd(stream) }
        stream.deallocate()
    }

    func step(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> DecoderStep {
        guard isReady else { return DecoderStep(consumed: 0, produced: 0, status: .failed("zlib cannot start")) }
        let inputCount = min(input.count, Int(UInt32.max))
        let outputCount = min(output.count, Int(UInt32.max))
        // zlib only reads through next_in; the C declaration is older than `const`.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.assumingMemoryBound(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(inputCount)
        stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(outputCount)
        let code = inflate(stream, Z_NO_FLUSH)
        let consumed = inputCount - Int(stream.pointee.avail_in)
        let produced = outputCount - Int(stream.pointee.avail_out)
        let status: DecoderStep.Status =
            switch code {
            case Z_STREAM_END: .ended
            case Z_OK, Z_BUF_ERROR: stream.pointee.avail_out == 0 ? .outputFull : .needsInput
            case Z_NEED_DICT: .failed("a preset dictionary is needed")
            default: .failed(stream.pointee.msg.map { String(cString: $0) } ?? "the data is corrupt")
            }
        return DecoderStep(consumed: consumed, produced: produced, status: status)
    }

    func beginNextMember() -> Bool { format == .gzip && inflateReset(stream) == Z_OK }

    func isBeginning(_ bytes: [UInt8]) -> Bool { format == .gzip && bytes.starts(with: [0x1F, 0x8B]) }

    /// Servers that read `deflate` as RFC 1951 send no zlib header.
    func beginFallback() -> Bool {
        guard format == .zlib else { return false }
        format = .raw
        return inflateReset2(stream, format.rawValue) == Z_OK
    }
}

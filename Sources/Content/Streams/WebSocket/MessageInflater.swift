import CZlib

/// Undoes the compression of the messages of one direction of a WebSocket (RFC 7692 §7.2.2). The window is zlib's
/// largest whatever was agreed on, as that reads every smaller one too.
final class MessageInflater {
    /// How much may come out of a stream: this, and this many times what went in. A bomb is stopped soon, and no
    /// traffic that is worth compressing gets near it.
    private static let freeOutput: Int64 = 64 << 20
    private static let highestRatio: Int64 = 100
    private static let windowSize = 32 * 1024
    private static let pieceSize = 64 * 1024

    /// zlib remembers the address of its stream, so that must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let isReady: Bool
    private let resetsContext: Bool
    private var piece = [UInt8](repeating: 0, count: MessageInflater.pieceSize)
    private var consumed: Int64 = 0
    private var produced: Int64 = 0
    /// Whether no byte was decompressed since the message began or since its last final block.
    private var isFresh = true
    /// Why the messages cannot be decompressed any more; `nil` while they can.
    private var failure: String?

    /// `resetsContext`: each message is compressed by itself (`…_no_context_takeover`).
    init(resetsContext: Bool) {
        self.resetsContext = resetsContext
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        isReady = inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
        if !isReady { failure = "zlib cannot start" }
    }

    deinit {
        if isReady { inflateEnd(stream) }
        stream.deallocate()
    }

    /// Prepares for a message; returns why it cannot be decompressed.
    func begin() -> String? {
        isFresh = true
        guard isReady else { return failure }
        if resetsContext {
            failure = nil
            inflateReset(stream)
        }
        return failure.map { _ in "not decompressed, as an earlier message could not be" }
    }

    /// Decompresses the next bytes of a message and returns what failed with them. After a failure the bytes of all
    /// messages up to a reset are ignored.
    func feed(_ bytes: UnsafeRawBufferPointer, _ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        guard failure == nil, !bytes.isEmpty else { return nil }
        consumed += Int64(bytes.count)
        failure = inflateAll(bytes, forward)
        return failure
    }

    /// Ends a message: gives the decompressor the empty block that the sender left out. Returns what is wrong with it.
    func end(_ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        guard failure == nil, !isFresh else { return nil }
        let emptyBlock: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        failure = emptyBlock.withUnsafeBytes { inflateAll($0, forward) }
        // zlib sets this bit where the next byte would begin a block.
        if failure == nil, !isFresh, stream.pointee.data_type & 128 == 0 {
            failure = "the compressed data ends too early"
        }
        return failure
    }

    private func inflateAll(_ bytes: UnsafeRawBufferPointer, _ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        var rest = bytes
        while true {
            let (code, taken, given) = step(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(taken))
            if taken > 0 { isFresh = false }
            produced += Int64(given)
            if given > 0 { piece.withUnsafeBytes { forward(UnsafeRawBufferPointer(rebasing: $0.prefix(given))) } }
            switch code {
            case Z_STREAM_END:
                // Setting the window again has its cost too, so that it counts as output.
                produced += Int64(MessageInflater.windowSize)
                guard keepWindow() else { return "zlib cannot go on after a final block" }
                isFresh = true
                if rest.isEmpty { return tooMuch }
            case Z_OK, Z_BUF_ERROR:
                if rest.isEmpty, given < MessageInflater.pieceSize { return tooMuch }
                // A decompressor that neither takes nor gives would go round for ever.
                if taken == 0, given == 0 { return "the compressed data is corrupt" }
            default:
                return stream.pointee.msg.map { String(cString: $0) } ?? "the compressed data is corrupt"
            }
            if let tooMuch { return tooMuch }
        }
    }

    private var tooMuch: String? {
        let limit = MessageInflater.freeOutput + MessageInflater.highestRatio * consumed
        return produced > limit ? "\(consumed) compressed bytes stand for more than \(limit)" : nil
    }

    private func step(_ input: UnsafeRawBufferPointer) -> (code: Int32, taken: Int, given: Int) {
        piece.withUnsafeMutableBytes { output in
            let inputCount = min(input.count, Int(UInt32.max))
            // zlib only reads through next_in; the C declaration is older than `const`.
            let source = input.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.next_in = UnsafeMutablePointer(mutating: source)
            stream.pointee.avail_in = UInt32(inputCount)
            stream.pointee.next_out = output.assumingMemoryBound(to: UInt8.self).baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let code = inflate(stream, Z_NO_FLUSH)
            return (code, inputCount - Int(stream.pointee.avail_in), output.count - Int(stream.pointee.avail_out))
        }
    }

    /// Begins another DEFLATE stream with the window of the one before: a final block ends the stream for zlib, but
    /// not the context of a WebSocket (RFC 7692 §7.2.3.4).
    private func keepWindow() -> Bool {
        var window = [UInt8](repeating: 0, count: MessageInflater.windowSize)
        var length: UInt32 = 0
        guard inflateGetDictionary(stream, &window, &length) == Z_OK, inflateReset(stream) == Z_OK else { return false }
        return length == 0 || inflateSetDictionary(stream, window, length) == Z_OK
    }
}

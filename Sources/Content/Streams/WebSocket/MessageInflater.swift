import CZlib

/// Decompresses one direction of a WebSocket (RFC 7692 §7.2.2) with the largest window, which also fits smaller ones.
final class MessageInflater {
    /// The output limit: this many bytes plus `highestRatio` times the input. Real traffic stays far below.
    private static let freeOutput: Int64 = 64 << 20
    private static let highestRatio: Int64 = 100
    private static let windowSize = 32 * 1024
    private static let pieceSize = 64 * 1024

    private let decoder = ZlibDecoder(.raw)
    private let resetsContext: Bool
    private var piece = [UInt8](repeating: 0, count: MessageInflater.pieceSize)
    private var consumed: Int64 = 0
    private var produced: Int64 = 0
    /// Whether no byte was decompressed since the message began or since its last final block.
    private var isFresh = true
    /// Why the messages cannot be decompressed any more; `nil` while they can.
    private var failure: String?

    /// `resetsContext`: each message is compressed separately (`…_no_context_takeover`).
    init(resetsContext: Bool) {
        self.resetsContext = resetsContext
        if !decoder.isReady { failure = "zlib cannot start" }
    }

    /// Prepares for a message; returns why it cannot be decompressed, or `nil`.
    func begin() -> String? {
        isFresh = true
        guard decoder.isReady else { return failure }
        if resetsContext {
            failure = nil
            inflateReset(decoder.stream)
        }
        return failure.map { _ in "not decompressed, as an earlier message could not be" }
    }

    /// Returns the error, if any. After an error, the bytes of all messages are ignored until a reset.
    func feed(_ bytes: UnsafeRawBufferPointer, _ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        guard failure == nil, !bytes.isEmpty else { return nil }
        consumed += Int64(bytes.count)
        failure = inflateAll(bytes, forward)
        return failure
    }

    /// Ends a message: adds the empty block that the sender left out (RFC 7692 §7.2.1). Returns the error, if any.
    func end(_ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        guard failure == nil, !isFresh else { return nil }
        let emptyBlock: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]
        failure = emptyBlock.withUnsafeBytes { inflateAll($0, forward) }
        // zlib sets this bit if the next byte begins a block.
        if failure == nil, !isFresh, decoder.stream.pointee.data_type & 128 == 0 {
            failure = "the compressed data ends too early"
        }
        return failure
    }

    private func inflateAll(_ bytes: UnsafeRawBufferPointer, _ forward: (UnsafeRawBufferPointer) -> Void) -> String? {
        var rest = bytes
        while true {
            let step = piece.withUnsafeMutableBytes { decoder.step(rest, into: $0) }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(step.consumed))
            if step.consumed > 0 { isFresh = false }
            produced += Int64(step.produced)
            piece.withUnsafeBytes {
                if step.produced > 0 { forward(UnsafeRawBufferPointer(rebasing: $0[..<step.produced])) }
            }
            switch step.status {
            case .ended:
                // Restoring the window costs time, so its size counts as output.
                produced += Int64(MessageInflater.windowSize)
                guard keepWindow() else { return "zlib cannot go on after a final block" }
                isFresh = true
                if rest.isEmpty { return tooMuch }
            case .needsInput, .outputFull:
                if rest.isEmpty, step.produced < MessageInflater.pieceSize { return tooMuch }
                // A decompressor that neither reads nor writes would loop forever.
                if step.consumed == 0, step.produced == 0 { return "the compressed data is corrupt" }
            case .failed(let reason): return reason
            }
            if let tooMuch { return tooMuch }
        }
    }

    private var tooMuch: String? {
        let limit = MessageInflater.freeOutput + MessageInflater.highestRatio * consumed
        return produced > limit ? "\(consumed) compressed bytes stand for more than \(limit)" : nil
    }

    /// Continues with the same window: a final block ends zlib's stream, but not a WebSocket's (RFC 7692 §7.2.3.4).
    private func keepWindow() -> Bool {
        var window = [UInt8](repeating: 0, count: MessageInflater.windowSize)
        var length: UInt32 = 0
        guard inflateGetDictionary(decoder.stream, &window, &length) == Z_OK, inflateReset(decoder.stream) == Z_OK
        else { return false }
        return length == 0 || inflateSetDictionary(decoder.stream, window, length) == Z_OK
    }
}

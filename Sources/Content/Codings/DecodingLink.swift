import NIOCore

/// One decoder in a chain of codings, with its offsets, members and limits. Its output is in pieces of at most 64 KiB.
final class DecodingLink {
    /// Enough bytes to recognise the beginning of a gzip member or zstd frame.
    private static let shortestMember = 10
    private static let pieceSize = 64 * 1024
    /// A zlib header has two bytes. A decoder that read more has accepted them as a header.
    private static let longestReplay = 2
    private static let longestBeginning = 4
    /// A compressed stream does not begin with so many printable characters.
    private static let shortestText = 24
    private static let tellingText = 64

    private enum State {
        case reading
        /// A member has ended; another may follow.
        case betweenMembers
        case done
    }

    private let coding: ContentCoding
    private let decoder: any CodingDecoder
    private let limit: Int
    private let growth: DecodedGrowth?
    private var state = State.reading
    private var consumed = 0
    private var produced = 0
    private var memberStart = 0
    private var memberProduced = 0
    /// The first bytes after a member.
    private var beginning: [UInt8] = []
    /// The bytes read before the first output, kept while the decoder may have to start over.
    private var replay: [UInt8]?
    private var piece = [UInt8](repeating: 0, count: DecodingLink.pieceSize)

    private(set) var problem: DecodingProblem?

    /// `nil` if the coding cannot be decoded.
    init?(_ coding: ContentCoding, limit: Int, growth: DecodedGrowth? = nil) {
        switch coding {
        case .gzip: decoder = ZlibDecoder(.gzip)
        case .deflate:
            decoder = ZlibDecoder(.zlib)
            replay = []
        case .brotli: decoder = BrotliDecoder()
        case .zstd: decoder = ZstdDecoder()
        case .identity, .other: return nil
        }
        self.coding = coding
        self.limit = limit
        self.growth = growth
    }

    func feed(_ bytes: UnsafeRawBufferPointer, _ forward: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        var input = bytes
        var hasOutputLeft = true
        while problem == nil, state != .done, !input.isEmpty || hasOutputLeft {
            if state == .betweenMembers {
                guard !input.isEmpty else { return }
                guard decoder.beginNextMember() else {
                    return fail(.trailingData, "more data follows its end", consumed)
                }
                memberStart = consumed
                memberProduced = 0
                beginning = []
                state = .reading
            }
            // A member without output has consumed all earlier input, so `input` continues its beginning.
            if memberStart > 0, memberProduced == 0, beginning.count < DecodingLink.longestBeginning {
                beginning += input.prefix(DecodingLink.longestBeginning - beginning.count)
            }
            let step = piece.withUnsafeMutableBytes { decoder.step(input, into: $0) }
            if case .failed(let reason) = step.status {
                try deliver(step.produced, forward)
                let isEarly = consumed + step.consumed <= DecodingLink.longestReplay
                let isText = DecodingLink.isText((replay ?? []) + input.prefix(DecodingLink.tellingText))
                if produced == 0, isEarly, !isText, let earlier = replay, decoder.beginFallback() {
                    replay = nil
                    // `input` has all bytes. Not copied, because a ZIP entry's input is the rest of the file.
                    guard !earlier.isEmpty else {
                        consumed = 0
                        return try feed(input, forward)
                    }
                    return try startOver(with: earlier + Array(input), forward)
                }
                return problem == nil ? failed(reason, at: consumed + step.consumed) : ()
            }
            if let earlier = replay {
                let isEarly = step.produced == 0 && consumed < DecodingLink.longestReplay
                replay = isEarly ? earlier + input.prefix(step.consumed) : nil
            }
            consumed += step.consumed
            input = UnsafeRawBufferPointer(rebasing: input.dropFirst(step.consumed))
            try deliver(step.produced, forward)
            switch step.status {
            case .ended: state = .betweenMembers
            case .outputFull: hasOutputLeft = true
            case .needsInput, .failed: hasOutputLeft = false
            }
            // A decoder that neither reads nor writes would loop forever.
            if step.consumed == 0, step.produced == 0, case .needsInput = step.status { return }
        }
    }

    func finish() {
        guard problem == nil, state == .reading, consumed > 0 else { return }
        if memberStart > 0, memberProduced == 0, consumed - memberStart < DecodingLink.shortestMember {
            fail(.trailingData, "more data follows its end", memberStart)
        } else {
            fail(.truncated, "the data ends too early", consumed)
        }
    }

    private static func isText(_ bytes: [UInt8]) -> Bool {
        bytes.count >= shortestText && bytes.allSatisfy { $0 &- 0x20 < 0x5F || 0x09...0x0D ~= $0 }
    }

    private func startOver(with bytes: [UInt8], _ forward: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        consumed = 0
        try bytes.withUnsafeBytes { try feed($0, forward) }
    }

    private func deliver(_ count: Int, _ forward: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        let allowed = min(limit, growth?.most(of: consumed) ?? limit)
        let room = allowed - produced
        produced += count
        memberProduced += count
        try piece.withUnsafeBytes { bytes in
            if min(count, room) > 0 { try forward(UnsafeRawBufferPointer(rebasing: bytes[..<min(count, room)])) }
        }
        if count > room {
            fail(.stoppedAtLimit, "decoding stopped at the limit of \(allowed) bytes", consumed)
        }
    }

    private func failed(_ reason: String, at offset: Int) {
        // Bytes after a whole member that do not begin another member are trailing data, not a corrupt member.
        if memberStart > 0, memberProduced == 0, !decoder.isBeginning(beginning) {
            fail(.trailingData, "more data follows its end", memberStart)
        } else {
            fail(.corrupt, reason, offset)
        }
    }

    private func fail(_ kind: DecodingProblem.Kind, _ message: String, _ offset: Int) {
        problem = DecodingProblem(kind: kind, coding: coding, offset: offset, message: message)
        state = .done
    }
}

package import NIOCore

package struct DecodedContent: Sendable, Hashable {
    /// Complete, or up to the problem.
    package var bytes: ByteBuffer
    package var problem: DecodingProblem?

    package var stoppedAtLimit: Bool { problem?.kind == .stoppedAtLimit }
}

/// Bounds a coding's output by its input: at most `times` as many bytes; `always` bytes are allowed in any case.
package struct DecodedGrowth: Sendable, Hashable {
    package var times: Int
    package var always: Int

    /// For bodies that are suspiciously compressed.
    package static let bounded = DecodedGrowth(times: 128, always: 16 << 20)

    package init(times: Int, always: Int) { (self.times, self.always) = (times, always) }

    func most(of count: Int) -> Int {
        let (grown, isHuge) = count.multipliedReportingOverflow(by: times)
        return isHuge ? .max : max(always, grown)
    }
}

/// Decodes content codings piece by piece (RFC 9110 §8.4) in constant memory. The first problem ends the decoding.
package final class ContentDecoder {
    /// More codings than this on one message are an attack or a mistake.
    static let mostCodings = 8
    /// The most bytes to decode of a body that is kept or searched as a whole; limits decompression bombs.
    package static let mostDecoded = 256 << 20

    private let links: [DecodingLink]
    private let limit: Int
    private var produced = 0
    private var ownProblem: DecodingProblem?
    private let unknown: DecodingProblem?

    /// `codings` are in the order in which they were applied. `growth` bounds the output of each coding.
    package init(codings: [ContentCoding], limit: Int, growth: DecodedGrowth? = nil) {
        self.limit = max(limit, 0)
        var links: [DecodingLink] = []
        var unknown: DecodingProblem?
        for coding in codings.reversed() where coding != .identity {
            // Checked before the link is made, because each link allocates memory.
            let isTooMany = links.count >= ContentDecoder.mostCodings
            guard !isTooMany, let link = DecodingLink(coding, limit: max(limit, 0), growth: growth) else {
                let count = codings.count { $0 != .identity }
                let message =
                    isTooMany
                    ? "\(count) content codings are more than the \(ContentDecoder.mostCodings) allowed"
                    : "the content coding '\(coding)' is unknown"
                unknown = DecodingProblem(kind: .unknownCoding, coding: coding, offset: 0, message: message)
                if isTooMany { links = [] }
                break
            }
            links.append(link)
        }
        self.links = links
        self.unknown = unknown
    }

    package var problem: DecodingProblem? {
        // A link behind a stopped link gets no more input, so the last of several problems occurred first.
        ownProblem ?? links.last { $0.problem != nil }?.problem ?? unknown
    }

    package var isStopped: Bool { ownProblem != nil || links.contains { $0.problem != nil } }

    package func decode(_ input: ByteBuffer) -> ByteBuffer {
        var output = ByteBuffer()
        decode(input) { output.writeBytes($0) }
        return output
    }

    /// Calls `forward` with decoded pieces of at most 64 KiB, because a few bytes may decode to a great many.
    package func decode(_ input: ByteBuffer, forEachPiece forward: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        if !isStopped { try input.withUnsafeReadableBytes { try push($0, through: links[...], forward) } }
    }

    /// Ends the body; a coding that has not ended becomes a ``problem``.
    package func finish() {
        for link in links where !isStopped { link.finish() }
    }

    private func push(
        _ bytes: UnsafeRawBufferPointer,
        through rest: ArraySlice<DecodingLink>,
        _ forward: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows {
        guard let link = rest.first else {
            let room = limit - produced
            produced += min(room, bytes.count)
            if room > 0, !bytes.isEmpty { try forward(UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
            if bytes.count > room {
                let message = "stopped at the limit of \(limit) bytes"
                ownProblem = DecodingProblem(kind: .stoppedAtLimit, coding: .identity, offset: limit, message: message)
            }
            return
        }
        try link.feed(bytes) { piece in
            let further = rest.dropFirst()
            if further.allSatisfy({ $0.problem == nil }), ownProblem == nil {
                try push(piece, through: further, forward)
            }
        }
    }

    /// `codings` are in the order in which they were applied.
    package static func decode(_ bytes: ByteBuffer, codings: [ContentCoding], limit: Int) -> DecodedContent {
        let decoder = ContentDecoder(codings: codings, limit: limit)
        let output = decoder.decode(bytes)
        decoder.finish()
        return DecodedContent(bytes: output, problem: decoder.problem)
    }
}

package import NIOCore

package struct DecodedContent: Sendable, Hashable {
    /// Complete, or up to the problem.
    package var bytes: ByteBuffer
    /// The problem that stopped the decoding.
    package var problem: DecodingProblem?

    package var stoppedAtLimit: Bool { problem?.kind == .stoppedAtLimit }
}

/// How much a coding may make of few bytes: so many times as many, but so many in any case.
package struct DecodedGrowth: Sendable, Hashable {
    package var times: Int
    package var always: Int

    /// For bodies that are suspiciously compressed.
    package static let bounded = DecodedGrowth(times: 128, always: 16 << 20)

    package init(times: Int, always: Int) { (self.times, self.always) = (times, always) }

    /// The largest output for this input.
    func most(of count: Int) -> Int {
        let (grown, isHuge) = count.multipliedReportingOverflow(by: times)
        return isHuge ? .max : max(always, grown)
    }
}

/// Undoes a message's content codings piece by piece (RFC 9110 §8.4), in memory that does not grow with the message.
/// The codings are undone in the reverse of the order in which they were applied. The first problem ends the decoding:
/// what could be decoded before it has been given out, what comes after it is ignored.
package final class ContentDecoder {
    /// More codings than this on one message are an attack or a mistake.
    static let mostCodings = 8
    /// More of a body is not decoded where all of it is to be kept or looked at, against decompression bombs.
    package static let mostDecoded = 256 << 20

    private let links: [DecodingLink]
    private let limit: Int
    private var produced = 0
    private var ownProblem: DecodingProblem?
    private let unknown: DecodingProblem?

    /// Prepares to undo codings, listed in the order in which they were applied, as `Content-Encoding` has them.
    ///
    /// - Parameter growth: what each coding may make of its bytes, for what takes much work for each byte; `nil` for
    ///   anything within the limit.
    package init(codings: [ContentCoding], limit: Int, growth: DecodedGrowth? = nil) {
        self.limit = max(limit, 0)
        var links: [DecodingLink] = []
        var unknown: DecodingProblem?
        for coding in codings.reversed() where coding != .identity {
            // Before it is made: each link has memory of its own.
            guard links.count < ContentDecoder.mostCodings else {
                let count = codings.count { $0 != .identity }
                let message = "\(count) content codings are more than the \(ContentDecoder.mostCodings) allowed"
                unknown = DecodingProblem(kind: .unknownCoding, coding: coding, offset: 0, message: message)
                links = []
                break
            }
            guard let link = DecodingLink(coding, limit: max(limit, 0), growth: growth) else {
                let message = "the content coding '\(coding)' is unknown"
                unknown = DecodingProblem(kind: .unknownCoding, coding: coding, offset: 0, message: message)
                break
            }
            links.append(link)
        }
        self.links = links
        self.unknown = unknown
    }

    /// Prepares to undo what a `Content-Encoding` value lists; `nil` or empty means no coding.
    package convenience init(contentEncoding: String?, limit: Int) {
        self.init(codings: contentEncoding.map { ContentCoding.list($0) } ?? [], limit: limit)
    }

    package var problem: DecodingProblem? {
        // Nothing goes into a link behind one that has stopped, so the last of several problems was the first to arise.
        ownProblem ?? links.last { $0.problem != nil }?.problem ?? unknown
    }

    /// Whether further input has no effect.
    package var isStopped: Bool { ownProblem != nil || links.contains { $0.problem != nil } }

    /// Decodes the next bytes of the body; what could be decoded with them may be empty.
    package func decode(_ input: ByteBuffer) -> ByteBuffer {
        var output = ByteBuffer()
        decode(input) { output.writeBytes($0) }
        return output
    }

    /// Decodes the next bytes of the body and hands them over in pieces, of at most 64 KiB where there is a coding. A
    /// few bytes may stand for a great many; this way they are never in memory together.
    package func decode(_ input: ByteBuffer, forEachPiece forward: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        if !isStopped { try input.withUnsafeReadableBytes { try push($0, through: links[...], forward) } }
    }

    /// Says that the body has ended, which is a problem where a coding has not.
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

    /// Decodes a whole body at once; `codings` are in the order in which they were applied.
    package static func decode(_ bytes: ByteBuffer, codings: [ContentCoding], limit: Int) -> DecodedContent {
        let decoder = ContentDecoder(codings: codings, limit: limit)
        let output = decoder.decode(bytes)
        decoder.finish()
        return DecodedContent(bytes: output, problem: decoder.problem)
    }

    /// Decodes a complete body by its `Content-Encoding`.
    package static func decode(_ bytes: ByteBuffer, contentEncoding: String?, limit: Int) -> DecodedContent {
        decode(bytes, codings: contentEncoding.map { ContentCoding.list($0) } ?? [], limit: limit)
    }
}

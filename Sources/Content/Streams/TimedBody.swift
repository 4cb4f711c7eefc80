import HTTPModel
import NIOCore

/// Reads a body without its content coding in slices, each of bytes that arrived at one time.
package struct TimedBody {
    /// A slice may complete messages of two bytes each, which wait until somebody takes them.
    private static let longestSlice: Int64 = 16 * 1024
    /// A byte with content coding may stand for a thousand.
    private static let longestCodedSlice: Int64 = 1024
    private static let pieceSize = 256 * 1024

    private let body: RecordedBody
    private var decoder: ContentDecoder?
    private var clock: ArrivalClock
    /// The bytes that were read from the session and not yet handed over.
    private var unread = ByteBuffer()
    private var offset: Int64 = 0
    private var decodedCount = 0
    /// Set where the body does not have its content coding, and so is read as it came.
    private var uncoded: DecodingProblem?
    /// Whether more may come, so that times are read again with each piece.
    package var follows = false
    /// When the slice before arrived, in microseconds since 1970; `nil` where that was not recorded.
    package private(set) var arrival: Int64?

    /// Prepares to read from the first byte, undoing `codings`, which are in the order in which they were applied.
    package init(_ body: RecordedBody, codings: [ContentCoding], decodedLimit: Int) {
        self.body = body
        decoder = codings.isEmpty ? nil : ContentDecoder(codings: codings, limit: decodedLimit)
        clock = ArrivalClock(body)
    }

    package var problem: DecodingProblem? { uncoded ?? decoder?.problem }

    /// Hands over what the next slice decodes to; `false` at the end of what is there. Throws the source's error.
    package mutating func readSlice(_ forward: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        guard decoder?.isStopped != true else { return false }
        if unread.readableBytes == 0 {
            unread = try body.source.body(of: body.id, side: body.side, offset: offset, limit: TimedBody.pieceSize)
            if follows { clock = ArrivalClock(body) }
        }
        guard unread.readableBytes > 0 else { return false }
        let (arrival, end) = try clock.arrival(at: offset)
        let longest = decoder == nil ? TimedBody.longestSlice : TimedBody.longestCodedSlice
        let length = min(Int64(unread.readableBytes), longest, end - offset)
        guard let slice = unread.readSlice(length: Int(length)) else { return false }
        offset += length
        self.arrival = arrival
        if let decoder {
            var count = 0
            decoder.decode(slice) {
                count += $0.count
                forward($0)
            }
            decodedCount += count
            if let problem = decoder.problem { try startOver(problem) }
        } else {
            slice.withUnsafeReadableBytes(forward)
        }
        return true
    }

    /// Begins again, without a coding, where the body is seen to have none, in spite of its head.
    private mutating func startOver(_ problem: DecodingProblem) throws {
        guard decodedCount == 0 else { return }
        let count = DecodingProblem.tellingBytes
        let beginning = try body.source.body(of: body.id, side: body.side, offset: 0, limit: count)
        guard problem.isAtBeginning(decoded: 0, beginning), DecodingProblem.isPlain(beginning) else { return }
        (uncoded, decoder) = (problem.givenAsReceived, nil)
        (unread, offset, clock) = (ByteBuffer(), 0, ArrivalClock(body))
    }

    /// Says that no bytes will follow, which is a problem where a content coding has not come to its end.
    package func finish() { decoder?.finish() }
}

/// Tells when the bytes of a body arrived, reading the recorded arrivals page by page.
struct ArrivalClock {
    private static let pageSize = 1024

    private let body: RecordedBody
    private var page: [Arrival] = []
    private var index = 0
    /// Whether there are no arrivals after the page's.
    private var isLastPage = false

    init(_ body: RecordedBody) { self.body = body }

    /// When the byte at an offset arrived (`nil`: not recorded), and where its bytes end. Offsets never shrink.
    mutating func arrival(at offset: Int64) throws -> (at: Int64?, end: Int64) {
        while true {
            while index + 1 < page.count, page[index + 1].offset <= offset { index += 1 }
            if index + 1 < page.count || isLastPage { break }
            page = try body.source.arrivals(of: body.id, side: body.side, from: offset, limit: ArrivalClock.pageSize)
            index = 0
            isLastPage = page.count < ArrivalClock.pageSize
        }
        guard index < page.count else { return (nil, .max) }
        let current = page[index]
        guard current.offset <= offset else { return (nil, current.offset) }
        return (current.at, index + 1 < page.count ? page[index + 1].offset : .max)
    }
}

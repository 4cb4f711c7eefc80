import HTTPModel
import NIOCore

/// Reads a body without its content coding in slices; all bytes of a slice arrived at the same time.
package struct TimedBody {
    /// Short, because a slice may complete many messages of two bytes each, which are queued.
    private static let longestSlice: Int64 = 16 * 1024
    /// An encoded byte may decode to a thousand bytes.
    private static let longestCodedSlice: Int64 = 1024
    private static let pieceSize = 256 * 1024

    private let body: RecordedBody
    private var decoder: ContentDecoder?
    private var clock: ArrivalClock
    /// Bytes that were read from the session but not yet passed on.
    private var unread = ByteBuffer()
    private var offset: Int64 = 0
    private var decodedCount = 0
    /// Set if the body does not really have its content coding and is therefore read unchanged.
    private var uncoded: DecodingProblem?
    /// Whether more bytes may arrive; arrival times are then read again with each piece.
    package var follows = false
    /// When the last slice arrived, in microseconds since 1970; `nil` if that was not recorded.
    package private(set) var arrival: Int64?

    /// Prepares to read from the first byte. `codings` are in the order in which they were applied.
    package init(_ body: RecordedBody, codings: [ContentCoding], decodedLimit: Int) {
        self.body = body
        decoder = codings.isEmpty ? nil : ContentDecoder(codings: codings, limit: decodedLimit)
        clock = ArrivalClock(body)
    }

    package var problem: DecodingProblem? { uncoded ?? decoder?.problem }

    /// Calls `forward` with the decoded next slice; `false` if no more bytes are there. Throws the source's error.
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

    /// Starts over without decoding, if the body turns out not to have the content coding that its head names.
    private mutating func startOver(_ problem: DecodingProblem) throws {
        guard decodedCount == 0 else { return }
        let count = DecodingProblem.tellingBytes
        let beginning = try body.source.body(of: body.id, side: body.side, offset: 0, limit: count)
        guard problem.isAtBeginning(decoded: 0, beginning), DecodingProblem.isPlain(beginning) else { return }
        (uncoded, decoder) = (problem.givenAsReceived, nil)
        (unread, offset, clock) = (ByteBuffer(), 0, ArrivalClock(body))
    }

    /// Ends the body; a content coding that has not ended becomes a ``problem``.
    package func finish() { decoder?.finish() }
}

/// Finds when the bytes of a body arrived; reads the recorded arrivals page by page.
struct ArrivalClock {
    private static let pageSize = 1024

    private let body: RecordedBody
    private var page: [Arrival] = []
    private var index = 0
    /// Whether `page` is the last page of arrivals.
    private var isLastPage = false

    init(_ body: RecordedBody) { self.body = body }

    /// When the byte at `offset` arrived (`nil`: unknown), and where these bytes end. Offsets must not decrease.
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

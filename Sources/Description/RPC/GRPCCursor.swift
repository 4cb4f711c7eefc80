import Content
import HTTPModel
import NIOCore

/// Reads one direction of a gRPC call frame by frame, each with the time at which its last byte arrived: the body is
/// read in slices that end where an arrival does.
final class GRPCCursor {
    /// A frame with the time of its last byte, in microseconds since 1970; `nil` where that was not recorded.
    typealias TimedFrame = (frame: GRPCFrame, at: Int64?)

    private static let decodedLimit = 256 << 20

    private var body: TimedBody
    private var reader: GRPCFrameReader
    private var isAtEnd = false
    /// Whether more may come: then the end of what is there is no end.
    var follows = false {
        didSet { body.follows = follows }
    }
    /// The frames that wait to be taken, from `first` on.
    private var frames: [TimedFrame] = []
    private var first = 0

    init(_ body: RecordedBody, _ framing: GRPCFraming, codings: [ContentCoding], payloadLimit: Int) {
        self.body = TimedBody(body, codings: codings, decodedLimit: GRPCCursor.decodedLimit)
        reader = GRPCFrameReader(framing, payloadLimit: payloadLimit)
    }

    /// What ended the reading too early; complete once `peek` has returned `nil`.
    var problem: GRPCFramingError? { reader.problem }
    var codingProblem: DecodingProblem? { body.problem }
    /// The frame at the end of the body that is not whole, and when the last of its bytes arrived.
    var unfinished: TimedFrame? { reader.unfinished.map { ($0, body.arrival) } }

    /// The next frame, which stays; `nil` at the end.
    func peek() throws -> TimedFrame? {
        while first == frames.count {
            frames.removeAll(keepingCapacity: true)
            first = 0
            guard !isAtEnd, try readSlice() else { return nil }
        }
        return frames[first]
    }

    /// Takes the frame that `peek` showed.
    func take() -> TimedFrame? {
        guard first < frames.count else { return nil }
        defer { first += 1 }
        return frames[first]
    }

    /// `false` where nothing came that may still come.
    private func readSlice() throws -> Bool {
        var bytes = ByteBuffer()
        guard reader.problem == nil, try body.readSlice({ bytes.writeBytes($0) }) else {
            if follows { return false }
            isAtEnd = true
            body.finish()
            gather { $0.finish(forEachFrame: $1) }
            return true
        }
        gather { $0.read(bytes, forEachFrame: $1) }
        return true
    }

    /// The frames are gathered apart, as the reader must not be touched while it hands them over.
    private func gather(_ read: (inout GRPCFrameReader, (GRPCFrame) -> Void) -> Void) {
        var found: [TimedFrame] = []
        let arrival = body.arrival
        read(&reader) { found.append(($0, arrival)) }
        frames += found
    }
}

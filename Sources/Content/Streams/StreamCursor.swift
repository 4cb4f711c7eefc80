import HTTPModel
import NIOCore

/// Reads one direction of a stream message by message, each with the time at which its last byte arrived.
final class StreamCursor {
    private let side: BodySide
    private var state: ExchangeRecord.State
    private let reader: any StreamReader
    private var body: TimedBody
    private var isAtEnd = false
    /// Whether more may come: then the end of what is there is no end.
    private var follows = false
    /// The messages that wait to be taken, from `first` on.
    private var messages: [StreamedMessage] = []
    private var first = 0

    init(_ body: TimedBody, side: BodySide, state: ExchangeRecord.State, reader: any StreamReader) {
        self.body = body
        self.side = side
        self.state = state
        self.reader = reader
    }

    /// When the next message arrived, `.min` if that was not recorded; `nil` at the end. Throws the source's error.
    func nextArrival() throws -> Int64? {
        while first == messages.count {
            messages.removeAll(keepingCapacity: true)
            first = 0
            guard !isAtEnd, try readSlice() else { return nil }
        }
        return messages[first].arrivedAt ?? .min
    }

    func follow() { (follows, body.follows) = (true, true) }

    /// Nothing more comes: the exchange has ended so.
    func endFollowing(_ state: ExchangeRecord.State) {
        (follows, body.follows) = (false, false)
        self.state = state
    }

    /// Takes the message that `nextArrival` told of.
    func take() -> StreamedMessage? {
        guard first < messages.count else { return nil }
        defer { first += 1 }
        return messages[first]
    }

    /// What kept bytes from being read as messages, in sentences.
    var remarks: [String] {
        let sender = side == .requestReceived || side == .requestSent ? "client" : "server"
        var remarks: [String] = []
        if let problem = reader.problem {
            remarks.append("What follows from the \(sender) cannot be read: \(problem).")
        }
        if let problem = body.problem {
            let words = problem.kind == .notCoded ? "not decoded" : "not decoded in whole"
            remarks.append("The \(sender)'s body was \(words): \(problem).")
        }
        return remarks
    }

    var commentCount: Int64 { (reader as? ServerSentEventReader)?.commentCount ?? 0 }

    /// `false` where nothing came that may still come.
    private func readSlice() throws -> Bool {
        let reader = reader
        var messages: [StreamedMessage] = []
        swap(&messages, &self.messages)
        defer { swap(&messages, &self.messages) }
        let hasRead = try reader.problem == nil && body.readSlice { reader.feed($0) { messages.append($0) } }
        if !hasRead {
            if follows { return false }
            isAtEnd = true
            if state != .inFlight { body.finish() }
            reader.finish { messages.append($0) }
        }
        for index in messages.indices {
            messages[index].arrivedAt = body.arrival
            // Where the exchange came to its end, so did its last line, with or without a line feed.
            if !hasRead, state == .complete, messages[index].kind == .line { messages[index].isWhole = true }
        }
        return true
    }
}

import HTTPModel
import NIOCore

/// Reads one direction of a stream item by item, each with the time at which its last byte arrived.
package final class StreamCursor<Item> {
    /// `at` is in microseconds since 1970; `nil` if it was not recorded.
    package typealias Timed = (item: Item, at: Int64?)

    let reader: any StreamReader<Item>
    private var body: TimedBody
    /// Whether the end was read; the items after it are the reader's incomplete last ones.
    private(set) var isAtEnd = false
    /// Whether more bytes may arrive after the recorded ones.
    package var follows = false {
        didSet { body.follows = follows }
    }
    /// Whether the body is complete; its content coding must then have ended too.
    var isOver = true
    /// The items that wait to be taken, from `first` on.
    private var items: [Timed] = []
    private var first = 0

    package init(_ body: TimedBody, reader: any StreamReader<Item>) {
        self.body = body
        self.reader = reader
    }

    /// When the last slice arrived.
    package var arrival: Int64? { body.arrival }
    /// What ended the decoding of the body's content coding too early.
    package var codingProblem: DecodingProblem? { body.problem }

    /// The cursor whose next item arrived first, or without a time; `nil` at the end. Throws the source's error.
    package static func earliest(_ cursors: [StreamCursor]) throws -> StreamCursor? {
        var earliest: (cursor: StreamCursor, moment: Int64)?
        for cursor in cursors {
            guard let (_, at) = try cursor.peek() else { continue }
            let moment = at ?? .min
            if earliest.map({ moment < $0.moment }) ?? true { earliest = (cursor, moment) }
        }
        return earliest?.cursor
    }

    private func peek() throws -> Timed? {
        while first == items.count {
            items.removeAll(keepingCapacity: true)
            first = 0
            guard !isAtEnd, try readSlice() else { return nil }
        }
        return items[first]
    }

    package func take() -> Timed? {
        guard first < items.count else { return nil }
        defer { first += 1 }
        return items[first]
    }

    /// `false` if more bytes may arrive, but none are there yet.
    private func readSlice() throws -> Bool {
        var found: [Item] = []
        let reader = reader
        if try reader.problem != nil || !body.readSlice({ reader.feed($0) { found.append($0) } }) {
            if follows { return false }
            isAtEnd = true
            if isOver { body.finish() }
            reader.finish { found.append($0) }
        }
        let arrival = body.arrival
        items += found.map { ($0, arrival) }
        return true
    }
}

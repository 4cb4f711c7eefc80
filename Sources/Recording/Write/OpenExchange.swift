import HTTPModel
import NIOCore

/// What the recorder keeps of an exchange that has not ended: what is not in the file yet.
final class OpenExchange {
    /// What is known and not in the file; `nil` once it is there, because `finished` will bring it all again.
    var unwritten: (record: ExchangeRecord, messages: ExchangeMessages)?
    /// Counts of a stream that are newer than those of the record that the observer got last; `nil` where there are none.
    var counts: StreamCounts?
    /// Whether the file's row is behind the counts.
    var hasUnwrittenCounts = false
    /// Whether the file has a row of it.
    var isStored = false
    /// Whether its bodies are to be seen as they come: somebody was informed when parts of them arrived.
    var isStream = false
    /// Whether something came since the last transaction.
    var isTouched = false
    var hasEnded = false
    /// Since when counts, arrivals or bytes wait to be written: nanoseconds of the monotonic clock; `nil` while none do.
    var waitsSince: UInt64?
    var arrivals: [(side: BodySide, arrival: Arrival)] = []
    var tails = BodyTails()
    /// Whether a part of a body is in the file.
    var hasChunks = false
    /// Whether its bodies were dropped, and what still comes of them is.
    private(set) var isDropped = false
    /// Which messages have lost a body in that way.
    private(set) var droppedFlags: ExchangeRecord.Flags = []
    let id: ExchangeID

    init(_ id: ExchangeID) { self.id = id }

    /// Takes what is known now. A record does not turn counts back: it may have been made before them.
    func update(_ record: ExchangeRecord, _ messages: ExchangeMessages) {
        unwritten = (record, messages)
        if let counts { unwritten?.record.raise(to: counts) }
        hasUnwrittenCounts = false
    }

    /// Drops what is there of the bodies, and what still comes.
    func dropBodies() {
        for side in BodySide.allCases where !tails[side].isEmpty { droppedFlags.insert(side.incompleteFlag) }
        (tails, arrivals, isDropped, hasChunks) = (BodyTails(), [], true, false)
    }

    /// Notes that a part came of a body that is dropped.
    func drop(_ part: ByteBuffer, _ side: BodySide) {
        if part.readableBytes > 0 { droppedFlags.insert(side.incompleteFlag) }
    }

    func update(_ newest: StreamCounts) {
        counts = newest
        if unwritten == nil { hasUnwrittenCounts = true } else { unwritten?.record.raise(to: newest) }
    }
}

/// How much a stream has carried by now.
struct StreamCounts {
    var tally: MessageCounts
    var sizes: Sizes
}

extension ExchangeRecord {
    /// Counts at least as much as a stream is known to have carried.
    fileprivate mutating func raise(to counts: StreamCounts) {
        tally.fromClient = max(tally.fromClient, counts.tally.fromClient)
        tally.fromServer = max(tally.fromServer, counts.tally.fromServer)
        for (_, size) in Sizes.fields { sizes[keyPath: size] = max(sizes[keyPath: size], counts.sizes[keyPath: size]) }
    }
}

/// The ends of an exchange's bodies that are not in the file yet, one for each side.
struct BodyTails {
    private var tails = [BodyTail](repeating: BodyTail(), count: BodySide.allCases.count)

    subscript(side: BodySide) -> BodyTail {
        _read { yield tails[Int(side.rawValue)] }
        _modify { yield &tails[Int(side.rawValue)] }
    }

    /// Bytes in all four that are not in the file.
    var waiting: Int { tails.reduce(0) { $0 + $1.waiting } }
    /// Bytes of all four that are in the file.
    var stored: Int64 { tails.reduce(0) { $0 + $1.stored } }
}

/// The end of one body, as far as it may still have to be written; shorter than a chunk between two events.
struct BodyTail {
    /// The bytes; `nil` while the body has had no part at all, not even an empty one.
    private(set) var bytes: ByteBuffer?
    /// Where in the body they begin: all before that is in chunk rows.
    private var start: Int64 = 0
    /// How many of them are in a chunk row that will be written again when there are more.
    private var written = 0

    /// Whether the body has had no byte.
    var isEmpty: Bool { start == 0 && count == 0 }
    private var count: Int { bytes?.readableBytes ?? 0 }
    /// How many bytes are not in the file.
    var waiting: Int { count - written }
    /// How many bytes of the body are in the file.
    var stored: Int64 { start + Int64(written) }
    /// The whole body, if it is short and nothing of it is in chunk rows.
    var isShort: Bool { start == 0 && written == 0 && count <= Schema.inlineBody }

    /// Adds a part, and hands over each chunk that became full, with its offset.
    mutating func append(_ part: ByteBuffer, _ write: (ByteBuffer, Int64) throws -> Void) throws {
        var part = part
        while count + part.readableBytes >= Schema.chunkLength {
            if count == 0, let chunk = part.readSlice(length: Schema.chunkLength) {
                bytes = chunk
                try finishChunk(write)
            } else if let rest = part.readSlice(length: Schema.chunkLength - count) {
                add(rest)
                try finishChunk(write)
            }
        }
        add(part)
    }

    private mutating func add(_ part: ByteBuffer) {
        if count == 0, start == 0 {
            // Most bodies have one part, and are written before the loop's buffer is needed again: no copy.
            bytes = part
        } else {
            bytes?.writeImmutableBuffer(part)
        }
    }

    /// Hands over what there is as a chunk of its own, which is handed over again with more if it is very short. So a
    /// stream that dribbles for hours becomes neither a row for each drop nor rows that are written many times.
    mutating func flush(_ write: (ByteBuffer, Int64) throws -> Void) throws {
        guard let bytes, waiting > 0 else { return }
        guard count < Schema.streamChunk else { return try finishChunk(write) }
        try write(bytes, start)
        written = count
    }

    private mutating func finishChunk(_ write: (ByteBuffer, Int64) throws -> Void) throws {
        guard let bytes else { return }
        try write(bytes, start)
        start += Int64(count)
        written = 0
        // Not `clear()`, which would keep the memory of a body that may stay open for hours.
        self.bytes = ByteBuffer()
    }

    /// Lets go of a larger buffer that the bytes are a part of, before they wait for longer.
    mutating func compact() {
        guard let bytes, bytes.storageCapacity > 4 * bytes.readableBytes + 512 else { return }
        var copy = ByteBufferAllocator().buffer(capacity: bytes.readableBytes)
        copy.writeImmutableBuffer(bytes)
        self.bytes = copy
    }
}

extension BodySide {
    /// The flag of an exchange whose body on this side is cut short.
    var incompleteFlag: ExchangeRecord.Flags {
        switch self {
        case .requestReceived, .requestSent: .requestBodyIncomplete
        case .responseReceived, .responseSent: .responseBodyIncomplete
        }
    }
}

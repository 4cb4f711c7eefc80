import HTTPModel
import NIOCore

/// An exchange that has not ended, with its content that is not in the file yet.
final class OpenExchange {
    /// Content that is not in the file; `nil` once it is written, because `finished` will bring it again.
    var unwritten: (record: ExchangeRecord, messages: ExchangeMessages)?
    /// Newer than the counts that the observer got last; `nil` if they are not.
    var counts: StreamCounts?
    /// Whether the row in the file has older counts.
    var hasUnwrittenCounts = false
    var isStored = false
    /// Whether its bodies are made visible as they arrive: someone was told when parts of them arrived.
    var isStream = false
    /// Whether it changed since the last transaction.
    var isTouched = false
    var hasEnded = false
    /// Since when counts, arrivals or bytes wait to be written, in nanoseconds of the monotonic clock; `nil` if none
    /// do.
    var waitsSince: UInt64?
    var arrivals: [(side: BodySide, arrival: Arrival)] = []
    var tails = BodyTails()
    var hasChunks = false
    /// Whether its bodies were dropped and further parts will be.
    private(set) var isDropped = false
    /// Which messages have lost a body.
    private(set) var droppedFlags: ExchangeRecord.Flags = []
    let id: ExchangeID

    init(_ id: ExchangeID) { self.id = id }

    /// A record does not lower counts, because it may be older than they are.
    func update(_ record: ExchangeRecord, _ messages: ExchangeMessages) {
        unwritten = (record, messages)
        if let counts { unwritten?.record.raise(to: counts) }
        hasUnwrittenCounts = false
    }

    /// Drops the bodies, with further parts.
    func dropBodies() {
        for side in BodySide.allCases where !tails[side].isEmpty { droppedFlags.insert(side.incompleteFlag) }
        (tails, arrivals, isDropped, hasChunks) = (BodyTails(), [], true, false)
    }

    /// Counts a dropped part.
    func drop(_ part: ByteBuffer, _ side: BodySide) {
        if part.readableBytes > 0 { droppedFlags.insert(side.incompleteFlag) }
    }

    func update(_ newest: StreamCounts) {
        counts = newest
        if unwritten == nil { hasUnwrittenCounts = true } else { unwritten?.record.raise(to: newest) }
    }
}

/// How much a stream has carried so far.
struct StreamCounts {
    var tally: MessageCounts
    var sizes: Sizes
}

extension ExchangeRecord {
    /// Raises the counts to known values.
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

    /// Bytes that are not in the file.
    var waiting: Int { tails.reduce(0) { $0 + $1.waiting } }
    var stored: Int64 { tails.reduce(0) { $0 + $1.stored } }
}

/// The end of one body that may still have to be written; shorter than a chunk between two events.
struct BodyTail {
    /// `nil` before the first part of the body, which may be empty.
    private(set) var bytes: ByteBuffer?
    /// The offset in the body; all bytes before it are in chunk rows.
    private var start: Int64 = 0
    /// How many bytes are in a chunk row that will be rewritten when there are more.
    private var written = 0

    var isEmpty: Bool { start == 0 && count == 0 }
    private var count: Int { bytes?.readableBytes ?? 0 }
    /// Bytes that are not in the file.
    var waiting: Int { count - written }
    /// Bytes that are in the file.
    var stored: Int64 { start + Int64(written) }
    /// Whether the whole body is short and not in chunk rows.
    var isShort: Bool { start == 0 && written == 0 && count <= Schema.inlineBody }

    /// Adds a part, and passes each full chunk to `write` with its offset.
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

    /// Writes the rest as a chunk, which is rewritten later if it is very short. So a slow stream has neither a row for
    /// each drop nor rows that are rewritten many times.
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
        // `clear()` would keep the memory of a body that may stay open for hours.
        self.bytes = ByteBuffer()
    }

    /// Copies the bytes out of a larger buffer before they wait for long.
    mutating func compact() {
        guard let bytes, bytes.storageCapacity > 4 * bytes.readableBytes + 512 else { return }
        var copy = ByteBufferAllocator().buffer(capacity: bytes.readableBytes)
        copy.writeImmutableBuffer(bytes)
        self.bytes = copy
    }
}

extension BodySide {
    var incompleteFlag: ExchangeRecord.Flags {
        switch self {
        case .requestReceived, .requestSent: .requestBodyIncomplete
        case .responseReceived, .responseSent: .responseBodyIncomplete
        }
    }
}

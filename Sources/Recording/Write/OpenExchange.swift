package import HTTPModel
import NIOCore

/// An exchange in flight with its unwritten content.
final class OpenExchange {
    /// `nil` once it is written; the `finished` event brings it again.
    var unwritten: (record: ExchangeRecord, messages: ExchangeMessages)?
    /// The newest counts; `nil` before the first ones.
    var counts: StreamCounts?
    var hasUnwrittenCounts = false
    var isStored = false
    /// Whether parts are written soon after they arrive.
    var isStream = false
    var isTouched = false
    var hasEnded = false
    /// In nanoseconds of the monotonic clock; `nil` if no data waits.
    var waitsSince: UInt64?
    var arrivals: [(side: BodySide, arrival: Arrival)] = []
    var tails = BodyTails()
    var hasChunks = false
    private(set) var isDropped = false
    private(set) var droppedFlags: ExchangeRecord.Flags = []
    let id: ExchangeID

    init(_ id: ExchangeID) { self.id = id }

    /// The record may be older than the counts, and must not lower them.
    func update(_ record: ExchangeRecord, _ messages: ExchangeMessages) {
        unwritten = (record, messages)
        if let counts { unwritten?.record.raise(to: counts) }
        hasUnwrittenCounts = false
    }

    func dropBodies() {
        for side in BodySide.allCases where !tails[side].isEmpty { droppedFlags.insert(side.incompleteFlag) }
        (tails, arrivals, isDropped, hasChunks) = (BodyTails(), [], true, false)
    }

    func drop(_ part: ByteBuffer, _ side: BodySide) {
        if part.readableBytes > 0 { droppedFlags.insert(side.incompleteFlag) }
    }

    func update(_ newest: StreamCounts) {
        counts = newest
        if unwritten == nil { hasUnwrittenCounts = true } else { unwritten?.record.raise(to: newest) }
    }
}

struct StreamCounts {
    var tally: MessageCounts
    var sizes: Sizes
}

extension ExchangeRecord {
    fileprivate mutating func raise(to counts: StreamCounts) {
        tally.fromClient = max(tally.fromClient, counts.tally.fromClient)
        tally.fromServer = max(tally.fromServer, counts.tally.fromServer)
        for (_, size) in Sizes.fields { sizes[keyPath: size] = max(sizes[keyPath: size], counts.sizes[keyPath: size]) }
    }
}

struct BodyTails {
    private var tails = [BodyTail](repeating: BodyTail(), count: BodySide.allCases.count)

    subscript(side: BodySide) -> BodyTail {
        _read { yield tails[Int(side.rawValue)] }
        _modify { yield &tails[Int(side.rawValue)] }
    }

    var waiting: Int { tails.reduce(0) { $0 + $1.waiting } }
    var stored: Int64 { tails.reduce(0) { $0 + $1.stored } }
}

/// The end of a body, which is still to be written; shorter than a chunk between events.
struct BodyTail {
    /// `nil` before the first part, which may be empty.
    private(set) var bytes: ByteBuffer?
    /// Offset of `bytes`; all earlier bytes are in chunks.
    private var start: Int64 = 0
    /// How many of `bytes` are in a chunk, which is rewritten when more bytes arrive.
    private var written = 0

    var isEmpty: Bool { start == 0 && count == 0 }
    private var count: Int { bytes?.readableBytes ?? 0 }
    var waiting: Int { count - written }
    var stored: Int64 { start + Int64(written) }
    var isShort: Bool { start == 0 && written == 0 && count <= Schema.inlineBody }

    /// Passes full chunks to `write` with their offsets.
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
            // Most bodies have one part, and are written before the event loop needs its buffer again.
            bytes = part
        } else {
            bytes?.writeImmutableBuffer(part)
        }
    }

    /// A very short chunk is rewritten later, so that a slow stream causes neither many rows nor many rewrites.
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
        // `clear()` would not free the memory.
        self.bytes = ByteBuffer()
    }

    /// Copies bytes out of a much larger buffer, because they may wait for long.
    mutating func compact() {
        guard let bytes, bytes.storageCapacity > 4 * bytes.readableBytes + 512 else { return }
        var copy = ByteBufferAllocator().buffer(capacity: bytes.readableBytes)
        copy.writeImmutableBuffer(bytes)
        self.bytes = copy
    }
}

extension BodySide {
    package var incompleteFlag: ExchangeRecord.Flags {
        switch self {
        case .requestReceived, .requestSent: .requestBodyIncomplete
        case .responseReceived, .responseSent: .responseBodyIncomplete
        }
    }
}

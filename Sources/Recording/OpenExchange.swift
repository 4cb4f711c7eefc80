import HTTPModel
import NIOCore

/// What the recorder keeps of an exchange that has not ended: what is not in the file yet.
final class OpenExchange {
    /// What is known and not in the file; `nil` once it is there, because `finished` will bring it all again.
    var unwritten: (record: ExchangeRecord, messages: ExchangeMessages)?
    /// Whether the file has a row of it.
    var isStored = false
    /// Whether something came since the last transaction.
    var isTouched = false
    /// Whether it has ended.
    var hasEnded = false
    /// When its first event was taken: nanoseconds of the monotonic clock.
    let openedAt: UInt64
    var tails = BodyTails()
    let id: ExchangeID

    init(_ id: ExchangeID, openedAt: UInt64) {
        self.id = id
        self.openedAt = openedAt
    }
}

/// The ends of an exchange's bodies that are not in the file yet, one for each side.
struct BodyTails {
    private var requestReceived = BodyTail()
    private var requestSent = BodyTail()
    private var responseReceived = BodyTail()
    private var responseSent = BodyTail()

    subscript(side: BodySide) -> BodyTail {
        _read {
            switch side {
            case .requestReceived: yield requestReceived
            case .requestSent: yield requestSent
            case .responseReceived: yield responseReceived
            case .responseSent: yield responseSent
            }
        }
        _modify {
            switch side {
            case .requestReceived: yield &requestReceived
            case .requestSent: yield &requestSent
            case .responseReceived: yield &responseReceived
            case .responseSent: yield &responseSent
            }
        }
    }

    /// Bytes in all four.
    var count: Int { BodySide.allCases.reduce(0) { $0 + self[$1].count } }
}

/// The end of one body that is not in the file yet; shorter than a chunk between two events.
struct BodyTail {
    /// The bytes; `nil` while the body has had no part at all, not even an empty one.
    private(set) var bytes: ByteBuffer?
    /// How many bytes are in chunk rows.
    private(set) var stored: Int64 = 0

    var count: Int { bytes?.readableBytes ?? 0 }

    /// Adds a part, and hands over each chunk that became full, with its offset.
    mutating func append(_ part: ByteBuffer, _ write: (ByteBuffer, Int64) throws -> Void) throws {
        var part = part
        while count + part.readableBytes >= Schema.chunk {
            if count == 0, let chunk = part.readSlice(length: Schema.chunk) {
                bytes = bytes ?? ByteBuffer()
                try take(chunk, write)
            } else if let rest = part.readSlice(length: Schema.chunk - count) {
                add(rest)
                try flush(write)
            }
        }
        add(part)
    }

    private mutating func add(_ part: ByteBuffer) {
        if count == 0, stored == 0 {
            // Most bodies have one part, and are written before the loop's buffer is needed again: no copy.
            bytes = part
        } else {
            bytes?.writeImmutableBuffer(part)
        }
    }

    /// Hands over what there is as a chunk of its own.
    mutating func flush(_ write: (ByteBuffer, Int64) throws -> Void) throws {
        guard let chunk = bytes, chunk.readableBytes > 0 else { return }
        try take(chunk, write)
        // Not `clear()`, which would keep the memory of a body that may stay open for hours.
        bytes = ByteBuffer()
    }

    private mutating func take(_ chunk: ByteBuffer, _ write: (ByteBuffer, Int64) throws -> Void) throws {
        try write(chunk, stored)
        stored += Int64(chunk.readableBytes)
    }

    /// Lets go of a larger buffer that the bytes are a part of, before they wait for longer.
    mutating func compact() {
        guard let bytes, bytes.storageCapacity > 4 * bytes.readableBytes + 512 else { return }
        var copy = ByteBufferAllocator().buffer(capacity: bytes.readableBytes)
        copy.writeImmutableBuffer(bytes)
        self.bytes = copy
    }
}

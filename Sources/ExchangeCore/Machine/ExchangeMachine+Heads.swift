import HTTPModel
import NIOCore

/// Limits the memory for heads, because a few bytes of HTTP/2 can become a large head.
extension ExchangeMachine {
    /// Counts a head until the exchange ends; `false` if there is no room.
    mutating func addHead(_ bytes: ByteBuffer?) -> Bool {
        guard let count = bytes?.readableBytes else { return true }
        guard heads.add(count) else { return false }
        headSize += count
        return true
    }

    /// Refuses a request whose head has no room, and records little of it.
    mutating func refuseWithoutRoom() {
        record.abridge()
        messages.abridge()
        exchange.trace += messages.trace
        sink.record(.opened(record, messages))
        var failure = lackOfRoom
        failure.resetCode = .refusedStream
        fail(failure, cutClient: false)
    }

    /// Ends the exchange because a head or trailers have no room.
    mutating func failWithoutRoom(_ part: WritableKeyPath<ExchangeMessages, ByteBuffer?>) {
        messages[keyPath: part] = nil
        fail(lackOfRoom, cutClient: false)
    }

    private var lackOfRoom: ExchangeFailure {
        let hint = "Repeat it when other exchanges have ended."
        return ExchangeFailure(.overload, heads.roomIsMissing, hint: hint)
    }

    /// Records an interim head; `false` if it has no room and must not be passed on.
    mutating func addInterim(_ head: ResponseHead) -> Bool {
        let bytes = head.fields.received ?? head.serialized()
        let size = messages.interimHeads?.readableBytes ?? 0
        guard size + bytes.readableBytes <= HeadAccount.interimLimit, addHead(bytes) else {
            if !dropsInterims {
                note("further interim responses were dropped: they are larger than \(HeadAccount.interimLimit) bytes")
            }
            dropsInterims = true
            return false
        }
        messages.interimHeads.setOrWriteImmutableBuffer(bytes)
        return true
    }
}

import HTTPModel
import NIOCore

/// How much heads may take, since few bytes of HTTP/2 can be large ones.
extension ExchangeMachine {
    /// Counts a head for the time of the exchange; `false` if there is no room.
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

    /// Ends the exchange because its peer has sent too much.
    mutating func failWithoutRoom(_ part: WritableKeyPath<ExchangeMessages, ByteBuffer?>) {
        messages[keyPath: part] = nil
        fail(lackOfRoom, cutClient: false)
    }

    private var lackOfRoom: ExchangeFailure {
        let hint = "Repeat it when other exchanges have ended."
        return ExchangeFailure(.overload, heads.roomIsMissing, hint: hint)
    }

    /// Records an interim head; `false` for one that is not passed on, as those before it were too large already.
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

import HTTPModel
import NIOCore
import Support
import Telemetry
import Testing

@Suite("The queue of spans")
struct SpanQueueTests {
    private func exchange(_ number: Int64, _ fields: [(String, String)] = []) -> RecordedExchange {
        var record = ExchangeSpanTests.record()
        record.startedAt = number
        var messages = ExchangeMessages()
        var head = ByteBuffer()
        RequestHead(method: "GET", target: "/", fields: fields).write(into: &head)
        messages.requestHead = head
        messages.trace = [TraceEntry(stage: "sluice", outcome: .note, text: "a note")]
        return RecordedExchange(record: record, messages: messages)
    }

    @Test("What does not fit is dropped and counted; what was taken makes room")
    func bounds() {
        let queue = SpanQueue(size: 5, batchSize: 2)
        #expect(!queue.add([exchange(1)]) && !queue.hasBatch)
        #expect(queue.add([exchange(2), exchange(3)]) && queue.hasBatch)
        #expect(!queue.add((4...8).map { exchange($0) }), "the batch was there before")
        #expect(queue.counts.all == 8 && queue.counts.dropped == 3 && queue.counts.waiting == 5)
        let batch = queue.take()
        #expect(batch.map(\.exchange.record.startedAt) == [1, 2])
        #expect(batch.allSatisfy { $0.exchange.messages.trace.isEmpty && $0.exchange.messages.requestHead != nil })
        _ = queue.add([exchange(9)])
        #expect(queue.counts.dropped == 3)
        #expect([queue.take().count, queue.take().count, queue.take().count] == [2, 2, 0])
        queue.close()
        #expect(!queue.add([exchange(10)]) && queue.counts.dropped == 4 && queue.hasBatch && queue.take().isEmpty)
    }

    @Test("Heads have a limit of their own, and of a large buffer only the head is kept")
    func heads() throws {
        let queue = SpanQueue()
        let long = String(repeating: "x", count: SpanQueue.headLimit / 3)
        for number in 1...4 { _ = queue.add([exchange(Int64(number), [("X", long)])]) }
        #expect(queue.counts.dropped == 2 && queue.take().count == 2)
        _ = queue.add([exchange(5, [("X", long)])])
        #expect(queue.counts.dropped == 2)
        var large = ByteBuffer(repeating: 0x20, count: 1 << 20)
        large.clear()
        large.writeString("GET / HTTP/1.1\r\n\r\n")
        var small = exchange(6)
        small.messages.requestHead = large
        _ = queue.add([small])
        let kept = try #require(queue.take().last?.exchange.messages.requestHead)
        #expect(kept.storageCapacity < 1 << 10)
    }

    @Test("An unsampled request is left out, and uses no room")
    func sampling() {
        let queue = SpanQueue(size: 1, batchSize: 1)
        func parent(_ flags: String) -> [(String, String)] {
            [("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-\(flags)")]
        }
        #expect(!queue.add([exchange(1, parent("00")), exchange(2, parent("fe"))]))
        #expect(queue.counts == SpanCounts())
        #expect(queue.add([exchange(3, parent("01"))]))
        #expect(queue.take().first?.parent?.isSampled == true)
        _ = queue.add([exchange(4, parent("zz"))])
        #expect(queue.take().first?.parent == nil)
    }
}

package import HTTPModel
import NIOCore
import Synchronization

/// Ended exchanges that wait to be sent. It has a limit; what does not fit is dropped and counted, so nobody waits.
package final class SpanQueue: Sendable {
    package static let usualSize = 2_048
    package static let usualBatch = 512
    /// The limit for the heads of waiting exchanges, in bytes.
    package static let headLimit = 16 << 20

    package struct Entry: Sendable {
        package let exchange: RecordedExchange
        package let parent: TraceContext?
    }

    private struct State {
        var entries: [Entry] = []
        var headBytes = 0
        var isClosed = false
        var counts = SpanCounts()
    }

    private let size: Int
    private let batchSize: Int
    private let state = Mutex(State())

    package init(size: Int = SpanQueue.usualSize, batchSize: Int = SpanQueue.usualBatch) {
        (self.size, self.batchSize) = (size, batchSize)
    }

    /// Returns whether there is a full batch for the first time. Exchanges that are not sampled are left out.
    package func add(_ exchanges: [RecordedExchange]) -> Bool {
        var entries: [Entry] = []
        for exchange in exchanges where ExchangeSpan.isSpan(exchange.record) {
            let parent = TraceContext(exchange.messages.fields(of: .requestReceived))
            if parent?.isSampled != false { entries.append(Entry(exchange: exchange, parent: parent)) }
        }
        return state.withLock { state in
            let before = state.entries.count
            for entry in entries {
                state.counts.all += 1
                let cost = entry.headBytes
                guard !state.isClosed, state.entries.count < size, state.headBytes + cost <= SpanQueue.headLimit else {
                    state.counts.dropped += 1
                    continue
                }
                state.headBytes += cost
                state.entries.append(entry.compact)
            }
            return before < batchSize && state.entries.count >= batchSize
        }
    }

    /// The oldest exchanges, at most a batch.
    package func take() -> [Entry] {
        state.withLock { state in
            let batch = Array(state.entries.prefix(batchSize))
            state.entries.removeFirst(batch.count)
            state.headBytes -= batch.reduce(0) { $0 + $1.headBytes }
            return batch
        }
    }

    package var hasBatch: Bool { state.withLock { $0.isClosed || $0.entries.count >= batchSize } }

    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Later exchanges are dropped.
    package func close() { state.withLock { $0.isClosed = true } }

    package func count(_ change: (inout SpanCounts) -> Void) { state.withLock { change(&$0.counts) } }

    package var counts: SpanCounts { state.withLock { $0.counts } }
}

/// Exchanges as spans, by what became of them.
package struct SpanCounts: Sendable, Hashable, Codable {
    package var all = 0
    /// Accepted by the receiver.
    package var sent = 0
    /// Refused by the receiver, or given up.
    package var refused = 0
    /// The queue was full.
    package var dropped = 0

    package init() {}

    package var waiting: Int { all - sent - refused - dropped }
}

extension SpanQueue.Entry {
    private static let heads: [any WritableKeyPath<ExchangeMessages, ByteBuffer?> & Sendable] = [
        \.requestHead, \.requestHeadSent, \.responseHead, \.responseHeadSent,
    ]

    fileprivate var headBytes: Int {
        Self.heads.reduce(0) { $0 + (exchange.messages[keyPath: $1]?.readableBytes ?? 0) }
    }

    /// With copies of the heads alone: they may be parts of much larger buffers.
    fileprivate var compact: SpanQueue.Entry {
        var compact = exchange
        compact.messages = ExchangeMessages()
        for head in Self.heads {
            compact.messages[keyPath: head] = exchange.messages[keyPath: head].map {
                ByteBuffer(bytes: $0.readableBytesView)
            }
        }
        return SpanQueue.Entry(exchange: compact, parent: parent)
    }
}

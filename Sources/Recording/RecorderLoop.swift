import CMalloc
import Dispatch
import GRDB
import HTTPModel
import NIOCore
import Synchronization

/// The recorder's thread: takes what the taps saw, keeps track of open exchanges, writes transactions.
final class RecorderLoop {
    private let queue: RecorderQueue
    private let outcome: Outcome
    private let tailNanoseconds: UInt64
    private let onFinished: (@Sendable ([ExchangeRecord]) -> Void)?
    private let onFailure: (@Sendable (SessionError) -> Void)?

    /// `nil` where there is no file, or no longer one that can be written.
    private var writer: SessionWriter?
    private var summary = RecorderSummary()
    private var open: [ExchangeID: OpenExchange] = [:]
    /// Open exchanges that something was heard of since the last transaction.
    private var touched: [OpenExchange] = []
    /// Exchanges that ended since the last transaction, their payload written.
    private var ended: [EndedExchange] = []
    private var connections: [ConnectionID: ConnectionRecord] = [:]
    /// Messages whose bodies are cut short, because parts of them were dropped.
    private var cut: [ExchangeID: ExchangeRecord.Flags] = [:]
    private var tailBytes = 0
    private var lastSweep: UInt64 = 0
    private var nextSweep: UInt64 = 0
    private var nextCheck: UInt64 = 0
    /// Credit that events have held since memory was last given back.
    private var takenBytes = 0

    private struct EndedExchange {
        var record: ExchangeRecord
        var payload: Int64
        var isNew: Bool
    }

    init(
        queue: RecorderQueue,
        outcome: Outcome,
        tailNanoseconds: UInt64,
        onFinished: (@Sendable ([ExchangeRecord]) -> Void)?,
        onFailure: (@Sendable (SessionError) -> Void)?
    ) {
        self.queue = queue
        self.outcome = outcome
        self.tailNanoseconds = tailNanoseconds
        self.onFinished = onFinished
        self.onFailure = onFailure
    }

    /// Runs until the queue is closed and empty.
    func run(_ session: WritableSession?) {
        summary.path = session?.path
        if let session {
            session.database.writeWithoutTransaction { database in
                write(to: session) {
                    writer = try SessionWriter(
                        database,
                        path: session.path,
                        run: session.run,
                        lastPayload: session.lastPayload,
                        totals: session.totals
                    )
                }
                takeAll(session)
                endRun(of: session)
                writer = nil
            }
            do {
                try session.close()
            } catch {
                fail(error, session)
            }
        } else {
            takeAll(nil)
        }
        outcome.end(summary)
    }

    private func takeAll(_ session: WritableSession?) {
        var isLast = false
        while !isLast {
            var deadline = tailBytes > 0 ? DispatchTime(uptimeNanoseconds: nextSweep) : nil
            if takenBytes > RecorderLimits.trimBytes {
                let quiet = DispatchTime.now() + RecorderLimits.trimDelay
                deadline = deadline.map { min($0, quiet) } ?? quiet
            }
            var drain = queue.next(deadline: deadline)
            if drain.batches.isEmpty, takenBytes > RecorderLimits.trimBytes {
                // What the event loops allocate and this thread frees stays with glibc's heaps otherwise, as large as
                // the longest backlog was.
                takenBytes = 0
                sluice_release_memory()
            }
            takenBytes += drain.batches.reduce(0) { $0 + $1.cost }
            process(&drain.batches, session)
            for flush in drain.flushes { flush.signal() }
            isLast = drain.isLast
        }
    }

    /// Writes what came, then tells the observer.
    ///
    /// A long backlog is written in several transactions.
    private func process(_ batches: inout [RecorderQueue.Batch], _ session: WritableSession?) {
        let start = DispatchTime.now().uptimeNanoseconds
        if tailBytes > 0, start >= nextSweep || tailBytes > RecorderLimits.tailBytes {
            transact(session) { try sweep(at: start) }
        }
        // Taken from the end, so that each batch's memory goes as soon as it is written.
        batches.reverse()
        while !batches.isEmpty {
            var finished: [ExchangeRecord] = []
            var written = 0
            let begin = DispatchTime.now().uptimeNanoseconds
            transact(session) {
                var now = begin
                while now - begin < RecorderLimits.transactionNanoseconds, let batch = batches.popLast() {
                    for part in batch.dropped { note(dropped: part) }
                    for event in batch.events {
                        if case .finished(let record, _) = event { finished.append(count(record)) }
                        write(to: session) { try handle(event, at: now) }
                    }
                    written += batch.cost
                    now = DispatchTime.now().uptimeNanoseconds
                }
            }
            // Only now, since open exchanges keep what they wrote until the transaction is over.
            queue.giveBack(written)
            if writer == nil {
                summary.notRecorded += session == nil ? 0 : finished.count
                cut = [:]
            }
            if !finished.isEmpty { onFinished?(finished) }
        }
        let end = DispatchTime.now().uptimeNanoseconds
        if let session, writer != nil, end >= nextCheck { check(session, at: end) }
    }

    /// Does the work, writes the rows that came of it, and commits.
    private func transact(_ session: WritableSession?, _ work: () throws -> Void) {
        let start = DispatchTime.now().uptimeNanoseconds
        write(to: session) {
            try writer?.beginTransaction()
            try work()
            try writeRows()
            try writer?.commit()
        }
        touched.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        connections.removeAll(keepingCapacity: true)
        outcome.revision.add(1, ordering: .releasing)
        let end = DispatchTime.now().uptimeNanoseconds
        summary.longestWrite = max(summary.longestWrite, Int64((end - start) / 1_000))
    }

    /// Looks once a second whether the file is still there, and the log within its limit.
    private func check(_ session: WritableSession, at time: UInt64) {
        nextCheck = time + 1_000_000_000
        guard session.isInPlace else {
            let error = SessionError(
                .writeFailed,
                "The session \(session.path) was removed or replaced while recording. Traffic goes on unrecorded.",
                hint: "Start again."
            )
            return fail(error, session)
        }
        write(to: session) { try writer?.truncateLog(above: RecorderLimits.logBytes) }
    }

    // MARK: - Events

    private func handle(_ event: RecordEvent, at time: UInt64) throws {
        guard writer != nil else { return }
        switch event {
        case .connection(let connection):
            connections[connection.id] = connection
        case .opened(let record, let messages):
            let exchange = OpenExchange(record.id, openedAt: time)
            exchange.unwritten = (record, messages)
            open[record.id] = exchange
            touch(exchange)
        case .updated(let record, let messages):
            guard let exchange = open[record.id] else { return }
            exchange.unwritten = (record, messages)
            touch(exchange)
        case .body(let id, let side, let part):
            guard let exchange = open[id] else { return }
            try append(part, side, to: exchange)
        case .arrival, .progress: break
        case .finished(let record, let messages):
            try finish(record, messages)
        }
    }

    private func touch(_ exchange: OpenExchange) {
        guard !exchange.isTouched else { return }
        exchange.isTouched = true
        touched.append(exchange)
    }

    private func append(_ part: ByteBuffer, _ side: BodySide, to exchange: OpenExchange) throws {
        if !cut.isEmpty, let flags = cut[exchange.id], flags.contains(side.incompleteFlag) {
            summary.droppedBytes += Int64(part.readableBytes)
            return
        }
        touch(exchange)
        let before = exchange.tails[side].count
        try exchange.tails[side].append(part) { chunk, offset in
            try writer?.writeChunk(chunk, of: exchange.id, side: side, offset: offset)
        }
        let after = exchange.tails[side].count
        if tailBytes == 0, after > 0 { nextSweep = max(exchange.openedAt, lastSweep) + tailNanoseconds }
        tailBytes += after - before
    }

    private func finish(_ record: ExchangeRecord, _ messages: ExchangeMessages) throws {
        guard let writer else { return }
        var record = record
        let exchange = open.removeValue(forKey: record.id) ?? OpenExchange(record.id, openedAt: 0)
        exchange.hasEnded = true
        if !cut.isEmpty, let flags = cut.removeValue(forKey: record.id) { record.flags.formUnion(flags) }

        tailBytes -= exchange.tails.count
        let payload = try writer.writePayload(
            messages,
            bodies: .init(
                requestReceived: try inlineBody(.requestReceived, of: exchange),
                requestSent: try inlineBody(.requestSent, of: exchange),
                responseReceived: try inlineBody(.responseReceived, of: exchange),
                responseSent: try inlineBody(.responseSent, of: exchange)
            )
        )
        if exchange.isStored { try writer.removeOpenPayload(of: record.id) }
        ended.append(EndedExchange(record: record, payload: payload, isNew: !exchange.isStored))
    }

    /// A short body as the payload row takes it; the rest of a long one is written as its last chunk.
    private func inlineBody(_ side: BodySide, of exchange: OpenExchange) throws -> ByteBuffer? {
        if exchange.tails[side].stored == 0, exchange.tails[side].count <= Schema.inlineBody {
            return exchange.tails[side].bytes
        }
        try flush(side, of: exchange)
        return nil
    }

    private func flush(_ side: BodySide, of exchange: OpenExchange) throws {
        try exchange.tails[side].flush { chunk, offset in
            try writer?.writeChunk(chunk, of: exchange.id, side: side, offset: offset)
        }
    }

    /// Counts an exchange that has ended, and gives its record as it will be written.
    private func count(_ record: ExchangeRecord) -> ExchangeRecord {
        var record = record
        if !cut.isEmpty, let flags = cut[record.id] { record.flags.formUnion(flags) }
        summary.exchanges += 1
        if record.failure != nil { summary.failures += 1 }
        summary.bodyBytes += record.sizes.requestBody + record.sizes.responseBody
        return record
    }

    private func note(dropped part: RecorderQueue.DroppedPart) {
        cut[part.exchange, default: []].insert(part.side.incompleteFlag)
        summary.droppedBytes += Int64(part.bytes)
    }

    // MARK: - Rows

    /// Writes the narrow rows of all exchanges that something happened to, in the order of their numbers.
    ///
    /// The order keeps the table's pages full: several loops end their exchanges in any order.
    private func writeRows() throws {
        guard let writer else { return }
        for exchange in touched where !exchange.hasEnded {
            exchange.isTouched = false
            for side in BodySide.allCases { exchange.tails[side].compact() }
            guard let (record, messages) = exchange.unwritten else { continue }
            let payload = try writer.writeOpenPayload(messages, of: record.id)
            ended.append(EndedExchange(record: record, payload: payload, isNew: !exchange.isStored))
            exchange.unwritten = nil
            exchange.isStored = true
        }
        // Sorting numbers and not rows: a row is half a kilobyte.
        let order = ended.indices.sorted { ended[$0].record.id < ended[$1].record.id }
        for index in order {
            try writer.write(ended[index].record, payload: ended[index].payload, isNew: ended[index].isNew)
        }
        for connection in connections.values.sorted(by: { $0.id.number < $1.id.number }) {
            try writer.write(connection)
        }
    }

    /// Makes what open exchanges have waiting in memory visible to readers.
    private func sweep(at time: UInt64) throws {
        let isFull = tailBytes > RecorderLimits.tailBytes
        lastSweep = time
        var oldest = UInt64.max
        for exchange in open.values where exchange.tails.count > 0 {
            guard isFull || exchange.openedAt + tailNanoseconds <= time else {
                oldest = min(oldest, exchange.openedAt)
                continue
            }
            tailBytes -= exchange.tails.count
            for side in BodySide.allCases { try flush(side, of: exchange) }
        }
        nextSweep = oldest == .max ? time + tailNanoseconds : oldest + tailNanoseconds
    }

    private func endRun(of session: WritableSession) {
        transact(session) {
            guard let writer else { return }
            for exchange in open.values {
                for side in BodySide.allCases { try flush(side, of: exchange) }
            }
            try writer.endRun(
                at: wallClock(),
                notRecorded: summary.notRecorded,
                droppedBytes: summary.droppedBytes
            )
        }
    }

    // MARK: - Failure

    private func write(to session: WritableSession?, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if let session { fail(error, session) }
        }
    }

    /// Ends the writing for good; what was committed stays, the traffic goes on.
    private func fail(_ error: any Error, _ session: WritableSession) {
        writer?.rollback()
        writer = nil
        open = [:]
        tailBytes = 0
        guard summary.error == nil else { return }
        let told =
            switch error {
            case let error as SessionError: error
            case let error as DatabaseError: SessionError.writing(session.path, error)
            default: SessionError(.writeFailed, "The session \(session.path) cannot be written any more: \(error).")
            }
        summary.error = told
        onFailure?(told)
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

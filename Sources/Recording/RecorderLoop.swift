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
    /// Body bytes of open exchanges that are not in the file.
    private var tailBytes = 0
    /// How many open exchanges have something that waits to be written.
    private var waiting = 0
    /// When the first of them has waited long enough, or would have, had it not ended meanwhile.
    private var nextSweep = UInt64.max
    /// Whether somebody waits until nothing waits any more.
    private var isFlushing = false
    private var nextCheck: UInt64 = 0
    /// Credit that events have held since memory was last given back.
    private var takenBytes = 0
    /// Whether exchanges that begin are recorded.
    private var isRecording: Bool
    /// Which of them are, by the rules in force; `nil` for all.
    private var admits: (@Sendable (RequestURL) -> Bool)?
    /// Exchanges that are not recorded, until they end.
    private var unrecorded: Set<ExchangeID> = []
    /// What is known of open connections that no recorded exchange has used, and of the last that were closed.
    private var unusedConnections: [ConnectionID: ConnectionRecord] = [:]
    private var closedConnections: [ConnectionID] = []
    /// The open connections that have a row.
    private var usedConnections: Set<ConnectionID> = []
    /// The edits that are to be made, the first one in progress.
    private var edits: [RecorderQueue.EditOrder] = []
    private var editing: SessionEditing?
    private var history = DeletionHistory()

    private struct EndedExchange {
        var record: ExchangeRecord
        var payload: Int64
        var isNew: Bool
    }

    init(
        _ queue: RecorderQueue,
        _ outcome: Outcome,
        tailNanoseconds: UInt64,
        isRecording: Bool,
        onFinished: (@Sendable ([ExchangeRecord]) -> Void)?,
        onFailure: (@Sendable (SessionError) -> Void)?
    ) {
        self.queue = queue
        self.outcome = outcome
        self.tailNanoseconds = tailNanoseconds
        self.isRecording = isRecording
        self.onFinished = onFinished
        self.onFailure = onFailure
    }

    /// Runs until the queue is closed and empty.
    func run(_ session: WritableSession?) {
        summary.path = session?.path
        if let session {
            session.database.writeWithoutTransaction { database in
                write(to: session) {
                    writer = try SessionWriter(database, path: session.path, session.start)
                }
                takeAll(session)
                if writer != nil { check(session, at: DispatchTime.now().uptimeNanoseconds) }
                endRun(of: session)
                removeDeleted()
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
            var deadline = waiting > 0 ? DispatchTime(uptimeNanoseconds: nextSweep) : nil
            if takenBytes > RecorderLimits.trimBytes {
                let quiet = DispatchTime.now() + RecorderLimits.trimDelay
                deadline = deadline.map { min($0, quiet) } ?? quiet
            }
            if !edits.isEmpty { deadline = .now() }
            var drain = queue.next(deadline: deadline)
            if drain.batches.isEmpty, takenBytes > RecorderLimits.trimBytes {
                // What the event loops allocate and this thread frees stays with glibc's heaps otherwise, as large as
                // the longest backlog was.
                takenBytes = 0
                sluice_release_memory()
            }
            takenBytes += drain.batches.reduce(0) { $0 + $1.cost }
            isFlushing = !drain.flushes.isEmpty
            process(&drain.batches, session)
            repeat { edit(session) } while drain.isLast && !edits.isEmpty
            for flush in drain.flushes { flush.signal() }
            isLast = drain.isLast
        }
    }

    /// Writes what came, then tells the observer. A long backlog is written in several transactions.
    private func process(_ batches: inout [RecorderQueue.Batch], _ session: WritableSession?) {
        // Taken from the end, so that each batch's memory goes as soon as it is written.
        batches.reverse()
        while !batches.isEmpty || isSweepDue(at: DispatchTime.now().uptimeNanoseconds) {
            var finished: [ExchangeRecord] = []
            var written = 0
            let begin = DispatchTime.now().uptimeNanoseconds
            transact(session) {
                var now = begin
                while now - begin < RecorderLimits.transactionNanoseconds, let batch = batches.popLast() {
                    for part in batch.dropped { note(dropped: part) }
                    for event in batch.events {
                        // What is imported is no traffic.
                        if case .finished(let record, _) = event, record.extras.origin == nil {
                            finished.append(count(record))
                        }
                        write(to: session) { try handle(event, at: now) }
                    }
                    take(batch, session)
                    written += batch.cost
                    now = DispatchTime.now().uptimeNanoseconds
                }
                if isSweepDue(at: now) { try sweep(at: now) }
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

    /// Looks once a second, and at the end, whether the file is still there, and the log within its limit.
    private func check(_ session: WritableSession, at time: UInt64) {
        nextCheck = time + 1_000_000_000
        guard session.isInPlace else {
            // What was written into a file that was only moved is still in it.
            if session.isRemoved { summary.notRecorded = summary.exchanges }
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
        case .connection(let connection): take(connection)
        case .opened(let record, let messages):
            guard isToBeRecorded(record) else { return }
            let exchange = OpenExchange(record.id)
            exchange.update(record, messages)
            open[record.id] = exchange
            touch(exchange)
        case .updated(let record, let messages):
            guard let exchange = open[record.id] else { return }
            exchange.update(record, messages)
            touch(exchange)
        case .body(let id, let side, let part):
            guard let exchange = open[id] else { return }
            try append(part, side, to: exchange, at: time)
        case .arrival(let id, let side, let offset, let arrivedAt):
            guard let exchange = open[id], !isCut(id, side) else { return }
            exchange.isStream = true
            exchange.arrivals.append((side, Arrival(offset: offset, at: arrivedAt)))
            if exchange.arrivals.count == RecorderLimits.waitingArrivals { try writeArrivals(of: exchange) }
            hold(exchange, at: time)
        case .progress(let id, let tally, let sizes):
            guard let exchange = open[id] else { return }
            exchange.isStream = true
            exchange.update(StreamCounts(tally: tally, sizes: sizes))
            if exchange.hasUnwrittenCounts { hold(exchange, at: time) }
        case .finished(let record, let messages): try finish(record, messages)
        }
    }

    /// Takes what a batch has in place of events.
    private func take(_ batch: RecorderQueue.Batch, _ session: WritableSession?) {
        if let rules = batch.rules {
            admits = rules.admits
            write(to: session) { try writer?.write(rules) }
        }
        if let order = batch.edit { edits.append(order) }
        if let isRecording = batch.isRecording { self.isRecording = isRecording }
        guard recordsAll, !unusedConnections.isEmpty else { return }
        // Those that come may use what was opened meanwhile.
        for (id, connection) in unusedConnections { note(connection, id) }
        (unusedConnections, closedConnections) = ([:], [])
    }

    /// Whether every exchange that begins is recorded, so that every connection is.
    private var recordsAll: Bool { isRecording && admits == nil }

    /// Decides, once for each exchange, whether it is recorded; counts it where it is not.
    private func isToBeRecorded(_ record: ExchangeRecord) -> Bool {
        if record.extras.origin != nil || isRecording && admits?(record.url) ?? true { return true }
        unrecorded.insert(record.id)
        if isRecording {
            summary.leftOut = outcome.leftOut.add(1, ordering: .relaxed).newValue
        } else {
            summary.passed = outcome.passed.add(1, ordering: .relaxed).newValue
        }
        return false
    }

    /// Takes what is known of a connection; one that might have no recorded exchange waits for one.
    private func take(_ connection: ConnectionRecord) {
        let id = connection.id
        if recordsAll || usedConnections.contains(id) || connections[id] != nil { return note(connection, id) }
        unusedConnections[id] = connection
        guard connection.closedAt != nil else { return }
        // An exchange may end after its connections, but with a thousand newer ones closed it is another's.
        closedConnections.append(id)
        guard closedConnections.count > 2_048 else { return }
        for id in closedConnections.prefix(1_024) { unusedConnections[id] = nil }
        closedConnections.removeFirst(1_024)
    }

    /// Has a connection's row written.
    private func note(_ connection: ConnectionRecord, _ id: ConnectionID) {
        connections[id] = connection
        if connection.closedAt == nil { usedConnections.insert(id) } else { usedConnections.remove(id) }
    }

    private func useConnections(of record: ExchangeRecord) {
        guard !unusedConnections.isEmpty else { return }
        for id in [record.clientConnection, record.upstreamConnection] {
            if let id, let connection = unusedConnections.removeValue(forKey: id) { note(connection, id) }
        }
    }

    private func touch(_ exchange: OpenExchange) {
        guard !exchange.isTouched else { return }
        exchange.isTouched = true
        touched.append(exchange)
    }

    private func append(_ part: ByteBuffer, _ side: BodySide, to exchange: OpenExchange, at time: UInt64) throws {
        if isCut(exchange.id, side) {
            summary.droppedBytes += Int64(part.readableBytes)
            return
        }
        touch(exchange)
        let before = exchange.tails[side].waiting
        try exchange.tails[side].append(part) { chunk, offset in
            try writeArrivals(of: exchange)
            try writer?.writeChunk(chunk, of: exchange.id, side: side, offset: offset)
        }
        let after = exchange.tails[side].waiting
        tailBytes += after - before
        if after > 0 { hold(exchange, at: time) }
    }

    /// Writes when bytes arrived, no later than the bytes.
    private func writeArrivals(of exchange: OpenExchange) throws {
        for (side, arrival) in exchange.arrivals { try writer?.write(arrival, of: exchange.id, side: side) }
        // Not keeping the capacity, which a thousand open streams would add up.
        exchange.arrivals = []
    }

    private func isCut(_ id: ExchangeID, _ side: BodySide) -> Bool {
        !cut.isEmpty && cut[id]?.contains(side.incompleteFlag) == true
    }

    private func finish(_ record: ExchangeRecord, _ messages: ExchangeMessages) throws {
        guard let writer, unrecorded.remove(record.id) == nil else { return }
        useConnections(of: record)
        var record = record
        let exchange = open.removeValue(forKey: record.id) ?? OpenExchange(record.id)
        exchange.hasEnded = true
        if !cut.isEmpty, let flags = cut.removeValue(forKey: record.id) { record.flags.formUnion(flags) }

        release(exchange)
        try writeArrivals(of: exchange)
        let bodies = try BodySide.allCases.map { try inlineBody($0, of: exchange) }
        let payload = try writer.writePayload(messages, bodies: bodies)
        if exchange.isStored { try writer.removeOpenPayload(of: record.id) }
        ended.append(EndedExchange(record: record, payload: payload, isNew: !exchange.isStored))
    }

    /// A short body as the payload row takes it; the rest of a long one is written as its last chunk.
    private func inlineBody(_ side: BodySide, of exchange: OpenExchange) throws -> ByteBuffer? {
        if exchange.tails[side].isShort { return exchange.tails[side].bytes }
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

    /// Writes the narrow rows of all exchanges that something happened to, in the order of their numbers. The order
    /// keeps the table's pages full: several loops end their exchanges in any order.
    private func writeRows() throws {
        guard let writer else { return }
        for exchange in touched where !exchange.hasEnded {
            exchange.isTouched = false
            for side in BodySide.allCases { exchange.tails[side].compact() }
            guard let (record, messages) = exchange.unwritten else { continue }
            useConnections(of: record)
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

    // MARK: - What waits

    /// How long something of an exchange may wait in memory.
    private func patience(with exchange: OpenExchange) -> UInt64 {
        exchange.isStream ? min(RecorderLimits.streamTailNanoseconds, tailNanoseconds) : tailNanoseconds
    }

    /// Notes that something of an exchange waits.
    private func hold(_ exchange: OpenExchange, at time: UInt64) {
        if exchange.waitsSince == nil { waiting += 1 }
        let since = exchange.waitsSince ?? time
        exchange.waitsSince = since
        nextSweep = min(nextSweep, since + patience(with: exchange))
    }

    /// Notes that nothing of an exchange will wait any longer.
    private func release(_ exchange: OpenExchange) {
        guard exchange.waitsSince != nil else { return }
        exchange.waitsSince = nil
        waiting -= 1
        tailBytes -= exchange.tails.waiting
    }

    private func isSweepDue(at time: UInt64) -> Bool {
        waiting > 0 && (time >= nextSweep || tailBytes > RecorderLimits.tailBytes || isFlushing)
    }

    /// Makes what open exchanges have waiting visible to readers. What has waited for half of its time goes along, so
    /// that many exchanges do not make as many transactions.
    private func sweep(at time: UInt64) throws {
        let takesAll = isFlushing || tailBytes > RecorderLimits.tailBytes
        nextSweep = .max
        for exchange in open.values {
            guard let since = exchange.waitsSince else { continue }
            let patience = patience(with: exchange)
            if takesAll || time >= since + patience / 2 {
                try writeOut(exchange)
            } else {
                nextSweep = min(nextSweep, since + patience)
            }
        }
    }

    /// Writes whatever waits of an open exchange, its record excepted.
    private func writeOut(_ exchange: OpenExchange) throws {
        release(exchange)
        try writeArrivals(of: exchange)
        for side in BodySide.allCases { try flush(side, of: exchange) }
        if exchange.hasUnwrittenCounts, let counts = exchange.counts { try writer?.write(counts, of: exchange.id) }
        exchange.hasUnwrittenCounts = false
    }

    private func endRun(of session: WritableSession) {
        transact(session) {
            guard let writer else { return }
            for exchange in open.values { try writeOut(exchange) }
            try writer.endRun(at: wallClock(), notRecorded: summary.notRecorded, droppedBytes: summary.droppedBytes)
        }
    }

    // MARK: - Edits

    /// Goes on with the first edit for a while, in a transaction of its own.
    private func edit(_ session: WritableSession?) {
        guard let order = edits.first else { return }
        var problem: SessionError?
        if let writer {
            do {
                if editing == nil { editing = try writer.begin(order.edit, &history) }
            } catch {
                problem = error as? SessionError ?? (error as? DatabaseError).map { .editing(session?.path ?? "", $0) }
            }
            if problem == nil {
                transact(session) {
                    if editing != nil { try writer.edit(&editing) }
                }
            }
        }
        if self.writer == nil { problem = problem ?? summary.error ?? .nothingRecorded }
        guard problem != nil || editing?.isDone == true else { return }
        edits.removeFirst()
        let result = editing?.result ?? SessionEditResult()
        editing = nil
        outcome.edits.add(1, ordering: .releasing)
        order.done(problem.map { .failure($0) } ?? .success(result))
    }

    private func removeDeleted() {
        guard let writer else { return }
        do {
            try writer.removeDeleted()
        } catch {
            summary.removingError = error as? SessionError
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
        (open, unrecorded) = ([:], [])
        waiting = 0
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

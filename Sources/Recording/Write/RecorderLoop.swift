import CMalloc
import Dispatch
import GRDB
import HTTPModel
import NIOCore
import Synchronization

/// The recorder's thread.
final class RecorderLoop {
    private let queue: RecorderQueue
    private let outcome: Outcome
    private let configuration: RecorderConfiguration
    private let callbacks: RecorderCallbacks

    /// The last file records new exchanges; earlier files of a rotation still have exchanges in flight. Empty if no
    /// session can be written.
    private var recordings: [SessionRecording] = []
    /// Open sessions, even if they cannot be written.
    private var sessions: [WritableSession] = []
    private var rotating: RotatingSessions?
    private let closer = SessionCloser()
    private var summary = RecorderSummary()
    private var cut: [ExchangeID: ExchangeRecord.Flags] = [:]
    /// Whether a caller waits until everything is written.
    private var isFlushing = false
    private var nextCheck: UInt64 = 0
    /// Cost of the batches since memory was last returned to the system, in bytes.
    private var takenBytes = 0
    private var isRecording: Bool
    /// `nil` records all exchanges.
    private var admits: (@Sendable (RequestURL) -> Bool)?
    private var unrecorded: Set<ExchangeID> = []
    private var edits: [RecorderQueue.EditOrder] = []
    private var editing: SessionEditing?
    private var history = DeletionHistory()
    private var hasToldOfDropping = false

    init(
        _ queue: RecorderQueue,
        _ outcome: Outcome,
        _ configuration: RecorderConfiguration,
        _ callbacks: RecorderCallbacks
    ) {
        (self.queue, self.outcome, self.configuration) = (queue, outcome, configuration)
        self.callbacks = callbacks
        isRecording = configuration.isRecording
    }

    private var current: SessionRecording? { recordings.last }

    func run(_ session: WritableSession?) {
        summary.path = session?.path
        if let session {
            rotating = configuration.rotation.map { RotatingSessions($0, first: session) }
            sessions = [session]
            attempt { recordings = [try recording(of: session)] }
            prune()
        }
        takeAll()
        if let current { check(current, at: DispatchTime.now().uptimeNanoseconds) }
        attempt { for recording in recordings { try end(recording) } }
        // Statements must be released before their database.
        recordings = []
        closer.wait()
        for session in sessions { closer.close(session, isWhole: summary.error == nil) }
        closer.wait()
        (summary.removingError, summary.error) = closer.problems(after: summary.error)
        outcome.end(summary)
    }

    private func recording(
        of session: WritableSession,
        connections: [ConnectionID: ConnectionRecord] = [:]
    ) throws -> SessionRecording {
        let limit = try configuration.largestSession.map {
            try SessionLimit(
                largest: $0,
                words: configuration.largestSessionText,
                isNeeded: configuration.isNeeded,
                onRemoved: configuration.onRemoved
            )
        }
        let tail = UInt64(max(0, configuration.tailMilliseconds)) * 1_000_000
        let recording = try SessionRecording(session, tailNanoseconds: tail, limit: limit, connections: connections)
        recording.droppedBefore = summary.droppedBytes
        return recording
    }

    private func takeAll() {
        var isLast = false
        while !isLast {
            var moments: [UInt64] = recordings.filter(\.isWaiting).map(\.nextSweep)
            if let moment = rotating?.due(current) { moments.append(moment) }
            var deadline = moments.min().map { DispatchTime(uptimeNanoseconds: $0) }
            if takenBytes > RecorderLimits.trimBytes {
                let quiet = DispatchTime.now() + RecorderLimits.trimDelay
                deadline = deadline.map { min($0, quiet) } ?? quiet
            }
            if !edits.isEmpty { deadline = .now() }
            var drain = queue.next(deadline: deadline)
            if drain.batches.isEmpty, takenBytes > RecorderLimits.trimBytes {
                // glibc would keep the memory of the longest backlog, which event loops allocate and this thread frees.
                takenBytes = 0
                sluice_release_memory()
            }
            takenBytes += drain.batches.reduce(0) { $0 + $1.cost }
            isFlushing = !drain.flushes.isEmpty
            process(&drain.batches)
            repeat { edit() } while drain.isLast && !edits.isEmpty
            for flush in drain.flushes { flush.signal() }
            isLast = drain.isLast
        }
    }

    /// A long backlog takes several transactions.
    private func process(_ batches: inout [RecorderQueue.Batch]) {
        // Removing from the end frees each written batch.
        batches.reverse()
        while !batches.isEmpty || isSweepDue(at: DispatchTime.now().uptimeNanoseconds) {
            var finished: [RecordedExchange] = []
            var written = 0
            let begin = DispatchTime.now().uptimeNanoseconds
            transact {
                var now = begin
                while now - begin < RecorderLimits.transactionNanoseconds, let batch = batches.popLast() {
                    for part in batch.dropped { note(dropped: part) }
                    for event in batch.events {
                        // Imported exchanges do not count as traffic.
                        if case .finished(let record, let messages) = event, record.extras.origin == nil {
                            let isUnrecorded = !unrecorded.isEmpty && unrecorded.contains(record.id)
                            let session = isUnrecorded ? nil : owner(of: record.id)?.session.start.identifier
                            finished.append(
                                RecordedExchange(
                                    record: count(record),
                                    messages: messages,
                                    isUnrecorded: isUnrecorded,
                                    session: session
                                )
                            )
                        }
                        attempt { try handle(event, at: now) }
                    }
                    take(batch)
                    written += batch.cost
                    now = DispatchTime.now().uptimeNanoseconds
                }
                if isSweepDue(at: now) { try sweep(at: now) }
            }
            // Credit returns only now, because open exchanges keep written bytes until the transaction ends.
            queue.giveBack(written)
            if recordings.isEmpty {
                summary.notRecorded += sessions.isEmpty ? 0 : finished.count
                cut = [:]
            }
            if !finished.isEmpty { callbacks.onFinished?(finished) }
            endRotated()
            rotateIfDue()
        }
        rotateIfDue()
        let end = DispatchTime.now().uptimeNanoseconds
        if let current, end >= nextCheck { check(current, at: end) }
    }

    private func transact(_ work: () throws -> Void) {
        let start = DispatchTime.now().uptimeNanoseconds
        attempt {
            try work()
            for recording in recordings { try recording.commit() }
        }
        tellOfDropping()
        outcome.revision.add(1, ordering: .releasing)
        let end = DispatchTime.now().uptimeNanoseconds
        summary.longestWrite = max(summary.longestWrite, Int64((end - start) / 1_000))
    }

    /// Called once a second and at the end: fails if the file is no longer at its path, and shortens a long log.
    private func check(_ recording: SessionRecording, at time: UInt64) {
        nextCheck = time + 1_000_000_000
        let session = recording.session
        guard session.isInPlace else {
            // A moved file still contains everything.
            if session.isRemoved { summary.notRecorded = summary.exchanges }
            let message = "The session \(session.path) was removed or replaced while recording."
            return fail(SessionError(.writeFailed, message, hint: "Start again."))
        }
        let largest = RecorderLimits.logBytes(ofSession: configuration.largestSession)
        attempt { try recording.writer.truncateLog(above: largest) }
    }

    // MARK: - Events

    private func handle(_ event: RecordEvent, at time: UInt64) throws {
        guard let current else { return }
        switch event {
        case .connection(let connection):
            rotating?.note(connection)
            for recording in recordings.dropLast() { recording.take(connection, all: recordsAll, isFinished: true) }
            current.take(connection, all: recordsAll)
        case .opened(let record, let messages):
            guard isToBeRecorded(record) else { return }
            rotating?.note(record.id)
            current.begin(record, messages)
        case .updated(let record, let messages): owner(of: record.id)?.update(record, messages)
        case .body(let id, let side, let part):
            guard let owner = owner(of: id), owner.open[id] != nil else { return }
            guard !isCut(id, side) else {
                summary.droppedBytes += Int64(part.readableBytes)
                return
            }
            try owner.append(part, side, to: id, at: time)
        case .arrival(let id, let side, let offset, let arrivedAt):
            guard !isCut(id, side) else { return }
            try owner(of: id)?.add(Arrival(offset: offset, at: arrivedAt), side, of: id, at: time)
        case .progress(let id, let tally, let sizes):
            owner(of: id)?.update(StreamCounts(tally: tally, sizes: sizes), of: id, at: time)
        case .finished(let record, let messages):
            guard unrecorded.remove(record.id) == nil else { return }
            rotating?.note(record.id)
            var record = record
            if !cut.isEmpty, let flags = cut.removeValue(forKey: record.id) { record.flags.formUnion(flags) }
            try owner(of: record.id)?.finish(record, messages)
        // Recorded exchanges are in exactly one of these files.
        case .identified(let id, let process): for recording in recordings { recording.identify(id, process) }
        }
    }

    private func owner(of id: ExchangeID) -> SessionRecording? {
        guard recordings.count > 1 else { return current }
        return recordings.first { $0.open[id] != nil } ?? current
    }

    private func take(_ batch: RecorderQueue.Batch) {
        if let rules = batch.rules {
            admits = rules.admits
            rotating?.rules = rules
            attempt { try current?.write(rules) }
        }
        if let order = batch.edit { edits.append(order) }
        if let isRecording = batch.isRecording { self.isRecording = isRecording }
        // Later exchanges may use a connection opened in the meantime.
        if recordsAll { current?.useAllConnections() }
    }

    private var recordsAll: Bool { isRecording && admits == nil }

    /// Decides once for each exchange, and counts unrecorded ones.
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

    private func isCut(_ id: ExchangeID, _ side: BodySide) -> Bool {
        !cut.isEmpty && cut[id]?.contains(side.incompleteFlag) == true
    }

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

    // MARK: - Waiting data

    private func takesAll() -> Bool {
        isFlushing || recordings.reduce(0) { $0 + $1.tailBytes } > RecorderLimits.tailBytes
    }

    private func isSweepDue(at time: UInt64) -> Bool {
        let takesAll = takesAll()
        return recordings.contains { $0.isSweepDue(at: time, takesAll: takesAll) }
    }

    private func sweep(at time: UInt64) throws {
        let takesAll = takesAll()
        for recording in recordings where recording.isSweepDue(at: time, takesAll: takesAll) {
            try recording.sweep(at: time, takesAll: takesAll)
        }
    }

    // MARK: - Rotation

    /// Exchanges in flight stay in their file.
    private func rotateIfDue() {
        let now = DispatchTime.now().uptimeNanoseconds
        // A running edit must end in the file in which it began.
        guard edits.isEmpty, let current, let due = rotating?.due(current), due <= now else { return }
        guard recordings.count <= RecorderLimits.mostEarlierFiles else {
            rotating?.pause(until: now + RecorderLimits.rotationPauseNanoseconds)
            return
        }
        do {
            guard let session = try rotating?.next(configuration) else { return }
            sessions.append(session)
            let recording = try recording(of: session, connections: rotating?.connections ?? [:])
            if let rules = rotating?.rules { try recording.write(rules) }
            try recording.commit()
            recordings.append(recording)
        } catch {
            rotating?.delay(until: now + RecorderLimits.rotationRetryNanoseconds)
            if rotating?.isFirstFailure == true {
                callbacks.onRemark?(.cannotRotate(current.session.path, told(error, current.session.path)))
            }
            return
        }
        rotating?.begin(at: now)
        history = DeletionHistory()
        let path = self.current?.session.path
        if let old = summary.path { summary.earlierPaths.append(old) }
        summary.path = path
        outcome.path.withLock { $0 = path }
        outcome.revision.add(1, ordering: .releasing)
        if let path { callbacks.onRemark?(.rotated(from: current.session.path, to: path)) }
        endRotated()
    }

    /// Ends earlier files that have no exchanges in flight any more.
    private func endRotated() {
        guard recordings.count > 1 else { return }
        let done = recordings.dropLast().filter(\.open.isEmpty)
        guard !done.isEmpty else { return }
        attempt {
            for recording in done {
                try end(recording)
                let session = recording.session
                recordings.removeAll { $0 === recording }
                sessions.removeAll { $0.path == session.path }
                closer.close(session, isWhole: true)
            }
        }
        prune()
    }

    private func prune() {
        guard let series = rotating?.series, series.rotation.keep != nil else { return }
        let (count, onRemark) = (max(1, recordings.count), callbacks.onRemark)
        closer.then {
            let removed = series.prune(current: count)
            if !removed.isEmpty { onRemark?(.removed(removed)) }
        }
    }

    private func end(_ recording: SessionRecording) throws {
        summary.droppedBodies += recording.limit?.dropped ?? 0
        summary.removedExchanges += recording.limit?.removed ?? 0
        let dropped = summary.droppedBytes - recording.droppedBefore
        try recording.end(notRecorded: summary.notRecorded, droppedBytes: dropped)
    }

    private func tellOfDropping() {
        guard !hasToldOfDropping, let largest = configuration.largestSession else { return }
        guard let recording = recordings.first(where: { $0.limit?.hasDropped == true }) else { return }
        hasToldOfDropping = true
        callbacks.onRemark?(.dropping(recording.session.path, largest: largest))
    }

    // MARK: - Edits

    private func edit() {
        guard let order = edits.first else { return }
        var problem: SessionError?
        if let current {
            do {
                if editing == nil { editing = try current.writer.begin(order.edit, &history) }
            } catch {
                problem = error as? SessionError ?? (error as? DatabaseError).map { .editing(current.session.path, $0) }
            }
            if problem == nil {
                transact {
                    guard editing != nil else { return }
                    try current.writer.beginTransaction()
                    try current.writer.edit(&editing)
                }
            }
        }
        if recordings.isEmpty { problem = problem ?? summary.error ?? .nothingRecorded }
        guard problem != nil || editing?.isDone == true else { return }
        edits.removeFirst()
        let result = editing?.result ?? SessionEditResult()
        editing = nil
        outcome.edits.add(1, ordering: .releasing)
        order.done(problem.map { .failure($0) } ?? .success(result))
    }

    // MARK: - Failure

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            fail(error)
        }
    }

    /// Ends the recording for good; committed rows stay in the file, and the traffic continues.
    private func fail(_ error: any Error) {
        let path = current?.session.path ?? summary.path ?? ""
        for recording in recordings { recording.writer.rollback() }
        (recordings, unrecorded) = ([], [])
        guard summary.error == nil else { return }
        let told = told(error, path)
        summary.error = told
        callbacks.onFailure?(told)
    }

    private func told(_ error: any Error, _ path: String) -> SessionError {
        let told =
            switch error {
            case let error as SessionError: error
            case let error as DatabaseError: SessionError.writing(path, error)
            default: SessionError(.writeFailed, "The session \(path) cannot be written any more: \(error).")
            }
        guard configuration.isTraffic, told.code == .writeFailed else { return told }
        return SessionError(.writeFailed, "\(told.message) Traffic goes on unrecorded.", hint: told.hint)
    }
}

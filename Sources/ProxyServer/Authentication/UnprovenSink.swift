import ExchangeCore
import HTTPModel
import NIOCore
import Synchronization

/// Records an exchange whose client is not authenticated yet; of refused exchanges only a few, and little of each.
final class UnprovenSink: RecordSink {
    private enum State {
        /// `hasBegun` after the beginning was recorded. Successors: all.
        case waiting([RecordEvent], hasBegun: Bool)
        case accepted
        case refused(unrecorded: Int)
        case discarded
    }

    private let sink: any RecordSink
    private let refusals: RefusedRecords
    private let client: ClientKey
    private let eventLoop: any EventLoop
    private var state = State.waiting([], hasBegun: false)

    init(_ connection: ClientConnection) {
        sink = connection.loop.recorder
        refusals = connection.loop.shared.refusedRecords
        client = connection.identity.key
        eventLoop = connection.loop.eventLoop
    }

    func record(_ event: RecordEvent) {
        switch state {
        case .accepted: sink.record(event)
        case .discarded: break
        case .refused(let unrecorded): recordLittle(event, unrecorded)
        case .waiting(let events, var hasBegun):
            if case .opened = event, refusals.hasRoom(for: client, now: eventLoop.now) {
                hasBegun = true
                recordLittle(event, 0)
            }
            state = .waiting(events + [event], hasBegun: hasBegun)
            if case .finished = event { decided(isAccepted: false) }
        }
    }

    func decided(isAccepted: Bool) {
        guard case .waiting(let events, let hasBegun) = state else { return }
        if isAccepted {
            state = .accepted
        } else if let unrecorded = refusals.count(client, now: eventLoop.now, isRecorded: hasBegun) {
            state = .refused(unrecorded: unrecorded)
        } else {
            state = .discarded
        }
        for event in events {
            guard hasBegun, case .opened(let record, let messages) = event else {
                self.record(event)
                continue
            }
            if isAccepted { sink.record(.updated(record, messages)) }
        }
    }

    private func recordLittle(_ event: RecordEvent, _ unrecorded: Int) {
        func recordLittle(
            _ event: (ExchangeRecord, ExchangeMessages) -> RecordEvent,
            _ record: ExchangeRecord,
            _ messages: ExchangeMessages
        ) {
            var (record, messages) = (record, messages)
            RefusedRecords.abridge(&record, &messages, unrecorded)
            if record.sizes.requestBody > 0 { record.flags.insert(.requestBodyIncomplete) }
            sink.record(event(record, messages))
        }
        switch event {
        case .opened(let record, let messages): recordLittle(RecordEvent.opened, record, messages)
        case .updated(let record, let messages): recordLittle(RecordEvent.updated, record, messages)
        case .finished(let record, let messages): recordLittle(RecordEvent.finished, record, messages)
        case .body(_, .requestReceived, _), .body(_, .requestSent, _): break
        case .connection, .body, .arrival, .progress, .identified: sink.record(event)
        }
    }
}

/// Limits recorded refusals of a client: a hundred, then one a second.
final class RefusedRecords: Sendable {
    private struct Refusals {
        var room = RefusedRecords.burst
        var at: NIODeadline
        var unrecorded = 0
    }

    static let burst = 100.0
    private static let mostClients = 10_000

    private let clients = Mutex<[ClientKey: Refusals]>([:])

    func hasRoom(for client: ClientKey, now: NIODeadline) -> Bool {
        clients.withLock { $0[client].map { RefusedRecords.refilled($0, now).room >= 1 } ?? true }
    }

    /// Returns how many refusals before this one were not recorded; `nil` if it is not recorded either.
    func count(_ client: ClientKey, now: NIODeadline, isRecorded: Bool = false) -> Int? {
        clients.withLock { clients in
            if clients[client] == nil, clients.count >= RefusedRecords.mostClients { clients = [:] }
            var refusals = RefusedRecords.refilled(clients[client] ?? Refusals(at: now), now)
            defer { clients[client] = refusals }
            guard isRecorded || refusals.room >= 1 else {
                refusals.unrecorded += 1
                return nil
            }
            defer { refusals.unrecorded = 0 }
            refusals.room = max(0, refusals.room - 1)
            return refusals.unrecorded
        }
    }

    private static func refilled(_ refusals: Refusals, _ now: NIODeadline) -> Refusals {
        var refusals = refusals
        refusals.room = min(burst, refusals.room + max(0, Double((now - refusals.at).nanoseconds) / 1e9))
        refusals.at = now
        return refusals
    }

    /// Leaves little of a refused exchange, with a note about earlier ones that were not recorded.
    static func abridge(_ record: inout ExchangeRecord, _ messages: inout ExchangeMessages, _ unrecorded: Int) {
        record.abridge()
        messages.abridge()
        guard unrecorded > 0 else { return }
        let text = "\(unrecorded) refused requests of this client before this one are not recorded"
        messages.trace.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
    }
}

import Console
import Dispatch
import Foundation
import HTTPModel
import NIOCore
import Recording
import Synchronization
import Testing

/// A session in a directory of its own, a recorder that writes it, and a service that looks at it.
final class QueryFixture {
    let path: String
    let recorder: Recorder
    let service: QueryService
    let events = QueryEvents()
    private let directory: URL
    private let producer: RecorderProducer
    private(set) var generation = 0

    /// Makes a session with some exchanges, and opens it.
    init(_ records: [ExchangeRecord] = []) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "sluice-service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        path = directory.path + "/test.sluice"
        recorder = try Recorder(RecorderConfiguration(path: path))
        producer = recorder.makeProducer {}
        _ = producer.submit(records.flatMap(QueryFixture.events), cost: 1)
        recorder.flush()
        service = try QueryService(path: path) { [events] in events.put($0) }
    }

    deinit {
        recorder.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Records some events and waits until they are in the file.
    func record(_ events: [RecordEvent]) {
        _ = producer.submit(events, cost: 1)
        recorder.flush()
    }

    func record(_ records: [ExchangeRecord]) { record(records.flatMap(QueryFixture.events)) }

    private static func events(_ record: ExchangeRecord) -> [RecordEvent] {
        record.state == .inFlight
            ? [.opened(record, ExchangeMessages())]
            : [.opened(record, ExchangeMessages()), .finished(record, ExchangeMessages())]
    }

    /// Asks for a list and waits until it is whole; returns its status.
    @discardableResult
    func ask(_ filter: String = "", _ change: (inout ListQuery) -> Void = { _ in }) throws -> ListStatus {
        var query = ListQuery()
        query.filter = try Filter(filter)
        change(&query)
        generation += 1
        service.setQuery(query, generation: generation)
        return try status()
    }

    /// Waits for the present list to be whole.
    func status(where isIt: (ListStatus) -> Bool = { _ in true }) throws -> ListStatus {
        try events.next { event in
            guard case .list(let status) = event, status.generation == generation, status.progress == nil else {
                return nil
            }
            return isIt(status) ? status : nil
        }
    }

    /// The numbers of the list, oldest first as a rule.
    func numbers(_ count: Int = 100) throws -> [Int64?] { try rows(count).map { $0?.id.number } }

    /// The rows of the list in its order.
    func rows(_ count: Int = 100) throws -> [ExchangeRecord?] {
        service.load(last: 0..<count, generation: generation)
        return try events.next { event -> [ExchangeRecord?]? in
            guard case .rows(generation, first: 0, let rows) = event else { return nil }
            return rows
        }.reversed()
    }

    /// Goes to the next row of a kind; returns its distance from the end.
    func find(_ kind: JumpKind, from: Int, forward: Bool) throws -> Int? {
        service.find(kind, from: from, forward: forward, generation: generation)
        return try events.next { event -> Int?? in
            guard case .found(generation, let index) = event else { return nil }
            return .some(index)
        }
    }

    /// Where an exchange is, as a distance from the end.
    func place(of number: Int64) throws -> Int? {
        service.locate(ExchangeID(number), generation: generation)
        return try events.next { event -> Int?? in
            guard case .position(generation, ExchangeID(number), let place) = event else { return nil }
            return switch place {
            case .row(let row): .some(row)
            case .nowhere(let nearest): .some(nearest)
            case .unknown: .some(nil)
            }
        }
    }

    /// Counts a node; returns the level once it is whole.
    func structure(_ node: StructureNode = StructureNode()) throws -> StructureLevel {
        service.loadStructure(node, generation: generation)
        return try events.next { event in
            guard case .structure(let level) = event, level.node == node, level.progress == nil else { return nil }
            return level
        }
    }

    /// Whose clients did not trust the certificate, of those told next.
    func untrusting() throws -> [Int64] {
        try events.next { if case .untrusting(let records) = $0 { records.map(\.id.number) } else { nil } }
    }

    /// What failed next, in words.
    func failure() throws -> String {
        try events.next { if case .failed(let words) = $0 { words } else { nil } }
    }
}

/// Events as they come, to be waited for.
final class QueryEvents: Sendable {
    private let events = Mutex<[QueryEvent]>([])
    private let arrived = DispatchSemaphore(value: 0)

    struct NothingCameError: Error {}

    func put(_ event: QueryEvent) {
        events.withLock { $0.append(event) }
        arrived.signal()
    }

    /// Waits for the next event of a kind; those before it are dropped.
    func next<Value>(_ read: (QueryEvent) -> Value?) throws -> Value {
        while arrived.wait(timeout: .now() + 20) == .success {
            let event = events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let value = event.flatMap(read) { return value }
        }
        throw NothingCameError()
    }
}

/// Exchanges to record.
enum QuerySamples {
    static func record(_ id: Int64, _ change: (inout ExchangeRecord) -> Void = { _ in }) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(id),
            kind: .http,
            startedAt: 1_795_000_000_000_000 + id,
            method: "GET",
            url: RequestURL(scheme: "https", host: "api.example.com", port: 443, path: "/v1/items/\(id)"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = 200
        record.timings.total = 1_000
        change(&record)
        return record
    }

    /// So many exchanges, each of which is changed by its number.
    static func records(
        _ numbers: ClosedRange<Int64>,
        _ change: (inout ExchangeRecord) -> Void = { _ in }
    ) -> [ExchangeRecord] {
        numbers.map { record($0, change) }
    }

    /// One exchange with a response body, told in parts.
    static func exchange(_ id: Int64, body: ByteBuffer, coding: String? = nil) -> [RecordEvent] {
        var record = record(id)
        record.sizes.responseBody = Int64(body.readableBytes)
        var messages = ExchangeMessages()
        let field = coding.map { "Content-Encoding: \($0)\r\n" } ?? ""
        messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(field)\r\n")
        var opened = record
        opened.state = .inFlight
        return [
            .opened(opened, ExchangeMessages()), .body(record.id, .responseReceived, body),
            .finished(record, messages),
        ]
    }
}

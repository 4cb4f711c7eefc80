import Dispatch
import Foundation
package import HTTPModel
import NIOCore
import Recording
import Sharing
import Synchronization

/// A session that the exchanges of other files can be brought into.
package protocol SessionImports: Sendable {
    /// Brings in the exchanges of a HAR or of another session, under new numbers, and waits for it.
    ///
    /// `progress` is called with the part that is done, from 0 to 1, and returns whether to go on. Throws where nothing
    /// could be brought in.
    func importExchanges(of file: String, progress: @escaping @Sendable (Double) -> Bool) async throws -> ImportOutcome
}

package struct ImportOutcome: Sendable, Hashable {
    package var count = 0
    /// The number of the first one.
    package var first: ExchangeID?
    /// Those that were still in flight in the other session, and were left out.
    package var unfinished = 0
    /// Whether it was stopped before the end.
    package var isStopped = false
    /// Why the file could not be read to its end.
    package var problem: String?

    package init() {}
}

/// One import: reads a file, and gives its exchanges to a recorder as though they had just passed.
struct SessionImport {
    /// How many bytes of events are on their way at once: the recorder must keep room for the traffic.
    private static let mostWaiting = 2 << 20
    private static let pieceSize = 256 << 10
    /// How many arrivals are read at once.
    private static let arrivalsAtOnce = 4_096

    /// The session's own file.
    let session: String
    let recorder: Recorder
    let makeExchange: @Sendable () -> ExchangeID
    let makeConnection: @Sendable () -> ConnectionID
    let progress: @Sendable (Double) -> Bool

    /// Performs something that waits for the disk on a thread that may wait.
    static func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "sluice.import", qos: .utility).async {
                continuation.resume(with: Result(catching: body))
            }
        }
    }

    func run(_ file: String) throws -> ImportOutcome {
        var outcome = ImportOutcome()
        do {
            if try RequestArchive.isHAR(file) {
                try readArchive(file, &outcome)
            } else {
                try readSession(file, &outcome)
            }
        } catch {
            guard outcome.count > 0 else { throw error }
            outcome.problem = "\(error)"
        }
        recorder.flush()
        return outcome
    }

    private func origin(_ format: String, _ file: String) -> String {
        "\(format) \((file as NSString).lastPathComponent)"
    }

    // MARK: - A HAR

    private struct Stopped: Error {}

    private func readArchive(_ file: String, _ outcome: inout ImportOutcome) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        let size = max(1, (attributes?[.size] as? NSNumber)?.doubleValue ?? 1)
        let output = Output(recorder)
        var recording = HARRecording(
            origin: origin("HAR", file),
            exchange: makeExchange,
            connection: makeConnection
        )
        let read = Atomic(0)
        do {
            let count: @Sendable (Int) -> Void = { read.store($0, ordering: .relaxed) }
            try ImportedArchive.forEachEntry(of: file, onRead: count) { entry in
                guard progress(min(1, Double(read.load(ordering: .relaxed)) / size)) else { throw Stopped() }
                let events = recording.events(entry)
                for event in events {
                    if case .opened(let record, _) = event { outcome.first = outcome.first ?? record.id }
                    output.add(event)
                }
                output.send()
                outcome.count += 1
            }
        } catch is Stopped {
            outcome.isStopped = true
        }
    }

    // MARK: - A session

    private func readSession(_ file: String, _ outcome: inout ImportOutcome) throws {
        let path = try SessionQuery.open(file).path
        func place(_ path: String) -> String { URL(filePath: path).resolvingSymlinksInPath().path }
        guard place(path) != place(session) else {
            throw StartError("\(path) is the session that is open.", hint: "Name another one.")
        }
        let reader = try SessionReader(path: path)
        guard let bounds = try reader.bounds() else { return }
        let output = Output(recorder)
        let origin = origin("session", path)
        var connections: [ConnectionID: ConnectionID] = [:]
        try reader.forEachRecord { record in
            // One that is still recorded grows meanwhile.
            guard record.id.number <= bounds.upperBound else { return false }
            let done = Double(record.id.number - bounds.lowerBound) / Double(max(1, bounds.count))
            guard progress(done) else {
                outcome.isStopped = true
                return false
            }
            guard record.state != .inFlight else {
                outcome.unfinished += 1
                return true
            }
            guard let exchange = try reader.exchange(record.id) else { return true }
            let id = try take(exchange, from: reader, origin, &connections, output)
            outcome.first = outcome.first ?? id
            outcome.count += 1
            return true
        }
    }

    private func take(
        _ exchange: RecordedExchange,
        from reader: SessionReader,
        _ origin: String,
        _ connections: inout [ConnectionID: ConnectionID],
        _ output: Output
    ) throws -> ExchangeID {
        var record = exchange.record
        let old = record.id
        record.id = makeExchange()
        record.extras.origin = origin
        var news: [ConnectionRecord] = []
        func number(_ id: ConnectionID, _ connection: ConnectionRecord?) -> ConnectionID {
            if let known = connections[id] { return known }
            let new = makeConnection()
            connections[id] = new
            if var connection {
                connection.id = new
                news.append(connection)
            }
            return new
        }
        record.clientConnection = number(record.clientConnection, exchange.client)
        record.upstreamConnection = record.upstreamConnection.map { number($0, exchange.upstream) }
        var opened = record
        opened.state = .inFlight
        output.add(.opened(opened, exchange.messages))
        for connection in news { output.add(.connection(connection)) }
        // What cannot be read leaves an exchange that has an end all the same.
        defer {
            output.add(.finished(record, exchange.messages))
            output.send()
        }
        for side in BodySide.allCases {
            guard let size = try reader.bodySize(of: old, side: side) else { continue }
            var offset: Int64 = 0
            while offset < size {
                let bytes = try reader.body(of: old, side: side, offset: offset, limit: Self.pieceSize)
                guard bytes.readableBytes > 0 else { break }
                output.add(.body(record.id, side, bytes))
                offset += Int64(bytes.readableBytes)
            }
            try copyArrivals(of: old, side, to: record.id, reader, output)
        }
        return record.id
    }

    private func copyArrivals(
        of old: ExchangeID,
        _ side: BodySide,
        to id: ExchangeID,
        _ reader: SessionReader,
        _ output: Output
    ) throws {
        var (start, last): (Int64, Int64) = (0, -1)
        while true {
            let page = try reader.arrivals(of: old, side: side, from: start, limit: Self.arrivalsAtOnce)
            // A page begins with the last one of the page before.
            let news = page.filter { $0.offset > last }
            guard let end = news.last else { return }
            for arrival in news { output.add(.arrival(id, side, offset: arrival.offset, at: arrival.at)) }
            (start, last) = (end.offset, end.offset)
        }
    }

    // MARK: - Into the recorder

    /// Gives events to the recorder in portions, and waits until they are written.
    private final class Output {
        private let recorder: Recorder
        private let producer: RecorderProducer
        private var events: [RecordEvent] = []
        private var cost = 0
        private var waiting = 0

        init(_ recorder: Recorder) {
            self.recorder = recorder
            producer = recorder.makeProducer {}
        }

        func add(_ event: RecordEvent) {
            events.append(event)
            cost += event.cost
            if cost >= SessionImport.mostWaiting { send() }
        }

        func send() {
            guard !events.isEmpty else { return }
            _ = producer.submit(events, cost: cost)
            waiting += cost
            (events, cost) = ([], 0)
            guard waiting >= SessionImport.mostWaiting else { return }
            recorder.flush()
            waiting = 0
        }
    }
}

/// Imports into the session of the proxy in this process.
struct RunningImports: SessionImports {
    let session: String
    let recorder: Recorder
    let makeExchange: @Sendable () -> ExchangeID
    let makeConnection: @Sendable () -> ConnectionID

    func importExchanges(
        of file: String,
        progress: @escaping @Sendable (Double) -> Bool
    ) async throws -> ImportOutcome {
        let work = SessionImport(
            session: session,
            recorder: recorder,
            makeExchange: makeExchange,
            makeConnection: makeConnection,
            progress: progress
        )
        return try await SessionImport.onOwnThread { try work.run(file) }
    }
}

import Files
import Formats
import Foundation
package import HTTPModel
import NIOCore
package import Recording
import Synchronization

package protocol SessionImports: Sendable {
    /// Imports the exchanges of another session or of an archive (``ArchiveFile``) under new numbers. `progress` gets
    /// the part that is done, from 0 to 1, and returns whether to continue. Throws if nothing could be imported.
    func importExchanges(of file: String, progress: @escaping @Sendable (Double) -> Bool) async throws -> ImportOutcome
}

package struct ImportOutcome: Sendable, Hashable {
    package var count = 0
    package var first: ExchangeID?
    /// In-flight exchanges of the other session, which were skipped.
    package var unfinished = 0
    package var isStopped = false
    package var problem: String?
    /// With an article: `a HAR`.
    package var format = "a session"
    /// A phrase for each loss.
    package var losses: [String] = []

    package init() {}
}

/// Reads a file and submits its exchanges to a recorder, as if they had just happened.
package struct SessionImport: SessionImports {
    private let recorder: Recorder
    private let makeExchange: @Sendable () -> ExchangeID
    private let makeConnection: @Sendable () -> ConnectionID

    package init(
        recorder: Recorder,
        makeExchange: @escaping @Sendable () -> ExchangeID,
        makeConnection: @escaping @Sendable () -> ConnectionID
    ) {
        self.recorder = recorder
        self.makeExchange = makeExchange
        self.makeConnection = makeConnection
    }

    /// New numbers follow the numbers in the recorder's session. Nothing else may add exchanges to that session.
    package init(recorder: Recorder) {
        let exchanges = Atomic(recorder.nextExchangeID)
        let connections = Atomic(recorder.nextConnectionID)
        self.init(
            recorder: recorder,
            makeExchange: { ExchangeID(exchanges.wrappingAdd(1, ordering: .relaxed).oldValue) },
            makeConnection: { ConnectionID(connections.wrappingAdd(1, ordering: .relaxed).oldValue) }
        )
    }

    package func importExchanges(
        of file: String,
        progress: @escaping @Sendable (Double) -> Bool
    ) async throws -> ImportOutcome {
        try await OwnThread.run { try run(file, progress) }
    }

    /// The blocking form of ``importExchanges(of:progress:)``.
    package func run(_ file: String, _ progress: @escaping (Double) -> Bool) throws -> ImportOutcome {
        var outcome = ImportOutcome()
        do {
            let format = try ArchiveFile.format(of: file)
            if format == .zip, let (zip, entry) = try ArchiveFile.bundle(file) {
                outcome.format = "a bundle"
                let directory = try TemporaryDirectory(.archive)
                defer { directory.remove() }
                let session = "\(directory.path)/\(ArchiveFile.bundledSession)"
                try zip.extract(entry, to: session)
                do {
                    try readSession(session, origin("bundle", file), progress, &outcome)
                } catch let error as SessionError {
                    throw error.naming(file, for: session)
                }
            } else if format != nil {
                let format = try ArchiveFile.content(of: file)
                outcome.format = "a \(format.title)"
                try readArchive(file, origin(format.origin, file), progress, &outcome)
            } else {
                let path = try SessionQuery.open(file).path
                try readSession(path, origin("session", path), progress, &outcome)
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

    private struct Stopped: Error {}

    private func readArchive(
        _ file: String,
        _ origin: String,
        _ progress: (Double) -> Bool,
        _ outcome: inout ImportOutcome
    ) throws {
        let losses = ArchiveLosses()
        var recording = ArchiveRecording(origin: origin, exchange: makeExchange, connection: makeConnection)
        defer { (outcome.count, outcome.first, outcome.losses) = (recording.count, recording.first, losses.phrases) }
        do {
            try ArchiveFile.record(file, &recording, by: recorder, losses: losses) { _, part in
                guard progress(min(1, part)) else { throw Stopped() }
            }
        } catch is Stopped {
            outcome.isStopped = true
        }
    }

    private func readSession(
        _ path: String,
        _ origin: String,
        _ progress: (Double) -> Bool,
        _ outcome: inout ImportOutcome
    ) throws {
        guard !SessionFiles.isSame(path, as: recorder.path ?? "") else {
            throw StartError("\(path) is the session that is open.", hint: "Name another one.")
        }
        let reader = try SessionReader(path: path)
        guard let bounds = try reader.bounds() else { return }
        let output = RecorderOutput(recorder)
        var connections: [ConnectionID: ConnectionID] = [:]
        try reader.forEachRecord { record in
            // A session that is still recorded may grow during the import.
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
        _ output: RecorderOutput
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
        output.record(.opened(opened, exchange.messages))
        for connection in news { output.record(.connection(connection)) }
        // An exchange whose bodies cannot be read is finished, too.
        defer {
            output.record(.finished(record, exchange.messages))
            output.send()
        }
        let copy = BodyCopy(reader: reader, output: output)
        for side in BodySide.allCases { try copy.copy(side, of: old, to: record.id) }
        return record.id
    }
}

extension ArchiveFormat {
    fileprivate var origin: String {
        switch self {
        case .har: "HAR"
        case .charlesJSON, .charlesXML, .charlesZip, .charlesSettings: "Charles"
        case .fiddlerZip: "Fiddler"
        case .mitmproxy: "mitmproxy"
        case .curl: "cURL"
        case .zip, .gzip, .unread, .otherXML: "archive"
        }
    }
}

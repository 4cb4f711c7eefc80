import Foundation
import GRDB
import HTTPModel
import NIOCore
import Recording
import Support

/// Changes columns of a good session, reads all that there is to read, and records on into it.
enum SessionProbe {
    /// Runs the probe: up to three columns are changed.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let good = try GoodSession.made.get()
        var changes: [SessionChange] = []
        for _ in 0..<1 + input.number(below: 3) {
            let place = (Int(input.decide()) << 8 | Int(input.decide())) % good.columns.count
            let (table, column) = good.columns[place]
            changes.append(SessionChange(table: table, column: column, value: value(&input)))
        }
        try with(changes, recordsOn: input.number(below: 4) == 0)
    }

    private static func value(_ input: inout FuzzInput) -> DatabaseValue {
        switch input.number(below: 6) {
        case 0, 1: return input.choose(HostileNumbers.whole).databaseValue
        case 2: return Int64(truncatingIfNeeded: input.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }).databaseValue
        case 3: return String(decoding: input.bytes, as: UTF8.self).databaseValue
        case 4: return Data(input.bytes).databaseValue
        default: return input.choose([.null, 1e300.databaseValue, (-0.5).databaseValue])
        }
    }

    /// Reads a session with some columns changed.
    static func with(_ changes: [SessionChange], recordsOn: Bool) throws {
        let path = try GoodSession.made.get().changed(changes)
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        try read(path)
        if recordsOn { try record(path) }
    }

    /// Does something that may only fail with an error about the session.
    private static func attempt<Value>(_ path: String, _ body: () throws -> Value) throws -> Value? {
        do {
            return try body()
        } catch let error as SessionError {
            try demand(error.message.contains(path), "an error does not name the session: \(error)")
            return nil
        }
    }

    private static func read(_ path: String) throws {
        guard let reader = try attempt(path, { try SessionReader(path: path) }) else { return }
        _ = try attempt(path) { try reader.summary() }
        _ = try attempt(path) { try reader.identity() }
        _ = try attempt(path) { try reader.runs() }
        _ = try attempt(path) { try reader.rules() }
        _ = try attempt(path) { try reader.connections(limit: 10) }
        for record in try attempt(path, { try reader.records(limit: 10) }) ?? [] {
            try demand(RecordedRange.moments.contains(record.startedAt), "a moment is \(record.startedAt)")
            let sizes = [record.sizes.requestBody, record.sizes.responseBody, record.sizes.responseWire]
            try demand(sizes.allSatisfy(RecordedRange.amounts.contains), "a size is out of range: \(sizes)")
            _ = try attempt(path) { try reader.rules(at: record.startedAt) }
        }
        for id in (1...4).map({ ExchangeID($0) }) {
            _ = try attempt(path) { try reader.exchange(id) }
            for side in BodySide.allCases {
                _ = try attempt(path) { try reader.body(of: id, side: side, limit: 100_000) }
                _ = try attempt(path) { try reader.bodySize(of: id, side: side) }
                _ = try attempt(path) { try reader.arrivals(of: id, side: side) }
            }
        }
        _ = try attempt(path) { try reader.bounds() }
        for text in ["size:>1kb time:<=1s", "since:2020-01-01 status:200 messages:>=0", "body:a or header:host"] {
            let filter = try Filter(text)
            _ = try attempt(path) { try reader.forEachRecord(matching: filter) { _ in } }
            for order in [ExchangeOrder.number, .startedAt, .total, .listedSize, .host] {
                _ = try attempt(path) { try reader.numbers(matching: filter, by: order) }
            }
        }
        for site in [nil, RequestURL(scheme: "https", host: "a.example", port: 443, path: "")] {
            _ = try attempt(path) {
                try reader.structure(of: site, rows: .all, matching: .everything, inFlight: false)
            }
        }
        _ = try attempt(path) { try reader.states(of: .all) }
        _ = try attempt(path) { try reader.numbersInFlight() }
    }

    /// Records one more exchange, which can be read afterwards.
    private static func record(_ path: String) throws {
        let configuration = RecorderConfiguration(path: path, sluiceVersion: "2")
        guard let recorder = try attempt(path, { try Recorder(configuration) }) else { return }
        let id = ExchangeID(recorder.nextExchangeID)
        _ = recorder.makeProducer {}.submit(GoodSession.exchange(id.number, body: 10), cost: 4_096)
        let summary = recorder.close()
        if let error = summary.error { return try demand(!error.message.isEmpty, "no message") }
        let reader = try attempt(path) { try SessionReader(path: path) }
        let record = try reader.flatMap { reader in try attempt(path) { try reader.record(id) } } ?? nil
        try demand(reader == nil || record?.id == id, "exchange \(id) was recorded and cannot be read")
    }
}

/// A value that is put into a column of each row.
struct SessionChange: CustomStringConvertible {
    var table: String
    var column: String
    var value: DatabaseValue

    var description: String { "\(table).\(column) = \(value)" }
}

/// A session with something in each column.
struct GoodSession {
    /// Made once; its file stays until the tests end.
    static let made = Result { try GoodSession() }

    private let path: String
    /// The tables as Sluice makes them.
    private let tables: [(name: String, sql: String)]
    /// All columns.
    let columns: [(table: String, column: String)]

    private init() throws {
        let path = NSTemporaryDirectory() + "sluice-good-\(UUID().uuidString).sluice"
        self.path = path
        try GoodSession.record(path)
        let database = try DatabaseQueue(path: path)
        (tables, columns) = try database.writeWithoutTransaction { database in
            let rows = try Row.fetchAll(database, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table'")
            let tables = rows.map { (name: $0["name"] as String, sql: $0["sql"] as String) }
            let columns = try tables.flatMap { table in
                try database.columns(in: table.name).map { (table: table.name, column: $0.name) }
            }
            // Without its constraints a table takes what an attacker's program may write into it.
            try database.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_schema SET sql = replace(replace(sql, ' NOT NULL', ''), ' CHECK(id = 1)', '');
                    """
            )
            return (tables, columns)
        }
        try database.close()
    }

    /// A copy with some columns changed; a change that SQLite does not take is left out.
    func changed(_ changes: [SessionChange]) throws -> String {
        let copy = NSTemporaryDirectory() + "sluice-changed-\(UUID().uuidString).sluice"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: copy, configuration: configuration)
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
            for change in changes {
                let place = change.table == "arrival" ? "" : " WHERE rowid = (SELECT max(rowid) FROM \(change.table))"
                let sql = "UPDATE \(change.table) SET \(change.column) = ?\(place)"
                try? database.execute(sql: sql, arguments: [change.value])
            }
            try database.execute(sql: "PRAGMA writable_schema = ON")
            for table in tables {
                let sql = "UPDATE sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?"
                try database.execute(sql: sql, arguments: [table.sql, table.name])
            }
        }
        try database.close()
        return copy
    }

    private static func record(_ path: String) throws {
        let recorder = try Recorder(RecorderConfiguration(path: path, sluiceVersion: "1"))
        let producer = recorder.makeProducer {}
        var connection = ConnectionRecord(
            id: ConnectionID(1),
            leg: .client,
            openedAt: moment,
            localAddress: "127.0.0.1:1",
            peerAddress: "127.0.0.1:2"
        )
        (connection.closedAt, connection.dns, connection.connect, connection.handshake) = (moment, 1, 2, 3)
        let certificate = CertificateSummary(
            subject: "CN=a",
            issuer: "CN=b",
            alternativeNames: ["DNS:a"],
            notBefore: 1,
            notAfter: 2,
            fingerprint: "ff"
        )
        connection.tls = TLSDetails(protocolVersion: "TLSv1.3", cipherSuite: "x", peerCertificates: [certificate])
        recorder.noteRules(sources: [ProfileSource(file: "a.yaml", text: "version: 1")], switchedOff: ["block"])
        _ = producer.submit([.connection(connection)], cost: 512)
        // One whole body, one in chunks, and one that arrived in pieces.
        for (number, size) in [(1, 10), (2, 70_000), (3, 10)] as [(Int64, Int)] {
            _ = producer.submit(exchange(number, body: size), cost: size + 4_096)
        }
        if let error = recorder.close().error { throw error }
    }

    private static let moment: Int64 = 1_795_000_000_000_000

    static func exchange(_ number: Int64, body size: Int) -> [RecordEvent] {
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: .http,
            startedAt: moment + number,
            method: "GET",
            url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/a", query: "b=1"),
            clientConnection: ConnectionID(1)
        )
        record.upstreamConnection = ConnectionID(1)
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: "GET /a?b=1 HTTP/1.1\r\nHost: a.example\r\n\r\n")
        messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        messages.trace = [TraceEntry(stage: "block", rule: "a", outcome: .note, text: "host")]
        var ended = record
        (ended.state, ended.status, ended.mediaType) = (.complete, 200, "text/event-stream")
        ended.sentURL = record.url
        (ended.clientAddress, ended.serverAddress, ended.extras.listeningMode) = (
            "127.0.0.1:2", "127.0.0.1:3", "regular"
        )
        (ended.extras.process, ended.extras.origin, ended.extras.masked) = (
            ClientProcess(id: 1, name: "curl"), "har", ["a"]
        )
        (ended.extras.annotation.comment, ended.extras.annotation.colour) = ("c", "red")
        ended.grpc = GRPCOutcome(status: 2, message: "x")
        ended.failure = ExchangeFailure(.reset, "a", hint: "b")
        ended.sizes.requestHead = 40
        (ended.sizes.responseBody, ended.sizes.responseWire) = (Int64(size), Int64(size) + 50)
        (ended.timings.blocked, ended.timings.dns, ended.timings.connect, ended.timings.tls) = (1, 2, 3, 4)
        (ended.timings.send, ended.timings.wait, ended.timings.receive, ended.timings.total) = (5, 6, 7, 28)
        let body = ByteBuffer(repeating: UInt8(ascii: "a"), count: size)
        return [
            .opened(record, messages), .body(record.id, .responseReceived, body),
            .arrival(record.id, .responseReceived, offset: 0, at: moment + 9), .finished(ended, messages),
        ]
    }
}

/// Changes for the fuzzer's corpus.
enum SessionSeeds {
    static let all: [[UInt8]] = (0..<32).map { index in
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: index &* 37 &+ $0) }
        let decisions = (0..<10).map { UInt8(truncatingIfNeeded: index &* 101 &+ $0 &* 59) }
        return FuzzInput.made(bytes, decisions)
    }
}

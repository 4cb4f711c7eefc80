import Content
import Dispatch
import Files
import GRDB
import GRDBSQLite
import HTTPModel
import NIOCore

/// Writes rows on the recorder's thread.
final class SessionWriter {
    var totals: SessionSummary
    private var storedTotals: SessionSummary

    /// For prepared statements on the recorder's thread.
    private let queue: DatabaseQueue
    private let path: String
    private let run: Int64
    private(set) var isInTransaction = false
    private var lastPayload: Int64
    private var lastSources: [ProfileSource]?
    private var begin: RowWriter
    private var commitTransaction: RowWriter
    private var exchanges: RowWriter
    private var annotations: RowWriter
    private var payloads: RowWriter
    private var endOpenPayload: RowWriter
    private var chunks: RowWriter
    private var arrivals: RowWriter
    private var progress: RowWriter
    private var processes: RowWriter
    private var connections: RowWriter
    private var routes: RowWriter
    private var summary: RowWriter

    init(_ session: WritableSession) throws {
        let (queue, start) = (session.database, session.start)
        func prepared(_ sql: String) throws -> RowWriter {
            try queue.writeWithoutTransaction { try RowWriter(sql, in: $0) }
        }
        (self.queue, path, run) = (queue, session.path, start.run)
        lastPayload = start.lastPayload
        totals = start.totals
        storedTotals = start.totals
        begin = try prepared("BEGIN IMMEDIATE")
        commitTransaction = try prepared("COMMIT")
        exchanges = try prepared(Schema.exchange.replacement)
        annotations = try prepared(Schema.annotation.replacement)
        payloads = try prepared(Schema.payload.replacement)
        connections = try prepared(Schema.connection.replacement)
        routes = try prepared(Schema.route.replacement)
        chunks = try prepared(Schema.chunk.replacement)
        arrivals = try prepared(Schema.arrival.replacement)
        progress = try prepared(
            """
            UPDATE exchange SET client_messages = ?, server_messages = ?,
            request_head_size = ?, request_body_size = ?, request_wire_size = ?,
            response_head_size = ?, response_body_size = ?, response_wire_size = ? WHERE id = ?
            """
        )
        processes = try prepared(
            "UPDATE exchange SET process_id = ?, process_name = ? WHERE id = ? AND process_id IS NULL"
        )
        endOpenPayload = try prepared("DELETE FROM payload WHERE id = ?")
        summary = try prepared(SessionSummary.update)
    }

    // MARK: - Transactions

    func beginTransaction() throws {
        guard !isInTransaction else { return }
        try begin.run()
        isInTransaction = true
    }

    func perform<Value>(_ body: (Database) throws -> Value) throws -> Value { try queue.writeWithoutTransaction(body) }

    func commit() throws {
        guard isInTransaction else { return }
        if totals != storedTotals {
            summary.bind(totals.exchanges)
            summary.bind(totals.errors)
            summary.bind(totals.requestBodyBytes)
            summary.bind(totals.responseBodyBytes)
            try summary.run()
            storedTotals = totals
        }
        // GRDB expects to see the commit on its queue.
        try perform { _ in try commitTransaction.run() }
        isInTransaction = false
    }

    func rollback() {
        isInTransaction = false
        queue.writeWithoutTransaction { database in
            // After some errors SQLite has rolled back by itself.
            if database.isInsideTransaction { try? database.execute(sql: "ROLLBACK") }
        }
    }

    /// Empties a log that is longer than `limit` bytes; only readers can prevent this.
    func truncateLog(above limit: Int64) throws {
        guard FileFacts(path: path + "-wal")?.size ?? 0 > limit else { return }
        // Does not wait for readers, because the recorder tries again every second.
        try perform { database in
            try database.execute(
                sql: """
                    PRAGMA busy_timeout = 0;
                    PRAGMA wal_checkpoint(TRUNCATE);
                    PRAGMA busy_timeout = \(RecorderLimits.patienceMilliseconds);
                    """
            )
        }
    }

    // MARK: - Rows

    /// Writes heads, trace and short bodies; returns the row's number. Numbers follow the order in which exchanges end,
    /// which fills pages one after another.
    func writePayload(_ messages: ExchangeMessages, bodies: [ByteBuffer?]) throws -> Int64 {
        lastPayload += 1
        try insertPayload(lastPayload, messages, bodies)
        return lastPayload
    }

    /// Writes the payload of an exchange in flight; its row has the exchange's number, negated.
    func writeOpenPayload(_ messages: ExchangeMessages, of exchange: ExchangeID) throws -> Int64 {
        try insertPayload(-exchange.number, messages, [nil, nil, nil, nil])
        return -exchange.number
    }

    func removeOpenPayload(of exchange: ExchangeID) throws {
        endOpenPayload.bind(-exchange.number)
        try endOpenPayload.run()
    }

    private func insertPayload(_ id: Int64, _ messages: ExchangeMessages, _ bodies: [ByteBuffer?]) throws {
        payloads.bind(id)
        try payloads.bind(messages)
        for body in bodies { payloads.bind(body) }
        try payloads.run()
    }

    /// Replaces an earlier, shorter row of the chunk.
    func writeChunk(_ bytes: ByteBuffer, of exchange: ExchangeID, side: BodySide, offset: Int64) throws {
        chunks.bind(exchange.number)
        chunks.bind(side.rawValue)
        chunks.bind(offset)
        try chunks.run(last: bytes)
    }

    func write(_ arrival: Arrival, of exchange: ExchangeID, side: BodySide) throws {
        arrivals.bind(exchange.number)
        arrivals.bind(side.rawValue)
        arrivals.bind(arrival.offset)
        arrivals.bind(arrival.at)
        try arrivals.run()
    }

    func write(_ counts: StreamCounts, of exchange: ExchangeID) throws {
        progress.bind(counts.tally.fromClient)
        progress.bind(counts.tally.fromServer)
        for (_, size) in Sizes.fields { progress.bind(counts.sizes[keyPath: size]) }
        progress.bind(exchange.number)
        try progress.run()
    }

    func write(_ process: ClientProcess, of exchange: ExchangeID) throws {
        processes.bind(Int64(process.id))
        processes.bind(process.name)
        processes.bind(exchange.number)
        try processes.run()
    }

    /// Replaces the row that the exchange had in flight.
    func write(_ record: ExchangeRecord, payload: Int64, isNew: Bool) throws {
        try exchanges.bind(record, payload: payload)
        try exchanges.run()
        let annotation = record.extras.annotation
        if annotation != ExchangeAnnotation() { try write(annotation, of: record.id) }

        if isNew { totals.exchanges += 1 }
        if record.state != .inFlight, record.state != .interrupted {
            if record.isError { totals.errors += 1 }
            totals.requestBodyBytes += record.sizes.requestBody
            totals.responseBodyBytes += record.sizes.responseBody
        }
    }

    private func write(_ annotation: ExchangeAnnotation, of exchange: ExchangeID) throws {
        annotations.bind(exchange.number)
        annotations.bind(annotation.comment)
        annotations.bind(annotation.colour)
        annotations.bind(annotation.deletedAt)
        try annotations.run()
    }

    func write(_ connection: ConnectionRecord) throws {
        try connections.bind(connection)
        try connections.run()
        guard connection.proxy != nil || connection.tls?.clientCertificate != nil else { return }
        routes.bind(connection.id.number)
        try routes.bind(routeOf: connection)
        try routes.run()
    }

    /// Writes sources only if they differ from the previous row. The first rules of a run apply from its beginning.
    func write(_ rules: RulesNote) throws {
        let isKnown = rules.sources == lastSources
        let at = lastSources == nil ? "min(?, (SELECT started_at FROM run WHERE id = ?))" : "?"
        let sql = "INSERT INTO rules(at, sources, off) VALUES(\(at), ?, ?)"
        var row = try perform { try RowWriter(sql, in: $0) }
        row.bind(rules.at)
        if lastSources == nil { row.bind(run) }
        row.bind(text: try isKnown ? nil : JSONWriter.sources(rules.sources))
        row.bind(text: try JSONWriter.names(rules.switchedOff))
        try row.run()
        lastSources = rules.sources
    }

    func edit(_ editing: inout SessionEditing?) throws {
        let deadline = DispatchTime.now().uptimeNanoseconds + RecorderLimits.editNanoseconds
        try perform { try editing?.step(in: $0, &totals, until: deadline) }
    }

    func begin(_ edit: SessionEdit, _ history: inout DeletionHistory) throws -> SessionEditing {
        let highest = try perform { try Int64.fetchOne($0, sql: "SELECT max(id) FROM exchange") } ?? 0
        return try SessionEditing(edit, highest: highest, &history, path: path)
    }

    /// Exchanges in flight become interrupted.
    func endRun(at time: Int64, notRecorded: Int, droppedBytes: Int64) throws {
        try perform { database in
            _ = try WritableSession.interruptOpenExchanges(in: SessionDatabase(connection: database, path: path))
            let sql = "UPDATE run SET ended_at = ?, not_recorded = ?, dropped_bytes = ? WHERE id = ?"
            try database.execute(sql: sql, arguments: [time, notRecorded, droppedBytes, run])
        }
    }
}

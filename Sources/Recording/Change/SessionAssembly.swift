import Content
import GRDB
package import HTTPModel
package import NIOCore

/// A new session that is filled row by row, such as with the rows of a store. It is written under a temporary name, and
/// can be read meanwhile.
package final class SessionAssembly {
    private let database: DatabaseQueue
    private let path: String
    private var writers: [SessionTable: RowWriter] = [:]
    private var reader: SessionReader?

    /// Makes the session; throws ``SessionError`` and errors of `fill`.
    package static func make(
        _ path: String,
        version: String,
        overwrites: Bool = false,
        fill: (SessionAssembly) throws -> Void
    ) throws {
        try SessionCopy.write(session: path, to: path, overwrites: overwrites) { part in
            let assembly = try SessionAssembly(part, version)
            try fill(assembly)
            try assembly.finish()
        }
    }

    private init(_ path: String, _ version: String) throws {
        self.path = path
        let configuration = Configuration.session("sluice.assembly", seconds: 5)
        database = try DatabaseQueue(path: SessionPath.plain(path), configuration: configuration)
        let run = """
            INSERT INTO run(version, recorder, started_at, ended_at, first_exchange, not_recorded, dropped_bytes)
            VALUES(?, ?, ?, ?, 1, 0, 0)
            """
        let now = WallClock.now()
        let mode = RecorderConfiguration.Mode.lossless.rawValue
        try database.writeWithoutTransaction { database in
            try WritableSession.createTables(in: database, labels: [:])
            try database.execute(sql: run, arguments: [version, mode, now, now])
        }
    }

    /// Writes rows in one transaction.
    package func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN")
        do {
            try body()
            try execute("COMMIT")
        } catch {
            try execute("ROLLBACK")
            throw error
        }
    }

    private func execute(_ sql: String, _ arguments: StatementArguments = []) throws {
        try database.writeWithoutTransaction { try $0.cachedStatement(sql: sql).execute(arguments: arguments) }
    }

    /// Adds a row, whose columns `bind` gives in their order.
    package func insert(_ table: SessionTable, _ bind: (inout any RowSink) throws -> Void) throws {
        try database.writeWithoutTransaction { database in
            var writer = try writers[table] ?? RowWriter(table.table.replacement, in: database)
            writers[table] = writer
            var sink: any RowSink = writer
            try bind(&sink)
            if let bound = sink as? RowWriter { writer = bound }
            try writer.run()
        }
    }

    /// Writes a body where the recorder would: short ones are `payload`'s, which gets the returned bytes.
    package func shortBody(_ body: ByteBuffer?, of exchange: Int64, side: BodySide) throws -> ByteBuffer? {
        guard let body, body.readableBytes > Schema.inlineBody else { return body }
        var (rest, offset) = (body, Int64(0))
        while let piece = rest.readSlice(length: min(Schema.chunkLength, rest.readableBytes)), piece.readableBytes > 0 {
            try insert(.chunk) { sink in
                sink.bind(exchange)
                sink.bind(Int64(side.rawValue))
                sink.bind(offset)
                sink.bind(piece)
            }
            offset += Int64(piece.readableBytes)
        }
        return nil
    }

    /// For an exchange those rules were in force that came last before its start.
    package func add(_ rules: [StoredRules]) throws {
        for set in rules {
            let (sources, switchedOff) = try set.texts()
            try execute("INSERT INTO rules(at, sources, off) VALUES(?, ?, ?)", [set.at, sources, switchedOff])
        }
    }

    /// Of the exchanges with these numbers, removes those that their filter does not match, and the lowest that are more
    /// than `most`; returns how many are left.
    package func keep(_ chosen: [(filter: Filter, numbers: [Int64])], most: Int) throws -> Int {
        let reader = try reader ?? SessionReader(path: path)
        self.reader = reader
        let matching = try chosen.flatMap { try reader.numbers(of: .numbers($0.numbers), matching: $0.filter) }
        let kept = Set(matching.sorted().suffix(most))
        let others = chosen.flatMap(\.numbers).filter { !kept.contains($0) }.map(String.init).joined(separator: ",")
        try database.writeWithoutTransaction {
            try DeletedRows.drop("SELECT value FROM json_each(?)", ["[\(others)]"], in: $0)
        }
        return kept.count
    }

    /// Gives the exchanges the numbers from 1 on, counts them, and removes connections that none of them has.
    private func finish() throws {
        reader = nil
        writers = [:]
        try transaction {
            let numbers = try database.writeWithoutTransaction { database in
                try Int64.fetchAll(database, sql: "SELECT id FROM exchange ORDER BY id")
            }
            for (index, number) in numbers.enumerated() {
                let new = Int64(index) + 1
                try execute("UPDATE exchange SET id = ?1, payload = ?1 WHERE id = ?2", [new, number])
                try execute("UPDATE payload SET id = ? WHERE id = ?", [new, number])
                for table in ["chunk", "arrival", "annotation"] {
                    try execute("UPDATE \(table) SET exchange = ? WHERE exchange = ?", [new, number])
                }
            }
            try database.writeWithoutTransaction { database in
                try DeletedRows.removeConnections(in: database)
                var totals = SessionSummary()
                try totals.add(1, "exchange AS e", in: database)
                try totals.write(in: database)
            }
        }
        try database.close()
    }
}

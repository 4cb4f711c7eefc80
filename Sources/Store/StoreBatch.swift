import Content
package import HTTPModel
import NIOCore
import Recording

/// Exchanges on their way into a store: takes their events like a recorder, and makes the rows of each table.
package final class StoreBatch: RecordSink {
    private typealias Body = (bytes: ByteBuffer, isCut: Bool)

    /// In bytes; of a longer body the beginning is stored.
    private let longestBody: Int
    private var open: [ExchangeID: [BodySide: Body]] = [:]
    private var arrivals: [ExchangeID: ByteBuffer] = [:]
    private var connections: [ConnectionID: ConnectionRecord] = [:]
    private var bodies: [BodyKey: ByteBuffer] = [:]
    private var sizes: [BodyKey: Int] = [:]
    private var days: Set<Int64> = []
    private var exchangeRows = ColumnArrays([.number] + StoreBatch.exchangeKinds)
    private var connectionRows = ColumnArrays([.number] + StoreSchema.connection.map(\.kind))
    package private(set) var numbers: [Int64] = []
    private var failure: (any Error)?

    private struct BodyKey: Hashable, Comparable {
        let day: Int64
        let hash: BodyHash

        static func < (left: BodyKey, right: BodyKey) -> Bool {
            left.day == right.day ? left.hash < right.hash : left.day < right.day
        }
    }

    /// The bodies are hashes here.
    private static let exchangeKinds =
        StoreSchema.exchange.dropLast(4).map(\.kind) + [.bytes, .bytes, .bytes, .bytes, .bytes]

    package init(longestBody: Int) { self.longestBody = longestBody }

    package var isEmpty: Bool { numbers.isEmpty }

    package func record(_ event: RecordEvent) {
        switch event {
        case .connection(let connection): connections[connection.id] = connection
        case .opened, .updated, .progress, .identified: break
        case .body(let id, let side, var bytes):
            var body = open[id]?[side] ?? (ByteBuffer(), false)
            let room = longestBody - body.bytes.readableBytes
            if bytes.readableBytes > room { body.isCut = true }
            if var part = bytes.readSlice(length: min(room, bytes.readableBytes)) { body.bytes.writeBuffer(&part) }
            open[id, default: [:]][side] = body
        case .arrival(let id, let side, let offset, let at):
            var list = arrivals[id] ?? ByteBuffer()
            list.writeInteger(side.rawValue)
            list.writeInteger(offset)
            list.writeInteger(at)
            arrivals[id] = list
        case .finished(let record, let messages):
            do { try add(record, messages) } catch { failure = failure ?? error }
        }
    }

    private func add(_ record: ExchangeRecord, _ messages: ExchangeMessages) throws {
        let day = StoreBatch.day(of: record.startedAt)
        days.insert(day)
        var record = record
        var messages = messages
        let found = open.removeValue(forKey: record.id) ?? [:]
        if found.values.contains(where: \.isCut) {
            let text = "the store has only the first \(longestBody) bytes of a longer body (--store-body)"
            messages.trace.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
            for (side, body) in found where body.isCut { record.flags.insert(side.incompleteFlag) }
        }
        let hashes = try BodySide.allCases.map { side in try found[side].map { try add($0.bytes, day) } }
        exchangeRows.bind(day)
        try exchangeRows.bind(record, payload: nil)
        try exchangeRows.bind(messages)
        for hash in hashes { exchangeRows.bind(hash) }
        exchangeRows.bind(arrivals.removeValue(forKey: record.id))
        exchangeRows.endRow()
        for id in [record.clientConnection, record.upstreamConnection].compactMap(\.self) {
            guard let connection = connections[id] else { continue }
            connectionRows.bind(day)
            try connectionRows.bind(connection)
            try connectionRows.bind(routeOf: connection)
            connectionRows.endRow()
        }
        numbers.append(record.id.number)
    }

    private func add(_ body: ByteBuffer, _ day: Int64) throws -> ByteBuffer {
        let key = BodyKey(day: day, hash: BodyHash(body))
        if bodies[key] == nil {
            bodies[key] = try ContentEncoder.encode(body, coding: .zstd)
            sizes[key] = body.readableBytes
        }
        return key.hash.bytes
    }

    /// Days since 1970 in UTC.
    private static func day(of microseconds: Int64) -> Int64 {
        let length: Int64 = 86_400_000_000
        return microseconds >= 0 ? microseconds / length : (microseconds - length + 1) / length
    }

    /// The days that need partitions, and the statements that write the rows. Bodies are in the order of their hashes, so
    /// that two writers of the same bodies do not wait for each other in a circle.
    func statements(_ project: String, session: String) throws -> (days: [Int64], statements: [PostgreSQL.Statement]) {
        if let failure { throw failure }
        var bodyRows = ColumnArrays([.number, .bytes, .number, .bytes])
        for (key, data) in bodies.sorted(by: { $0.key < $1.key }) {
            bodyRows.bind(key.day)
            bodyRows.bind(key.hash.bytes)
            bodyRows.bind(Int64(sizes[key] ?? 0))
            bodyRows.bind(data)
            bodyRows.endRow()
        }
        let hashed = StoreSchema.exchange + [("arrivals", .bytes)]
        let statements = [
            StoreBatch.insertion("\(project).bodies", "hash, size, data", bodyRows, session: nil),
            StoreBatch.insertion(
                "\(project).connections",
                StoreSchema.names(StoreSchema.connection),
                connectionRows,
                session: session
            ),
            StoreBatch.insertion("\(project).exchanges", StoreSchema.names(hashed), exchangeRows, session: session),
        ]
        return (days.sorted(), statements.compactMap(\.self))
    }

    /// The first array has the days.
    private static func insertion(
        _ table: String,
        _ columns: String,
        _ rows: ColumnArrays,
        session: String?
    ) -> PostgreSQL.Statement? {
        guard rows.rows > 0 else { return nil }
        let parameters = rows.parameters
        let places = (1...parameters.count).map { "$\($0)" }.joined(separator: ", ")
        let names = (1...parameters.count).map { "c\($0)" }
        let values = names.dropFirst().joined(separator: ", ")
        let (column, value) = session == nil ? ("", "") : ("session, ", "$\(parameters.count + 1)::uuid, ")
        let sql = """
            INSERT INTO \(table)(day, \(column)\(columns))
            SELECT date '1970-01-01' + c1::integer, \(value)\(values)
            FROM unnest(\(places)) AS u(\(names.joined(separator: ", ")))
            ON CONFLICT DO NOTHING
            """
        return PostgreSQL.Statement(sql, parameters + (session.map { [.text($0)] } ?? []))
    }
}

import Content
import Foundation
import HTTPModel
import NIOCore
package import Recording

/// Reads a store, as the role of readers may. Use it on one thread.
package final class StoreReader {
    package struct Recording: Sendable, Hashable {
        package var session: String
        package var labels: [String: String]
        package var exchanges: Int64
        /// In microseconds since 1970; `nil` without exchanges.
        package var first: Int64?
        package var last: Int64?
        package var missing: Int64
    }

    private let connection: PostgreSQL
    private let address: StoreAddress
    private var project: String { address.project }
    private let columns = StoreSchema.names(StoreSchema.exchange)

    /// Exchanges that one statement returns.
    private static let (page, smallestPage) = (500, 50)

    /// Throws ``StoreError``, and `CancellationError`.
    package init(_ address: StoreAddress, isCancelled: @escaping () -> Bool = { false }) throws {
        self.address = address
        connection = try PostgreSQL(address, isCancelled: isCancelled)
        try StoreWriter.check(connection, address)
    }

    // MARK: - Exchanges

    /// The place of an exchange in the order of time.
    private struct Place {
        var startedAt: Int64
        var session: String
        var number: Int64
    }

    /// Fills a session with the newest exchanges that match, oldest first; `bodies` says whether with their bodies. Column
    /// terms are decided by the store, everything by the filter on each returned exchange. `onPage` gets how many were
    /// found and how many were looked at; an error that it throws ends the reading. Returns whether there are more.
    package func fill(
        _ assembly: SessionAssembly,
        _ query: StoreQuery,
        bodies: Bool,
        onPage: (_ found: Int, _ seen: Int) throws -> Void = { _, _ in }
    ) throws -> Bool {
        var (found, seen) = (0, 0)
        var (next, before): (Int64, Place?) = (Self.highest, nil)
        var connections = Connections()
        var sessions: Set<String> = []
        while found < query.limit {
            let size = min(Self.page, max(query.limit - found, Self.smallestPage))
            let (places, hasMore) = try places(query, before: before, limit: size)
            guard let last = places.last else { break }
            let first = next - Int64(places.count)
            try assembly.transaction {
                for (day, group) in Dictionary(grouping: places.enumerated(), by: { $0.element.day }) {
                    let numbered = group.map { ($0.element.place, next - 1 - Int64($0.offset)) }
                    try add(numbered, day, bodies, assembly, &connections)
                }
            }
            found += try assembly.keep(query.filter, of: first...(next - 1), most: query.limit - found)
            sessions.formUnion(places.map(\.place.session))
            (next, before, seen) = (first, last.place, seen + places.count)
            try onPage(found, seen)
            if !hasMore { break }
        }
        for session in sessions.sorted() { try assembly.add(try rules(of: session)) }
        return found >= query.limit
    }

    /// Numbers of fetched exchanges count down from here, until the assembly gives them their own.
    private static let highest: Int64 = 1 << 40

    /// The places of the next exchanges that the columns admit, newest first.
    private func places(
        _ query: StoreQuery,
        before: Place?,
        limit: Int
    ) throws -> (places: [(place: Place, day: String)], hasMore: Bool) {
        let condition = SQLCondition(query.filter, dialect: .postgreSQL)
        var arguments = condition.arguments.map { argument -> PostgreSQL.Parameter in
            if case .text(let text) = argument { .text(text.replacing("\0", with: "\u{FFFD}")) } else { .null }
        }
        func add(_ text: String) -> String {
            arguments.append(.text(text))
            return "$\(arguments.count)"
        }
        var conditions = [condition.sql]
        // The days let the server leave out whole partitions.
        let times = query.filter.root.startTimes
        func day(_ moment: Int64) -> String {
            "(to_timestamp(\(add("\(moment / 1_000_000)"))::bigint) AT TIME ZONE 'UTC')::date"
        }
        if times.lowerBound > 0 { conditions.append("e.day >= \(day(times.lowerBound))") }
        if times.upperBound < .max { conditions.append("e.day <= \(day(times.upperBound))") }
        if !query.sessions.isEmpty {
            let any = query.sessions.map { "e.session::text LIKE \(add($0 + "%"))::text" }.joined(separator: " OR ")
            conditions.append("(\(any))")
        }
        for label in query.labels {
            let value = "labels ->> \(add(label.key))::text = \(add(label.value))::text"
            conditions.append("e.session IN (SELECT session FROM \(project).sessions WHERE \(value))")
        }
        if let before {
            conditions.append(
                "(e.started_at, e.session, e.id) < (\(add("\(before.startedAt)"))::bigint, \(add(before.session))::uuid, "
                    + "\(add("\(before.number)"))::bigint)"
            )
        }
        let sql = """
            SELECT e.started_at, e.session::text, e.id, e.day::text FROM \(project).exchanges AS e
            WHERE \(conditions.joined(separator: " AND "))
            ORDER BY e.started_at DESC, e.session DESC, e.id DESC LIMIT \(limit)
            """
        var places: [(place: Place, day: String)] = []
        try connection.forEachRow(sql, arguments) { row in
            let place = Place(startedAt: try row.number(), session: try row.text(), number: try row.number())
            places.append((place, try row.text()))
        }
        return (places, places.count == limit)
    }

    private struct Connections {
        var numbers: [String: Int64] = [:]

        /// A number in the fetched session, and whether it is new.
        mutating func number(_ session: String, _ id: Int64) -> (Int64, isNew: Bool) {
            let key = "\(session) \(id)"
            if let known = numbers[key] { return (known, false) }
            numbers[key] = Int64(numbers.count + 1)
            return (Int64(numbers.count), true)
        }
    }

    /// Adds exchanges of one day, each with its new number.
    private func add(
        _ exchanges: [(place: Place, number: Int64)],
        _ day: String,
        _ withBodies: Bool,
        _ assembly: SessionAssembly,
        _ connections: inout Connections
    ) throws {
        var numbers: [String: Int64] = [:]
        var keys = ColumnArrays([.text, .number])
        for (place, number) in exchanges {
            numbers["\(place.session) \(place.number)"] = number
            keys.bind(place.session)
            keys.bind(place.number)
            keys.endRow()
        }
        let keyed = "unnest($2::text[], $3::bigint[]) AS k(session, id)"
        let chosen = "JOIN \(keyed) ON e.session = k.session::uuid AND e.id = k.id"
        let sql = """
            SELECT e.session::text, e.arrivals, a.comment, a.colour, \(StoreReader.qualified(columns))
            FROM \(project).exchanges AS e \(chosen)
            LEFT JOIN LATERAL (
                SELECT comment, colour FROM \(project).annotations AS n
                WHERE n.session = e.session AND n.exchange = e.id ORDER BY at DESC LIMIT 1
            ) AS a ON TRUE
            WHERE e.day = $1::date
            """
        var rows: [Row] = []
        try connection.forEachRow(sql, [.text(day)] + keys.parameters) { rows.append(try Row(&$0)) }
        let hashes = withBodies ? Set(rows.flatMap(\.hashes).compactMap(\.self)) : []
        let bodies = try bodies(hashes, day)
        var needed: [String: Set<Int64>] = [:]
        for row in rows {
            guard let number = numbers["\(row.session) \(row.number)"] else { continue }
            let ids = row.connections.map { id in id.map { connections.number(row.session, $0) } }
            for (id, known) in zip(row.connections, ids) {
                if let id, known?.isNew == true { needed[row.session, default: []].insert(id) }
            }
            try row.insert(into: assembly, number, ids.map { $0?.0 }, bodies)
        }
        for (session, ids) in needed { try addConnections(session, ids, day, assembly, &connections) }
    }

    private static func qualified(_ names: String) -> String {
        names.split(separator: ", ").map { "e.\($0)" }.joined(separator: ", ")
    }

    private func addConnections(
        _ session: String,
        _ ids: Set<Int64>,
        _ day: String,
        _ assembly: SessionAssembly,
        _ connections: inout Connections
    ) throws {
        var keys = ColumnArrays([.number])
        for id in ids {
            keys.bind(id)
            keys.endRow()
        }
        let own = SessionTable.connection.columns.count
        let sql = """
            SELECT \(StoreSchema.names(StoreSchema.connection)) FROM \(project).connections
            WHERE day = $1::date AND session = $2::uuid AND id = ANY($3::bigint[])
            """
        try connection.forEachRow(sql, [.text(day), .text(session)] + keys.parameters) { row in
            let number = connections.number(session, try row.number()).0
            try assembly.insert(.connection) { sink in
                sink.bind(number)
                for column in StoreSchema.connection[1..<own] { try row.copy(column.kind, into: &sink) }
            }
            try assembly.insert(.route) { sink in
                sink.bind(number)
                for column in StoreSchema.connection[own...] { try row.copy(column.kind, into: &sink) }
            }
        }
    }

    /// Bodies by their hashes, which are checked.
    private func bodies(_ hashes: Set<ByteBuffer>, _ day: String) throws -> [ByteBuffer: ByteBuffer] {
        guard !hashes.isEmpty else { return [:] }
        var keys = ColumnArrays([.bytes])
        for hash in hashes {
            keys.bind(hash)
            keys.endRow()
        }
        let sql = "SELECT hash, size, data FROM \(project).bodies WHERE day = $1::date AND hash = ANY($2::bytea[])"
        var bodies: [ByteBuffer: ByteBuffer] = [:]
        try connection.forEachRow(sql, [.text(day)] + keys.parameters) { row in
            guard let hash = try row.optionalBytes() else { throw row.damage("is missing") }
            let size = try row.number()
            guard let data = try row.optionalBytes(), let body = Self.body(data, size: size, hash: hash) else {
                throw row.damage("has a body that does not fit its hash")
            }
            bodies[hash] = body
        }
        return bodies
    }

    /// `nil` if the size or the hash is another.
    static func body(_ data: ByteBuffer, size: Int64, hash: ByteBuffer) -> ByteBuffer? {
        guard (0...longestBody).contains(size) else { return nil }
        let body = ContentDecoder.decode(data, codings: [.zstd], limit: Int(size)).bytes
        return body.readableBytes == size && BodyHash(body).bytes == hash ? body : nil
    }

    /// In bytes; no writer stores longer bodies.
    private static let longestBody: Int64 = 1 << 30

    private func rules(of session: String) throws -> [StoredRules] {
        var rules: [StoredRules] = []
        let sql = "SELECT id, at, sources, off FROM \(project).rules WHERE session = $1::uuid ORDER BY id"
        try connection.forEachRow(sql, [.text(session)]) { row in
            let (id, at) = (try row.number(), try row.number())
            rules.append(try StoredRules(number: id, at: at, sources: try row.text(), switchedOff: try row.text()))
        }
        return rules
    }

    // MARK: - Recordings

    /// The newest first.
    package func recordings() throws -> [Recording] {
        let sql = """
            SELECT s.session::text, s.labels::text, count(e.id), min(e.started_at), max(e.started_at),
                (SELECT coalesce(sum(count), 0)::bigint FROM \(project).missing AS m WHERE m.session = s.session)
            FROM \(project).sessions AS s LEFT JOIN \(project).exchanges AS e ON e.session = s.session
            GROUP BY s.session, s.labels::text ORDER BY max(e.started_at) DESC NULLS LAST
            """
        var recordings: [Recording] = []
        try connection.forEachRow(sql) { row in
            let session = try row.text()
            let labels = try JSONDecoder().decode([String: String].self, from: Data(try row.text().utf8))
            recordings.append(
                Recording(
                    session: session,
                    labels: labels,
                    exchanges: try row.number(),
                    first: try row.optionalNumber(),
                    last: try row.optionalNumber(),
                    missing: try row.number()
                )
            )
        }
        return recordings
    }

    /// Removes whole days before `moment` (in microseconds since 1970), as their owner may, and late rows of such days;
    /// returns the names of the partitions.
    package func prune(before moment: Int64) throws -> [String] {
        let day = "(to_timestamp($1::bigint) AT TIME ZONE 'UTC')::date"
        let limit: [PostgreSQL.Parameter] = [.text("\(moment / 1_000_000)")]
        var names: [String] = []
        let sql = """
            SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = $2 AND c.relname ~ '^(\(StoreSchema.daily.joined(separator: "|")))_[0-9]{8}$'
            AND to_date(right(c.relname, 8), 'YYYYMMDD') < \(day) ORDER BY 1
            """
        try connection.forEachRow(sql, limit + [.text(project)]) { names.append(try $0.text()) }
        for name in names { try connection.run("DROP TABLE \(project).\(name)") }
        for table in StoreSchema.daily {
            try connection.run("DELETE FROM \(project).\(table)_late WHERE day < \(day)", limit)
        }
        return names
    }
}

/// A row of `exchanges` as it goes into a session.
private struct Row {
    let session: String
    let number: Int64
    let hashes: [ByteBuffer?]
    let connections: [Int64?]
    private let arrivals: ByteBuffer?
    private let annotation: (comment: String?, colour: String?)
    private let values: [Value]

    private enum Value {
        case number(Int64?)
        case text(String?)
        case bytes(ByteBuffer?)
    }

    init(_ row: inout StoredRow) throws {
        session = try row.text()
        arrivals = try row.optionalBytes()
        annotation = (try row.optionalText(), try row.optionalText())
        var values: [Value] = []
        for column in StoreSchema.exchange[..<StoreSchema.bodies] {
            switch column.kind {
            case .number: values.append(.number(try row.optionalNumber()))
            case .text: values.append(.text(try row.optionalText()))
            case .bytes: values.append(.bytes(try row.optionalBytes()))
            }
        }
        hashes = try (0..<4).map { _ in try row.optionalBytes() }
        func value(_ name: String) -> Int64? {
            guard let index = StoreSchema.exchange.firstIndex(where: { $0.name == name }), index < values.count,
                case .number(let number) = values[index]
            else { return nil }
            return number
        }
        guard let number = value("id") else { throw row.damage("is missing") }
        self.number = number
        connections = [value("client_connection"), value("upstream_connection")]
        self.values = values
    }

    func insert(
        into assembly: SessionAssembly,
        _ number: Int64,
        _ connections: [Int64?],
        _ bodies: [ByteBuffer: ByteBuffer]
    ) throws {
        let count = SessionTable.exchange.columns.count - 1
        try assembly.insert(.exchange) { sink in
            for (column, value) in zip(StoreSchema.exchange, values.prefix(count)) {
                switch column.name {
                case "id":
                    sink.bind(number)
                    // The number of the payload.
                    sink.bind(number)
                case "client_connection": sink.bind(connections[0])
                case "upstream_connection": sink.bind(connections[1])
                default: Row.bind(value, into: &sink)
                }
            }
        }
        let parts = try zip(hashes, BodySide.allCases).map { hash, side in
            try assembly.shortBody(hash.flatMap { bodies[$0] }, of: number, side: side)
        }
        try assembly.insert(.payload) { sink in
            sink.bind(number)
            for (column, value) in zip(StoreSchema.exchange, values).dropFirst(count) {
                if column.name == "trace", case .text(let trace) = value {
                    sink.bind(text: try origin(after: trace))
                } else {
                    Row.bind(value, into: &sink)
                }
            }
            for part in parts { sink.bind(part) }
        }
        if annotation.comment != nil || annotation.colour != nil {
            try assembly.insert(.annotation) { sink in
                sink.bind(number)
                sink.bind(annotation.comment)
                sink.bind(annotation.colour)
                sink.bind(nil as Int64?)
            }
        }
        var list = arrivals ?? ByteBuffer()
        while let side = list.readInteger(as: UInt8.self), let offset = list.readInteger(as: Int64.self),
            let at = list.readInteger(as: Int64.self)
        {
            try assembly.insert(.arrival) { sink in
                for value in [number, Int64(side), offset, at] { sink.bind(value) }
            }
        }
    }

    /// The trace with an entry that names the recording.
    private func origin(after trace: String?) throws -> ByteBuffer? {
        var entries = try trace.map { try JSONDecoder().decode([TraceEntry].self, from: Data($0.utf8)) } ?? []
        let text = "number \(number) of the recording \(session)"
        entries.append(TraceEntry(stage: "sluice", outcome: .note, text: text))
        return try SessionTable.trace(entries)
    }

    private static func bind(_ value: Value, into sink: inout any RowSink) {
        switch value {
        case .number(let number): sink.bind(number)
        case .text(let text): sink.bind(text)
        case .bytes(let bytes): sink.bind(bytes)
        }
    }
}

extension StoredRow {
    fileprivate mutating func copy(_ kind: SessionTable.Kind, into sink: inout any RowSink) throws {
        switch kind {
        case .number: sink.bind(try optionalNumber())
        case .text: sink.bind(try optionalText())
        case .bytes: sink.bind(try optionalBytes())
        }
    }
}

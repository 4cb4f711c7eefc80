import Content
import Foundation
package import HTTPModel
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
        _ filter: Filter,
        limit: Int,
        bodies: Bool,
        onPage: (_ found: Int, _ seen: Int) throws -> Void = { _, _ in }
    ) throws -> Bool {
        var (found, seen) = (0, 0)
        var (next, before): (Int64, Place?) = (Self.highest, nil)
        var connections = Connections()
        let asksForRecording = filter.asksForRecording
        var sessions: Set<String> = []
        while found < limit {
            let size = min(Self.page, max(limit - found, Self.smallestPage))
            let (places, hasMore) = try places(filter, before: before, limit: size)
            guard let last = places.last else { break }
            try assembly.transaction {
                for (day, group) in Dictionary(grouping: places.enumerated(), by: { $0.element.day }) {
                    let numbered = group.map { ($0.element.place, next - 1 - Int64($0.offset)) }
                    try add(numbered, day, bodies, assembly, &connections)
                }
            }
            sessions.formUnion(places.map(\.place.session))
            // A filter of recordings is another one for each of them.
            let groups = Dictionary(grouping: places.enumerated()) { asksForRecording ? $0.element.place.session : "" }
            let chosen = try groups.map { session, places in
                let numbers = places.map { next - 1 - Int64($0.offset) }
                return (asksForRecording ? filter.of(recording: session, try labels(of: session)) : filter, numbers)
            }
            found += try assembly.keep(chosen, most: limit - found)
            (next, before, seen) = (next - Int64(places.count), last.place, seen + places.count)
            try onPage(found, seen)
            if !hasMore { break }
        }
        for session in sessions.sorted() { try assembly.add(try rules(of: session)) }
        return found >= limit
    }

    /// Numbers of fetched exchanges count down from here, until the assembly gives them their own.
    private static let highest: Int64 = 1 << 40

    /// The places of the next exchanges that the columns admit, newest first.
    private func places(
        _ filter: Filter,
        before: Place?,
        limit: Int
    ) throws -> (places: [(place: Place, day: String)], hasMore: Bool) {
        let condition = SQLCondition(filter, dialect: .postgreSQL(project))
        var arguments = condition.arguments.map { argument -> PostgreSQL.Parameter in
            if case .text(let text) = argument { .text(text.replacing("\0", with: "\u{FFFD}")) } else { .null }
        }
        func add(_ text: String) -> String {
            arguments.append(.text(text))
            return "$\(arguments.count)"
        }
        var conditions = [condition.sql]
        // The days let the server leave out whole partitions.
        let times = filter.root.range(of: .startedAt, in: Int64.min...Int64.max)
        func day(_ moment: Int64) -> String {
            "(to_timestamp(\(add("\(moment / 1_000_000)"))::bigint) AT TIME ZONE 'UTC')::date"
        }
        if times.lowerBound > 0 { conditions.append("e.day >= \(day(times.lowerBound))") }
        if times.upperBound < .max { conditions.append("e.day <= \(day(times.upperBound))") }
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
        var rows: [StoredExchange] = []
        try connection.forEachRow(sql, [.text(day)] + keys.parameters) { rows.append(try StoredExchange(&$0)) }
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

    private func labels(of session: String) throws -> [String: String] {
        var rows = try connection.run(
            "SELECT labels::text FROM \(project).sessions WHERE session = $1::uuid",
            [.text(session)]
        )
        return rows.isEmpty ? [:] : try rows[0].labels()
    }

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
            let labels = try row.labels()
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

extension StoredRow {
    fileprivate mutating func labels() throws -> [String: String] {
        try JSONDecoder().decode([String: String].self, from: Data(try text().utf8))
    }

    fileprivate mutating func copy(_ kind: SessionTable.Kind, into sink: inout any RowSink) throws {
        switch kind {
        case .number: sink.bind(try optionalNumber())
        case .text: sink.bind(try optionalText())
        case .bytes: sink.bind(try optionalBytes())
        }
    }
}

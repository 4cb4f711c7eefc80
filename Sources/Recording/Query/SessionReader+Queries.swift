import Dispatch
import GRDB
package import HTTPModel

package enum ExchangeRows: Sendable {
    case all
    case range(ClosedRange<Int64>, except: [Int64] = [])
    case numbers([Int64])
}

/// Exchanges with equal values are ordered by number.
package enum ExchangeOrder: String, Sendable {
    case number = "e.id"
    case startedAt = "e.started_at"
    case method = "e.method"
    case host = "e.host"
    case path = "e.path"
    case status = "e.status"
    case mediaType = "e.media_type"
    /// See ``ExchangeRecord/listedSize``.
    case listedSize = "CASE WHEN e.kind IN (0, 6) THEN e.response_body_size ELSE e.response_wire_size END"
    case scheme = "e.scheme"
    case version = "e.client_version"
    case process = "e.process_name"
    case server = "e.server_address"
    /// In ascending order, exchanges in flight come first.
    case total = "e.total"
}

/// Exchanges below one node of the tree that share the next part: a site, or a path segment.
package struct StructureGroup: Sendable, Hashable {
    /// `scheme://host`, with the port if it is not the scheme's default; or the path segment.
    package var name: String
    package var count: Int64
    /// Failed exchanges, and those with a status of 400 or more, or a gRPC status other than OK.
    package var errors: Int64
    /// The newest exchange.
    package var newest: Int64
    /// Exchanges with further segments.
    package var further: Int64

    package mutating func add(_ others: StructureGroup) {
        count += others.count
        errors += others.errors
        newest = max(newest, others.newest)
        further += others.further
    }
}

struct ExchangeStatement {
    var sql: String
    var arguments: [SQLArgument]

    init(_ columns: String, _ rows: ExchangeRows, _ filter: Filter, _ more: String = "", joins: String = "") {
        let condition = SQLCondition(filter)
        arguments = condition.arguments
        let numbers = filter.root.range(of: .id, in: RecordedRange.numbers)
        var place: String
        switch rows {
        case .all: place = numbers == RecordedRange.numbers ? "TRUE" : ExchangeStatement.between(numbers)
        case .range(let range, let others):
            place = range.overlaps(numbers) ? ExchangeStatement.between(range.clamped(to: numbers)) : "FALSE"
            let others = others.filter(range.contains)
            if !others.isEmpty { place += " AND e.id NOT IN (\(others.map(String.init).joined(separator: ", ")))" }
        case .numbers(let numbers):
            arguments.append(.text("[\(numbers.map(String.init).joined(separator: ","))]"))
            place = "e.id IN (SELECT value FROM json_each(\(SQLDialect.sqlite.placeholder(arguments.count))))"
        }
        sql =
            "SELECT \(columns) FROM exchange AS e\(joins + condition.joins) WHERE \(place)"
            + " AND \(Schema.isKept("e.id")) AND \(condition.sql) \(more)"
    }

    private static func between(_ range: ClosedRange<Int64>) -> String {
        "e.id BETWEEN \(range.lowerBound) AND \(range.upperBound)"
    }
}

extension SessionReader {
    /// The numbers of the matching exchanges. Throws `CancellationError` if the watch ends the query, else
    /// ``SessionError``.
    package func numbers(
        of rows: ExchangeRows = .all,
        matching filter: Filter,
        by order: ExchangeOrder = .number,
        isDescending: Bool = false,
        limit: Int = -1,
        watch: StatementWatch? = nil
    ) throws -> [Int64] {
        let direction = isDescending ? " DESC" : ""
        let byNumber = order == .number ? "" : ", e.id\(direction)"
        let end = "ORDER BY \(order.rawValue)\(direction)\(byNumber) LIMIT \(limit)"
        var numbers: [Int64] = []
        try run(ExchangeStatement("e.id", rows, filter, end), watch) {
            numbers.append(try $0.number(in: RecordedRange.numbers))
        }
        return numbers
    }

    /// The matching records, lowest number first. Throws `CancellationError` if the watch ends the query, else
    /// ``SessionError``.
    package func records(
        of rows: ExchangeRows,
        matching filter: Filter,
        watch: StatementWatch? = nil
    ) throws -> [ExchangeRecord] {
        var records: [ExchangeRecord] = []
        let annotation = " LEFT JOIN annotation AS a ON a.exchange = e.id"
        let statement = ExchangeStatement(Schema.joinedRecord, rows, filter, "ORDER BY e.id", joins: annotation)
        try run(statement, watch) { records.append(try $0.record().record) }
        return records
    }

    /// Which exchanges have a row, and whether each is in flight. Throws ``SessionError``.
    package func states(of rows: ExchangeRows) throws -> [(number: Int64, isInFlight: Bool)] {
        var states: [(number: Int64, isInFlight: Bool)] = []
        try run(ExchangeStatement("e.id, e.state", rows, .everything, "ORDER BY e.id"), nil) { row in
            let number = try row.number(in: RecordedRange.numbers)
            states.append((number, try row.number() == Int64(ExchangeRecord.State.inFlight.rawValue)))
        }
        return states
    }

    /// Throws ``SessionError``.
    package func numbersInFlight() throws -> [Int64] {
        // Payload rows of exchanges in flight have negative numbers.
        let sql = "SELECT -id AS id FROM payload WHERE id < 0"
        return try rows(sql, of: "payload") { try $0.number(in: RecordedRange.numbers) }
    }

    /// Counts exchanges in flight, or ended ones, by site if `site` is `nil`, else by the segment after the site's
    /// path. Throws `CancellationError` if the watch ends the query, else ``SessionError``.
    package func structure(
        of site: RequestURL?,
        segments: [String] = [],
        rows: ExchangeRows,
        matching filter: Filter,
        inFlight isInFlight: Bool,
        watch: StatementWatch? = nil
    ) throws -> [StructureGroup] {
        let state = "e.state \(isInFlight ? "=" : "<>") \(ExchangeRecord.State.inFlight.rawValue)"
        let counts = "count(*), count(*) FILTER (WHERE \(SQLCondition.error)), max(e.id), count(*) FILTER"
        var statement: ExchangeStatement
        if let site {
            let prefix = segments.map { "/" + $0 }.joined()
            let length = prefix.unicodeScalars.count
            let slash = segments.isEmpty ? "substr(e.path, 1, 1) <> '/'" : "FALSE"
            let rest = "substr(e.path, CASE WHEN \(slash) THEN 1 ELSE \(length + 2) END)"
            statement = ExchangeStatement(
                "substr(\(rest), 1, instr(\(rest) || '/', '/') - 1), \(counts) (WHERE instr(\(rest), '/') > 0)",
                rows,
                filter
            )
            statement.sql += "AND \(state) AND e.host = \(statement.add(.text(site.host)))"
            statement.sql += " AND e.scheme = \(statement.add(.text(site.scheme))) AND e.port = \(site.port)"
            statement.sql +=
                segments.isEmpty
                ? " AND e.path <> ''"
                : " AND substr(e.path, 1, \(length + 1)) = \(statement.add(.text(prefix + "/")))"
            statement.sql += " GROUP BY 1"
        } else {
            statement = ExchangeStatement("e.host, e.port, e.scheme, \(counts) (WHERE e.path <> '')", rows, filter)
            statement.sql += "AND \(state) GROUP BY e.host, e.port, e.scheme"
        }
        var groups: [StructureGroup] = []
        try run(statement, watch) { row in
            var name = try row.text()
            if site == nil {
                let port = Int(try row.number(in: 0...65_535))
                let url = RequestURL(scheme: try row.text(), host: name, port: port, path: "")
                name = "\(url.scheme)://\(url.authority)"
            }
            groups.append(
                StructureGroup(
                    name: name,
                    count: try row.number(),
                    errors: try row.number(),
                    newest: try row.number(),
                    further: try row.number()
                )
            )
        }
        return groups
    }

    func run(
        _ statement: ExchangeStatement,
        _ watch: StatementWatch?,
        _ body: (inout RowReader) throws -> Void
    ) throws {
        try read { session in
            let prepared = try session.connection.makeStatement(sql: statement.sql)
            try session.forEachRow(of: prepared, statement.arguments, watch, "exchange", body)
        }
    }

    // MARK: - The whole session

    /// Calls `body` with one block of the range after another until it returns `false`; skips numbers without a row. A
    /// statement for a block takes some 50 ms, so that it does not block the recorder for long. Throws
    /// ``SessionError``, or an error of `body`.
    package func forEachBlock(
        of range: ClosedRange<Int64>,
        order: Order = .oldestFirst,
        for filter: Filter,
        _ body: (ClosedRange<Int64>) throws -> Bool
    ) throws {
        var size: Int64 =
            switch filter.needs {
            case .record: 8_192
            case .messages: 2_048
            case .bodies: 64
            }
        var rest = range
        while let start = try nearest(in: rest, order) {
            let begin = DispatchTime.now().uptimeNanoseconds
            let block =
                order == .oldestFirst
                ? start...min(rest.upperBound, start + size - 1) : max(rest.lowerBound, start - size + 1)...start
            guard try body(block) else { return }
            let time = DispatchTime.now().uptimeNanoseconds - begin
            if time < 25_000_000 { size = min(size * 2, 1 << 16) }
            if time > 100_000_000 { size = max(size / 2, 1) }
            if order == .oldestFirst {
                guard block.upperBound < rest.upperBound else { return }
                rest = block.upperBound + 1...rest.upperBound
            } else {
                guard block.lowerBound > rest.lowerBound else { return }
                rest = rest.lowerBound...block.lowerBound - 1
            }
        }
    }

    private func nearest(in range: ClosedRange<Int64>, _ order: Order) throws -> Int64? {
        let found = order == .oldestFirst ? "min(id)" : "max(id)"
        let sql = "SELECT \(found) AS id FROM exchange WHERE id BETWEEN ? AND ?"
        return try rows(sql, [range.lowerBound, range.upperBound], of: "exchange") {
            try $0.optionalNumber(in: RecordedRange.numbers)
        }.first ?? nil
    }

    /// Reads the matching records up to the present last exchange, lowest number first; the session is not locked while
    /// `body` runs. Throws ``SessionError``, or an error of `body`.
    package func forEachRecord(
        matching filter: Filter,
        from start: ExchangeID? = nil,
        _ body: (ExchangeRecord) throws -> Void
    ) throws {
        guard let bounds = try bounds(), start?.number ?? 1 <= bounds.upperBound else { return }
        try forEachBlock(of: max(bounds.lowerBound, start?.number ?? 1)...bounds.upperBound, for: filter) { block in
            for record in try records(of: .range(block), matching: filter) { try body(record) }
            return true
        }
    }
}

extension SessionReader {
    /// Reads the numbers of matching exchanges, of `range` or up to the present last one, lowest first, some thousands
    /// at a time. The session is not locked meanwhile. Throws ``SessionError``, or an error of `body`.
    package func forEachNumbers(
        in range: ClosedRange<Int64>? = nil,
        matching filter: Filter = .everything,
        _ body: ([Int64]) throws -> Void
    ) throws {
        guard let bounds = try range ?? bounds() else { return }
        try forEachBlock(of: bounds, for: filter) { block in
            let numbers = try numbers(of: .range(block), matching: filter)
            if !numbers.isEmpty { try body(numbers) }
            return true
        }
    }
}

extension ClosedRange<Int64> {
    /// The progress through a range of numbers, from 0 to 1.
    package func part(upTo number: Int64) -> Double {
        guard upperBound > lowerBound else { return 1 }
        return Swift.min(1, Swift.max(0, Double(number - lowerBound) / Double(upperBound - lowerBound)))
    }
}

extension ExchangeStatement {
    fileprivate mutating func add(_ argument: SQLArgument) -> String {
        arguments.append(argument)
        return SQLDialect.sqlite.placeholder(arguments.count)
    }
}

import GRDB
import GRDBSQLite
import HTTPModel

/// A row of `exchange` looked at where it lies, with just the columns that a pass needs; valid until the next row.
///
/// Nothing is copied and nothing is checked: a value of the wrong kind counts as whatever number or text SQLite makes of
/// it. Reading the record says that it is damaged.
struct LeanRow: FilterSubject {
    private let statement: SQLiteStatement
    /// Where in the statement each column is; negative where it is not.
    private let places: [CInt]

    /// The exchange's number, which is always there.
    var id: Int64 { sqlite3_column_int64(statement, 0) }
    /// Whether something is still to come; always there.
    var isInFlight: Bool { sqlite3_column_int64(statement, 1) == Int64(ExchangeRecord.State.inFlight.rawValue) }

    /// Whether messages and addresses are there, where they are asked for.
    let hasMessages: Bool

    init(_ statement: SQLiteStatement, _ columns: LeanColumns) {
        self.statement = statement
        places = columns.places
        hasMessages = columns.hasMessages
    }

    func number(_ column: FilterColumn) -> Int64? {
        let place = places[Int(column.rawValue)]
        guard place >= 0, sqlite3_column_type(statement, place) != SQLITE_NULL else { return nil }
        return sqlite3_column_int64(statement, place)
    }

    func text(_ column: FilterColumn, passes test: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        test(bytes(column))
    }

    /// The text in a column, or its bytes, as they lie there; empty where there is none.
    func bytes(_ column: FilterColumn) -> UnsafeBufferPointer<UInt8> {
        let place = places[Int(column.rawValue)]
        guard place >= 0 else { return UnsafeBufferPointer(start: nil, count: 0) }
        let start: UnsafePointer<UInt8>?
        switch sqlite3_column_type(statement, place) {
        case SQLITE_NULL: start = nil
        // Asked for as text, a blob would be copied to have a zero at its end.
        case SQLITE_BLOB: start = sqlite3_column_blob(statement, place)?.assumingMemoryBound(to: UInt8.self)
        default: start = sqlite3_column_text(statement, place)
        }
        guard let start else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, place)))
    }

    func has(_ column: FilterColumn) -> Bool {
        let place = places[Int(column.rawValue)]
        return place >= 0 && sqlite3_column_type(statement, place) != SQLITE_NULL
    }
}

/// Which columns a pass reads, and where a statement has them.
struct LeanColumns {
    /// `SELECT` and `FROM`; the exchange is `e`.
    let sql: String
    let places: [CInt]
    let hasMessages: Bool

    /// - Parameter columns: what is asked for, besides the number and the state.
    init(_ columns: Set<FilterColumn>) {
        var places = [CInt](repeating: -1, count: FilterColumn.allCases.count)
        var names: [String] = []
        let first: [FilterColumn] = [.id, .state]
        for column in first + FilterColumn.allCases where columns.contains(column) || first.contains(column) {
            guard places[Int(column.rawValue)] < 0 else { continue }
            places[Int(column.rawValue)] = CInt(names.count)
            names.append(Self.name(of: column))
        }
        self.places = places
        hasMessages = columns.contains(where: \.isBesideRow)
        var tables = "exchange AS e"
        if columns.contains(where: { (.requestHead...(.responseTrailers)).contains($0) }) {
            tables += " LEFT JOIN payload AS p ON p.id = e.payload"
        }
        if columns.contains(.clientAddress) { tables += " LEFT JOIN connection AS c ON c.id = e.client_connection" }
        if columns.contains(.serverAddress) { tables += " LEFT JOIN connection AS u ON u.id = e.upstream_connection" }
        sql = "SELECT \(names.joined(separator: ", ")) FROM \(tables)"
    }

    private static func name(of column: FilterColumn) -> String {
        switch column {
        case .id: "e.id"
        case .kind: "kind"
        case .state: "state"
        case .flags: "flags"
        case .startedAt: "started_at"
        case .method: "method"
        case .scheme: "scheme"
        case .host: "host"
        case .port: "port"
        case .path: "path"
        case .query: "query"
        case .status: "status"
        case .clientVersion: "client_version"
        case .upstreamVersion: "upstream_version"
        case .mediaType: "media_type"
        case .requestBody: "request_body_size"
        case .responseBody: "response_body_size"
        case .total: "total"
        case .failure: "failure"
        case .tallyFromClient: "client_messages"
        case .tallyFromServer: "server_messages"
        case .grpcStatus: "grpc_status"
        case .requestHead: "request_head"
        case .requestHeadSent: "request_head_sent"
        case .requestTrailers: "request_trailers"
        case .responseHead: "response_head"
        case .responseHeadSent: "response_head_sent"
        case .responseTrailers: "response_trailers"
        case .clientAddress: "c.peer_address"
        case .serverAddress: "u.peer_address"
        }
    }
}

extension SessionReader {
    /// Looks at rows one after the other, by number; `visit` says whether to go on.
    ///
    /// - Throws: `DatabaseError`, or what `visit` throws.
    func visit(
        _ columns: LeanColumns,
        in ids: ClosedRange<Int64>,
        order: Order,
        _ database: Database,
        _ visit: (LeanRow) throws -> Bool
    ) throws {
        let direction = order == .oldestFirst ? "ASC" : "DESC"
        let sql = "\(columns.sql) WHERE e.id BETWEEN ? AND ? ORDER BY e.id \(direction)"
        try step(sql, [ids.lowerBound, ids.upperBound], columns, database, visit)
    }

    /// Looks at the rows of some exchanges, in the order of the numbers; `visit` is given the row, or `nil` for a number
    /// without one, and says whether to go on.
    ///
    /// - Throws: `DatabaseError`, or what `visit` throws.
    func visit(
        _ columns: LeanColumns,
        of ids: ArraySlice<Int64>,
        _ database: Database,
        _ visit: (Int64, LeanRow?) throws -> Bool
    ) throws {
        guard let first = ids.first, let last = ids.last else { return }
        let order: Order = first < last ? .oldestFirst : .newestFirst
        func comes(_ left: Int64, before right: Int64) -> Bool { order == .oldestFirst ? left < right : left > right }
        let bounds = min(first, last)...max(first, last)
        let isDense = first != last && bounds.upperBound - bounds.lowerBound < 6 * Int64(ids.count)
        guard isDense, zip(ids, ids.dropFirst()).allSatisfy(comes) else {
            return try visitOneByOne(columns, of: ids, database, visit)
        }
        // One walk over all rows in between costs less than a look-up for each.
        var rest = ids
        try self.visit(columns, in: bounds, order: order, database) { row in
            let id = row.id
            while let next = rest.first, comes(next, before: id) {
                rest = rest.dropFirst()
                if try !visit(next, nil) {
                    rest = []
                    return false
                }
            }
            guard rest.first == id else { return true }
            rest = rest.dropFirst()
            if try visit(id, row) { return true }
            rest = []
            return false
        }
        for id in rest where try !visit(id, nil) { return }
    }

    private func visitOneByOne(
        _ columns: LeanColumns,
        of ids: ArraySlice<Int64>,
        _ database: Database,
        _ visit: (Int64, LeanRow?) throws -> Bool
    ) throws {
        let sql = "\(columns.sql) WHERE e.id = ?"
        for id in ids {
            var goesOn = true
            var isThere = false
            try step(sql, [id], columns, database) { row in
                isThere = true
                goesOn = try visit(id, row)
                return false
            }
            if !isThere { goesOn = try visit(id, nil) }
            if !goesOn { return }
        }
    }

    private func step(
        _ sql: String,
        _ arguments: [Int64],
        _ columns: LeanColumns,
        _ database: Database,
        _ visit: (LeanRow) throws -> Bool
    ) throws {
        let owner = try database.cachedStatement(sql: sql)
        let statement = owner.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in arguments.enumerated() {
            sqlite3_bind_int64(statement, CInt(index + 1), argument)
        }
        let row = LeanRow(statement, columns)
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                if try !visit(row) { return }
            case SQLITE_DONE: return
            case let code:
                let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }
}

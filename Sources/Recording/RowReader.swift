import GRDB
import GRDBSQLite
import HTTPModel
import NIOCore

/// Reads the columns of one row, left to right, and believes nothing: a session may come from anybody.
///
/// SQLite keeps any value in any column; a value of the wrong type or out of its range is an error here, where GRDB's
/// conversions would trap.
struct RowReader {
    private let statement: SQLiteStatement
    private let path: String
    private var column: CInt = -1
    /// What the row is about, for messages.
    private let subject: String

    /// Reads all rows of a query.
    ///
    /// - Parameters:
    ///   - sql: the query, with `?` for each argument.
    ///   - arguments: numbers only; that is all the session's keys are.
    ///   - database: the session's connection.
    ///   - path: the session, for messages.
    ///   - subject: what a row is about, for messages; the first column is added as its number.
    ///   - read: makes a value of a row.
    /// - Returns: the values, in the query's order.
    /// - Throws: `DatabaseError`, or what `read` throws.
    static func rows<Value>(
        _ sql: String,
        _ arguments: [Int64] = [],
        in database: Database,
        path: String,
        subject: String,
        _ read: (inout RowReader) throws -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try forEachRow(sql, arguments, in: database, path: path, subject: subject) { values.append(try read(&$0)) }
        return values
    }

    /// Reads all rows of a query, one after the other; parameters as for ``rows(_:_:in:path:subject:_:)``.
    static func forEachRow(
        _ sql: String,
        _ arguments: [Int64] = [],
        in database: Database,
        path: String,
        subject: String,
        _ read: (inout RowReader) throws -> Void
    ) throws {
        let statement = try database.cachedStatement(sql: sql)
        try forEachRow(of: statement, arguments.map(SQLArgument.number), nil, path: path, subject: subject, read)
    }

    /// Reads all rows of a statement, one after the other.
    ///
    /// - Parameters:
    ///   - owner: the statement.
    ///   - arguments: its arguments.
    ///   - watch: asked meanwhile whether to go on.
    ///   - path: the session, for messages.
    ///   - subject: what a row is about, for messages.
    ///   - read: called with each row.
    /// - Throws: `CancellationError` where the watch has ended it, else `DatabaseError` or what `read` throws.
    static func forEachRow(
        of owner: Statement,
        _ arguments: [SQLArgument],
        _ watch: StatementWatch?,
        path: String,
        subject: String,
        _ read: (inout RowReader) throws -> Void
    ) throws {
        let statement = owner.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in arguments.enumerated() { bind(argument, at: CInt(index + 1), of: statement) }
        let progress = watch.map { StatementProgress(statement, $0) }
        defer { progress?.end() }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                var row = RowReader(statement: statement, path: path, subject: subject)
                try read(&row)
            case SQLITE_DONE: return
            case SQLITE_INTERRUPT where watch != nil: throw CancellationError()
            case let code:
                let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
            }
        }
    }

    private static func bind(_ argument: SQLArgument, at place: CInt, of statement: SQLiteStatement) {
        switch argument {
        case .number(let number): sqlite3_bind_int64(statement, place, number)
        case .text(let text):
            // SQLite copies what it is given with this address (`SQLITE_TRANSIENT`, which Swift cannot import).
            let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
            sqlite3_bind_text(statement, place, text, CInt(clamping: text.utf8.count), copied)
        case .search(let search):
            // Whoever runs the statement holds its arguments until the end.
            let type = UnsafeRawPointer(FilterFunctions.pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
            sqlite3_bind_pointer(statement, place, Unmanaged.passUnretained(search).toOpaque(), type, nil)
        }
    }

    private init(statement: SQLiteStatement, path: String, subject: String) {
        self.statement = statement
        self.path = path
        self.subject = subject
    }

    // MARK: - Columns

    /// Reads a number within bounds; by default an amount.
    mutating func number(in bounds: ClosedRange<Int64> = RecordedRange.amounts) throws -> Int64 {
        guard let number = try optionalNumber(in: bounds) else { throw damage("is missing") }
        return number
    }

    /// Reads a number within bounds, or nothing.
    mutating func optionalNumber(in bounds: ClosedRange<Int64> = RecordedRange.amounts) throws -> Int64? {
        column += 1
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return nil
        case SQLITE_INTEGER:
            let number = sqlite3_column_int64(statement, column)
            guard bounds.contains(number) else { throw damage("is \(number)") }
            return number
        default: throw damage("is no number")
        }
    }

    /// Reads one of an enumeration's values.
    mutating func value<Value: RawRepresentable>(_: Value.Type) throws -> Value where Value.RawValue == UInt8 {
        let number = try number(in: 0...255)
        guard let value = Value(rawValue: UInt8(number)) else { throw damage("is \(number)") }
        return value
    }

    /// Reads one of an enumeration's values, or nothing.
    mutating func optionalValue<Value: RawRepresentable>(_: Value.Type) throws -> Value?
    where Value.RawValue == UInt8 {
        guard let number = try optionalNumber(in: 0...255) else { return nil }
        guard let value = Value(rawValue: UInt8(number)) else { throw damage("is \(number)") }
        return value
    }

    mutating func text() throws -> String {
        guard let text = try optionalText() else { throw damage("is missing") }
        return text
    }

    /// Reads text, or nothing.
    ///
    /// Bytes that are no UTF-8 become U+FFFD.
    mutating func optionalText() throws -> String? {
        column += 1
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return nil
        case SQLITE_TEXT:
            guard let start = sqlite3_column_text(statement, column) else { throw damage("cannot be read") }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        default: throw damage("is no text")
        }
    }

    /// Reads bytes, or nothing.
    mutating func optionalBytes() throws -> ByteBuffer? {
        column += 1
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return nil
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            guard count > 0 else { return ByteBuffer() }
            guard let start = sqlite3_column_blob(statement, column) else { throw damage("cannot be read") }
            return ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: count))
        default: throw damage("is no blob")
        }
    }

    /// Lends bytes where they lie, or nothing.
    mutating func withBytes<Result>(_ body: (UnsafeRawBufferPointer?) throws -> Result) throws -> Result {
        column += 1
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return try body(nil)
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            return try body(UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count))
        default: throw damage("is no blob")
        }
    }

    /// An error about the column that was read last.
    func damage(_ what: String) -> SessionError {
        let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
        let number = sqlite3_column_int64(statement, 0)
        return SessionError.damaged(path, "\(name) of \(subject) \(number) \(what)")
    }
}

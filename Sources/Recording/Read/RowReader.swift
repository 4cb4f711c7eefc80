import GRDB
import GRDBSQLite
import HTTPModel
import NIOCore

struct SessionDatabase {
    let connection: Database
    let path: String

    /// Errors about damage contain `subject` and the number in the first column. Throws `DatabaseError`, or an error of
    /// `read`.
    func rows<Value>(
        _ sql: String,
        _ arguments: [Int64] = [],
        of subject: String,
        _ read: (inout RowReader) throws -> Value
    ) throws -> [Value] {
        let statement = try connection.cachedStatement(sql: sql)
        var values: [Value] = []
        try forEachRow(of: statement, arguments.map(SQLArgument.number), nil, subject) { values.append(try read(&$0)) }
        return values
    }

    /// Throws `CancellationError` if the watch has ended the statement, else `DatabaseError` or an error of `read`.
    func forEachRow(
        of owner: Statement,
        _ arguments: [SQLArgument],
        _ watch: StatementWatch?,
        _ subject: String,
        _ read: (inout RowReader) throws -> Void
    ) throws {
        let statement = owner.sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in arguments.enumerated() { argument.bind(at: CInt(index + 1), of: statement) }
        let progress = watch.map { StatementProgress(statement, $0) }
        defer { progress?.end() }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                var row = RowReader(statement: statement, path: path, subject: subject)
                try read(&row)
            case SQLITE_DONE: return
            case SQLITE_INTERRUPT where watch != nil: throw CancellationError()
            case let code: throw DatabaseError(code, statement)
            }
        }
    }
}

extension DatabaseError {
    init(_ code: CInt, _ statement: SQLiteStatement) {
        let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(statement)))
        self.init(resultCode: ResultCode(rawValue: code), message: message)
    }
}

/// `SQLITE_TRANSIENT`, which Swift cannot import: SQLite copies the value.
var copiedBySQLite: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

extension SQLArgument {
    fileprivate func bind(at place: CInt, of statement: SQLiteStatement) {
        switch self {
        case .number(let number): sqlite3_bind_int64(statement, place, number)
        case .text(let text):
            sqlite3_bind_text(statement, place, text, CInt(clamping: text.utf8.count), copiedBySQLite)
        case .search(let search):
            // The caller keeps the arguments until the statement ends.
            let type = UnsafeRawPointer(FilterFunctions.pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
            sqlite3_bind_pointer(statement, place, Unmanaged.passUnretained(search).toOpaque(), type, nil)
        }
    }
}

/// Reads and checks the columns of a row from left to right: a session may come from anybody, and SQLite stores any
/// value in any column. Wrong types and ranges are errors, because GRDB's conversions would trap.
struct RowReader {
    private let statement: SQLiteStatement
    private let path: String
    private var column: CInt = -1
    private let subject: String
    private(set) var bytesRead = 0

    fileprivate init(statement: SQLiteStatement, path: String, subject: String) {
        self.statement = statement
        self.path = path
        self.subject = subject
    }

    mutating func skip() { column += 1 }

    mutating func number(in bounds: ClosedRange<Int64> = RecordedRange.amounts) throws -> Int64 {
        try present(try optionalNumber(in: bounds))
    }

    mutating func optionalNumber(in bounds: ClosedRange<Int64> = RecordedRange.amounts) throws -> Int64? {
        guard let number = try next(SQLITE_INTEGER, "a number", sqlite3_column_int64) else { return nil }
        guard bounds.contains(number) else { throw damage("is \(number)") }
        return number
    }

    /// Reads the next column; `nil` if it is `NULL`. Throws ``SessionError`` if it has a different type.
    private mutating func next<Value>(
        _ type: CInt,
        _ what: String,
        _ read: (SQLiteStatement, CInt) -> Value
    ) throws -> Value? {
        column += 1
        let found = sqlite3_column_type(statement, column)
        guard found != SQLITE_NULL else { return nil }
        guard found == type else { throw damage("is not \(what)") }
        return read(statement, column)
    }

    /// Also `nil` for a negative duration, which a clock that was set back causes.
    mutating func optionalDuration() throws -> Int64? {
        let amounts = RecordedRange.amounts
        return try optionalNumber(in: -amounts.upperBound...amounts.upperBound).flatMap { $0 < 0 ? nil : $0 }
    }

    mutating func value<Value: RawRepresentable>(_: Value.Type) throws -> Value where Value.RawValue == UInt8 {
        try present(try optionalValue(Value.self))
    }

    mutating func optionalValue<Value: RawRepresentable>(_: Value.Type) throws -> Value?
    where Value.RawValue == UInt8 {
        guard let number = try optionalNumber(in: 0...255) else { return nil }
        guard let value = Value(rawValue: UInt8(number)) else { throw damage("is \(number)") }
        return value
    }

    mutating func text() throws -> String { try present(try optionalText()) }

    /// Bytes that are not UTF-8 become U+FFFD.
    mutating func optionalText() throws -> String? {
        guard let start = try next(SQLITE_TEXT, "text", sqlite3_column_text) else { return nil }
        guard let start else { throw damage("cannot be read") }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func optionalBytes() throws -> ByteBuffer? {
        guard let start = try next(SQLITE_BLOB, "a blob", sqlite3_column_blob) else { return nil }
        let count = Int(sqlite3_column_bytes(statement, column))
        guard count > 0 else { return ByteBuffer() }
        guard let start else { throw damage("cannot be read") }
        bytesRead += count
        return ByteBuffer(bytes: UnsafeRawBufferPointer(start: start, count: count))
    }

    private func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw damage("is missing") }
        return value
    }

    func damage(_ what: String) -> SessionError {
        let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
        return SessionError.damaged(path, "\(name) of \(subject) \(sqlite3_column_int64(statement, 0)) \(what)")
    }
}

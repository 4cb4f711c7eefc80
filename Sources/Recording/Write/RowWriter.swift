import GRDB
import GRDBSQLite
import NIOCore

/// Fills a prepared statement through SQLite's own interface, because GRDB boxes every value, which for forty columns
/// costs more than the insert itself (see decision record 3). GRDB still does connections, transactions and errors.
struct RowWriter: RowSink {
    /// Keeps the statement alive.
    private let owner: Statement
    private let statement: SQLiteStatement
    private let scratch = BindingScratch()
    private var column: CInt = 0

    init(_ sql: String, in database: Database) throws {
        owner = try database.makeStatement(sql: sql)
        statement = owner.sqliteStatement
    }

    // `nil` leaves the column NULL.

    mutating func bind(_ value: Int64) {
        column += 1
        sqlite3_bind_int64(statement, column, value)
    }

    mutating func bind(_ value: Int64?) {
        column += 1
        if let value { sqlite3_bind_int64(statement, column, value) }
    }

    mutating func bind(_ value: String) {
        column += 1
        var value = value
        value.withUTF8 { bindText(UnsafeRawBufferPointer($0)) }
    }

    mutating func bind(_ value: String?) {
        if let value { bind(value) } else { column += 1 }
    }

    mutating func bind(_ value: ByteBuffer?) {
        column += 1
        guard let value else { return }
        if value.readableBytes == 0 {
            sqlite3_bind_zeroblob(statement, column, 0)
            return
        }
        value.withUnsafeReadableBytes { bytes in
            if let place = scratch.keep(bytes) {
                _ = sqlite3_bind_blob64(statement, column, place, UInt64(bytes.count), nil)
            } else {
                _ = sqlite3_bind_blob64(statement, column, bytes.baseAddress, UInt64(bytes.count), copiedBySQLite)
            }
        }
    }

    mutating func bind(text value: ByteBuffer?) {
        column += 1
        value?.withUnsafeReadableBytes { bindText($0) }
    }

    private func bindText(_ bytes: UnsafeRawBufferPointer) {
        let count = CInt(clamping: bytes.count)
        if let place = scratch.keep(bytes) {
            sqlite3_bind_text(statement, column, place.assumingMemoryBound(to: CChar.self), count, nil)
        } else if let start = bytes.baseAddress {
            sqlite3_bind_text(statement, column, start.assumingMemoryBound(to: CChar.self), count, copiedBySQLite)
        } else {
            // SQLite would read the missing address of an empty string as NULL.
            sqlite3_bind_text(statement, column, "", 0, copiedBySQLite)
        }
    }

    mutating func run() throws {
        defer { finish() }
        try step()
    }

    /// Binds the last column without copying.
    mutating func run(last value: ByteBuffer) throws {
        column += 1
        defer { finish() }
        try value.withUnsafeReadableBytes { bytes in
            sqlite3_bind_blob64(statement, column, bytes.baseAddress, UInt64(bytes.count), nil)
            try step()
        }
    }

    private func step() throws {
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else { throw DatabaseError(code, statement) }
    }

    private mutating func finish() {
        column = 0
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        scratch.clear()
    }
}

/// Avoids an allocation by SQLite for each short value of a row.
private final class BindingScratch {
    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
    private var used = 0

    deinit { memory.deallocate() }

    func keep(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer? {
        guard bytes.count <= memory.count - used, let base = memory.baseAddress else { return nil }
        let place = base + used
        if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
        used += bytes.count
        return UnsafeRawPointer(place)
    }

    func clear() { used = 0 }
}

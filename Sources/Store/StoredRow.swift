import CPostgres
import NIOCore

/// Reads the columns of a row from left to right, in PostgreSQL's binary form. A store may have been written by anybody.
struct StoredRow {
    private let columns: [ByteBuffer?]
    private var next = 0
    private let store: String

    init(_ columns: [ByteBuffer?], of store: String) { (self.columns, self.store) = (columns, store) }

    init(copying result: OpaquePointer, _ row: CInt, _ address: StoreAddress) {
        columns = (0..<sluice_PQnfields(result)).map { column in
            guard sluice_PQgetisnull(result, row, column) == 0, let place = sluice_PQgetvalue(result, row, column)
            else { return nil }
            let length = Int(sluice_PQgetlength(result, row, column))
            return ByteBuffer(bytes: UnsafeRawBufferPointer(start: place, count: length))
        }
        store = address.shown
    }

    mutating func optionalBytes() throws -> ByteBuffer? {
        guard next < columns.count else { throw damage("is missing") }
        next += 1
        return columns[next - 1]
    }

    mutating func optionalNumber() throws -> Int64? {
        guard let bytes = try optionalBytes() else { return nil }
        switch bytes.readableBytes {
        case 8: return bytes.getInteger(at: bytes.readerIndex, as: Int64.self)
        case 4: return bytes.getInteger(at: bytes.readerIndex, as: Int32.self).map(Int64.init)
        case 1: return bytes.getInteger(at: bytes.readerIndex, as: Int8.self).map(Int64.init)
        default: throw damage("is no number")
        }
    }

    mutating func number() throws -> Int64 {
        guard let number = try optionalNumber() else { throw damage("is missing") }
        return number
    }

    mutating func optionalText() throws -> String? { try optionalBytes().map { String(buffer: $0) } }

    mutating func text() throws -> String {
        guard let text = try optionalText() else { throw damage("is missing") }
        return text
    }

    func damage(_ what: String) -> StoreError {
        StoreError(.damaged, "Column \(next) of a row of the store \(store) \(what).")
    }
}

import NIOCore
import Recording

/// Rows as one array for each column, in PostgreSQL's binary form: `unnest` makes rows of them again, and a statement has
/// as few parameters as it has columns.
struct ColumnArrays: RowSink {
    private var columns: [(element: PostgreSQL.Element, bytes: ByteBuffer)]
    private var next = 0
    private(set) var rows: Int32 = 0

    init(_ kinds: [SessionTable.Kind]) {
        columns = kinds.map { kind in
            let element: PostgreSQL.Element =
                switch kind {
                case .number: .bigint
                case .text: .text
                case .bytes: .bytea
                }
            return (element, ByteBuffer())
        }
    }

    mutating func endRow() {
        precondition(next == columns.count, "a row has \(next) of \(columns.count) columns")
        (next, rows) = (0, rows + 1)
    }

    mutating func bind(_ value: Int64) {
        columns[next].bytes.writeInteger(Int32(8))
        columns[next].bytes.writeInteger(value)
        next += 1
    }

    mutating func bind(_ value: Int64?) { if let value { bind(value) } else { bindNull() } }

    mutating func bind(_ value: String) { bind(text: ByteBuffer(string: value)) }

    mutating func bind(_ value: String?) { if let value { bind(value) } else { bindNull() } }

    /// PostgreSQL's texts have no NUL, which becomes U+FFFD.
    mutating func bind(text value: ByteBuffer?) {
        guard let value, value.readableBytesView.contains(0) else { return bind(value) }
        let pieces = value.readableBytesView.split(separator: 0, omittingEmptySubsequences: false)
        bind(ByteBuffer(bytes: pieces.joined(separator: [0xEF, 0xBF, 0xBD])))
    }

    mutating func bind(_ value: ByteBuffer?) {
        guard let value else { return bindNull() }
        columns[next].bytes.writeInteger(Int32(clamping: value.readableBytes))
        columns[next].bytes.writeImmutableBuffer(value)
        next += 1
    }

    private mutating func bindNull() {
        columns[next].bytes.writeInteger(Int32(-1))
        next += 1
    }

    /// One-dimensional arrays that may have NULLs: dimensions, flag, type, length, and the index of the first element.
    var parameters: [PostgreSQL.Parameter] {
        columns.map { element, values in
            var array = ByteBuffer()
            array.writeInteger(Int32(rows == 0 ? 0 : 1))
            array.writeInteger(Int32(1))
            array.writeInteger(element.rawValue)
            if rows > 0 {
                array.writeInteger(rows)
                array.writeInteger(Int32(1))
            }
            array.writeImmutableBuffer(values)
            return .array(of: element, array)
        }
    }
}

import Content
import GRDBSQLite
import HTTPModel
import NIOCore

/// Functions of SQLite for filter terms that SQL cannot express: wildcards, URLs, header fields, addresses, bodies.
/// They read values in SQLite's memory and convert values of other types like SQLite does.
enum FilterFunctions {
    /// The largest part of a decoded body that is searched, in bytes.
    static let searchLimit = 16 << 20

    private typealias Function = @convention(c) (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    static func register(on connection: OpaquePointer) {
        add("sluice_matches", 3, to: connection) { context, count, values in
            let arguments = FunctionArguments(context, count, values)
            arguments.answer(arguments.search(0)?.matches(arguments.text(1), of: arguments.number(2)) ?? false)
        }
        add("sluice_has_part", 2, to: connection) { context, count, values in
            let arguments = FunctionArguments(context, count, values)
            let part = String(decoding: arguments.text(1), as: UTF8.self)
            arguments.answer(FilterTest.hasPart(arguments.text(0), part))
        }
        add("sluice_has_url", 7, to: connection) { context, count, values in
            let arguments = FunctionArguments(context, count, values)
            var text = arguments.url(at: 1).description
            arguments.answer(text.withUTF8 { arguments.search(0)?.matches($0, of: arguments.number(6)) ?? false })
        }
        add("sluice_has_address", 2, to: connection) { context, count, values in
            let arguments = FunctionArguments(context, count, values)
            guard case .glob(let glob)? = arguments.search(0)?.pattern, !arguments.isNull(1) else {
                return arguments.answer(false)
            }
            arguments.answer(FilterTest.matchesAddress(arguments.string(1), glob))
        }
        add("sluice_has_field", 6, to: connection) { context, count, values in
            let arguments = FunctionArguments(context, count, values)
            let head: StoredSection = arguments.number(1) == 0 ? .request : .response
            let isFound = [head, head, .trailers].enumerated().contains { offset, section in
                arguments.hasField(section, at: 2 + offset)
            }
            arguments.answer(isFound)
        }
        add("sluice_has_body", 8, to: connection) { context, count, values in
            FunctionArguments(context, count, values).searchBodies()
        }
        add("sluice_has_place", CInt(1 + PlaceColumn.allCases.count), to: connection) { context, count, values in
            FunctionArguments(context, count, values).searchPlace()
        }
    }

    private static func add(_ name: String, _ count: CInt, to connection: OpaquePointer, _ body: Function) {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
        sqlite3_create_function_v2(connection, name, count, flags, nil, body, nil, nil, nil)
    }

    static let pointerType = StaticString("sluice")
}

/// A function's arguments, by index from 0, and where its result is stored.
struct FunctionArguments {
    let context: OpaquePointer?
    private let values: UnsafeMutableBufferPointer<OpaquePointer?>

    init(_ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?) {
        self.context = context
        self.values = UnsafeMutableBufferPointer(start: values, count: Int(count))
    }

    func answer(_ isTrue: Bool) { sqlite3_result_int(context, isTrue ? 1 : 0) }

    func isNull(_ place: Int) -> Bool { sqlite3_value_type(values[place]) == SQLITE_NULL }

    func number(_ place: Int) -> Int64 { sqlite3_value_int64(values[place]) }

    func text(_ place: Int) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_value_text(values[place])
        return UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(values[place])))
    }

    func string(_ place: Int) -> String { String(decoding: text(place), as: UTF8.self) }

    /// Reads the URL from five columns, beginning at `place`.
    func url(at place: Int) -> RequestURL {
        RequestURL(
            scheme: string(place),
            host: string(place + 1),
            port: Int(clamping: number(place + 2)),
            path: string(place + 3),
            query: isNull(place + 4) ? nil : string(place + 4)
        )
    }

    func bytes(_ place: Int) -> UnsafeRawBufferPointer {
        let start = sqlite3_value_blob(values[place])
        return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(values[place])))
    }

    func search(_ place: Int) -> SearchedText? {
        let type = UnsafeRawPointer(FilterFunctions.pointerType.utf8Start).assumingMemoryBound(to: CChar.self)
        return sqlite3_value_pointer(values[place], type).map {
            Unmanaged<SearchedText>.fromOpaque($0).takeUnretainedValue()
        }
    }

    func hasField(_ section: StoredSection, at place: Int) -> Bool {
        let bytes = bytes(place)
        guard let search = search(0), let name = search.name, !bytes.isEmpty else { return false }
        let value: Glob? = if case .glob(let glob) = search.pattern { glob } else { nil }
        let isFound = bytes.withMemoryRebound(to: UInt8.self) {
            StoredHead.hasField(section, in: $0, name: name, value: value)
        }
        // With a regular expression, `isFound` only shows whether the field exists.
        let isExpression = if case .expression = search.pattern { true } else { false }
        if let isFound, !isFound || !isExpression { return isFound }
        let buffer = ByteBuffer(bytes: bytes)
        let fields: FieldSection? =
            switch section {
            case .request: StoredHead.request(buffer)?.fields
            case .response: StoredHead.response(buffer)?.fields
            case .trailers: StoredHead.fields(buffer)
            }
        return fields?.contains { field in
            name.matches(field.nameBytes)
                && Array(field.valueBytes).withUnsafeBufferPointer { search.matches($0, of: number(5)) }
        } ?? false
    }

    /// Searches a message's body as received and, if a rule changed it, as sent. A body is an argument, or in chunks if
    /// the argument is `NULL`.
    func searchBodies() {
        guard let text = search(0)?.question,
            let received = BodySide(rawValue: UInt8(clamping: number(2)))
        else {
            return answer(false)
        }
        let coding = coding(3)
        if isNull(4) {
            guard let isFound = searchChunks(of: received, text, coding, bytes(3)) else { return }
            if isFound { return answer(true) }
        } else {
            var search = BodySearch(text, coding: coding, head: bytes(3))
            if search.finds(bytes(4)) || search.findsAtEnd(of: number(1)) { return answer(true) }
        }
        guard let sent = BodySide(rawValue: received.rawValue + 1), number(7) != 0 || !isNull(6) else {
            return answer(false)
        }
        let sentCoding = self.coding(5) ?? coding
        let sentHead = bytes(isNull(5) ? 3 : 5)
        if isNull(6) {
            if let isFound = searchChunks(of: sent, text, sentCoding, sentHead) { answer(isFound) }
        } else {
            var search = BodySearch(text, coding: sentCoding, head: sentHead)
            answer(search.finds(bytes(6)) || search.findsAtEnd(of: number(1)))
        }
    }

    static let codingField = BodyText(Glob(containing: "content-encoding:", ignoringCase: true))

    private func coding(_ place: Int) -> String? {
        // A head without the field's name, in any case, needs no parsing.
        let head = bytes(place)
        guard Self.codingField.isFound(in: head) else { return nil }
        return StoredHead.fields(ByteBuffer(bytes: head)).value(of: .contentEncoding)
    }

    /// Whether a body in chunks contains the text; `nil` if reading fails, and the error is then the function's result.
    private func searchChunks(
        of side: BodySide,
        _ text: BodyQuestion,
        _ coding: String?,
        _ head: UnsafeRawBufferPointer
    ) -> Bool? {
        var search = BodySearch(text, coding: coding, head: head)
        do {
            var isFound: Bool?
            try rows("offset, data", of: "chunk", number(1), side) { row in
                // Bytes after a gap in a damaged session do not belong to the body.
                guard sqlite3_column_int64(row, 0) == search.end else { return false }
                let count = Int(sqlite3_column_bytes(row, 1))
                if search.finds(UnsafeRawBufferPointer(start: sqlite3_column_blob(row, 1), count: count)) {
                    isFound = true
                }
                return isFound == nil && search.end < FilterFunctions.searchLimit
            }
            return isFound ?? search.findsAtEnd(of: number(1))
        } catch {
            sqlite3_result_error_code(context, error.code)
            return nil
        }
    }

    /// Reads rows, beginning with the row that has the byte at `offset`, until `body` returns `false`.
    func rows(
        _ columns: String,
        of table: String,
        _ exchange: Int64,
        _ side: BodySide,
        from offset: Int64 = 0,
        _ body: (OpaquePointer?) -> Bool
    ) throws(RowError) {
        let sql = """
            SELECT \(columns) FROM \(table) WHERE exchange = ?1 AND side = ?2 AND offset >= coalesce(
            (SELECT max(offset) FROM \(table) WHERE exchange = ?1 AND side = ?2 AND offset <= ?3), 0) ORDER BY offset
            """
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        var code = sqlite3_prepare_v2(sqlite3_context_db_handle(context), sql, -1, &statement, nil)
        for (index, value) in [exchange, Int64(side.rawValue), offset].enumerated() {
            sqlite3_bind_int64(statement, CInt(index + 1), value)
        }
        while code == SQLITE_OK || code == SQLITE_ROW {
            code = sqlite3_step(statement)
            guard code == SQLITE_ROW, body(statement) else { break }
        }
        if code != SQLITE_ROW, code != SQLITE_DONE { throw RowError(code: code) }
    }

    struct RowError: Error {
        let code: CInt
    }
}

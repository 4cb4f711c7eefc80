import Content
import GRDBSQLite
import HTTPModel
import NIOCore

/// A column that values at places are read from; the function `sluice_has_place` gets the columns in this order.
enum PlaceColumn: Int, CaseIterable {
    case id, kind, state, flags, method, status
    case scheme, host, port, path, query
    case sentScheme, sentHost, sentPort, sentPath, sentQuery
    case requestHead, requestHeadSent, requestTrailers, requestBody, requestBodySent
    case responseHead, responseHeadSent, responseTrailers, responseBody, responseBodySent

    var isInPayload: Bool { rawValue >= PlaceColumn.requestHead.rawValue }

    var sql: String {
        let name = "\(self)".reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : String($1) }
        return (isInPayload ? "p." : "e.") + name
    }

    func isNeeded(by place: Place) -> Bool {
        let isMessage = if case .message = place.root { true } else { false }
        let isRequest = [.request, .sentRequest, .graphql].contains(place.root) || isMessage
        let isResponse = [.response, .sentResponse].contains(place.root) || isMessage
        let hasURL = [.url, .host, .path, .query, .operation, .type, .variables].contains(place.part)
        switch self {
        case .id, .kind, .state, .flags, .status, .method: return true
        case .scheme, .host, .port, .path, .query: return hasURL
        case .sentScheme, .sentHost, .sentPort, .sentPath, .sentQuery: return hasURL && place.root == .sentRequest
        case .requestHead: return isRequest && place.needs != .record
        case .responseHead: return isResponse && place.needs != .record
        case .requestHeadSent: return place.root == .sentRequest && place.needs != .record
        case .responseHeadSent: return place.root == .sentResponse && place.needs != .record
        case .requestTrailers: return isRequest && place.part == .trailer
        case .responseTrailers: return isResponse && place.part == .trailer
        case .requestBody: return isRequest && place.needs == .bodies
        case .responseBody: return isResponse && place.needs == .bodies
        case .requestBodySent: return place.root == .sentRequest && place.needs == .bodies
        case .responseBodySent: return place.root == .sentResponse && place.needs == .bodies
        }
    }
}

extension FunctionArguments {
    private func number(_ column: PlaceColumn) -> Int64 { number(1 + column.rawValue) }
    private func text(_ column: PlaceColumn) -> String { string(1 + column.rawValue) }
    private func isNull(_ column: PlaceColumn) -> Bool { isNull(1 + column.rawValue) }
    private func bytes(_ column: PlaceColumn) -> UnsafeRawBufferPointer { bytes(1 + column.rawValue) }

    private func buffer(_ column: PlaceColumn) -> ByteBuffer? {
        isNull(column) ? nil : ByteBuffer(bytes: bytes(column))
    }

    /// Answers whether a value at the searched place meets the condition.
    func searchPlace() {
        guard let search = search(0), let test = search.place else { return answer(false) }
        guard mayPass(search, test) else { return answer(false) }
        let places = ExchangePlaces(exchange, source: RowSource(arguments: self))
        do {
            answer(
                try places.values(at: test.place).contains { value in
                    value.bytes.withUnsafeBufferPointer { bytes in
                        guard case .expression(let expression) = test.condition else { return test.matches(bytes) }
                        let text = UnsafeRawBufferPointer(bytes)
                        return UnfinishedSearches.finds(expression, in: text, of: number(.id))
                    }
                }
            )
        } catch let error as RowError {
            sqlite3_result_error_code(context, error.code)
        } catch {
            sqlite3_result_error(context, "reading a body failed: \(error)", -1)
        }
    }

    private static let plainCharset = BodyText(Glob(containing: "charset=utf-8", ignoringCase: true))

    /// Whether a short JSON body contains all texts that a match needs, and a possible match after the last name. If
    /// not, the body is not parsed.
    private func mayPass(_ search: SearchedText, _ test: PlaceTest) -> Bool {
        guard !search.needed.isEmpty else { return true }
        let (head, body): (PlaceColumn, PlaceColumn)
        switch test.place.root {
        case .request: (head, body) = (.requestHead, .requestBody)
        case .response: (head, body) = (.responseHead, .responseBody)
        default: return true
        }
        let (text, fields) = (bytes(body), bytes(head))
        let isPlain =
            !Self.codingField.isFound(in: fields)
            && (!BodySearch.charsetName.isFound(in: fields) || Self.plainCharset.isFound(in: fields))
        guard isPlain, !isNull(body), !text.has(UInt8(ascii: "\\")) else { return true }
        guard search.needed.allSatisfy({ $0.isFound(in: text) }) else { return false }
        guard let name = search.valueName else { return true }
        var position = 0
        while let end = name.end(in: text, from: position) {
            if test.mayPass(behindName: UnsafeRawBufferPointer(rebasing: text[end...])) { return true }
            position = end
        }
        return false
    }

    /// The exchange, from the columns that are not `NULL`.
    private var exchange: RecordedExchange {
        var record = ExchangeRecord(
            id: ExchangeID(number(.id)),
            kind: ExchangeRecord.Kind(rawValue: UInt8(clamping: number(.kind))) ?? .http,
            startedAt: 0,
            method: text(.method),
            url: url(at: 1 + PlaceColumn.scheme.rawValue),
            clientConnection: ConnectionID(1)
        )
        record.state = ExchangeRecord.State(rawValue: UInt8(clamping: number(.state))) ?? .complete
        record.flags = ExchangeRecord.Flags(rawValue: UInt32(clamping: number(.flags)))
        record.status = Int(clamping: number(.status))
        if !isNull(.sentScheme) { record.sentURL = url(at: 1 + PlaceColumn.sentScheme.rawValue) }
        var messages = ExchangeMessages()
        messages.requestHead = buffer(.requestHead)
        messages.requestHeadSent = buffer(.requestHeadSent)
        messages.requestTrailers = buffer(.requestTrailers)
        messages.responseHead = buffer(.responseHead)
        messages.responseHeadSent = buffer(.responseHeadSent)
        messages.responseTrailers = buffer(.responseTrailers)
        return RecordedExchange(record: record, messages: messages)
    }

    /// The exchange of the row. Short bodies are arguments; long bodies and arrivals are read from their tables.
    private struct RowSource: ExchangeSource {
        let arguments: FunctionArguments

        func exchange(_ id: ExchangeID) -> RecordedExchange? { arguments.exchange }

        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
            let column: PlaceColumn =
                switch side {
                case .requestReceived: .requestBody
                case .requestSent: .requestBodySent
                case .responseReceived: .responseBody
                case .responseSent: .responseBodySent
                }
            if !arguments.isNull(column) {
                return ByteBuffer(bytes: arguments.bytes(column).dropFirst(Int(clamping: offset)).prefix(limit))
            }
            var body = ByteBuffer()
            var isThere = false
            try arguments.rows("offset, data", of: "chunk", id.number, side, from: offset) { row in
                isThere = true
                let skipped = offset + Int64(body.readableBytes) - sqlite3_column_int64(row, 0)
                let count = Int(sqlite3_column_bytes(row, 1))
                // Bytes after a gap in a damaged session do not belong to the body.
                guard skipped >= 0, skipped < count else { return false }
                let data = UnsafeRawBufferPointer(start: sqlite3_column_blob(row, 1), count: count)
                body.writeBytes(data.dropFirst(Int(skipped)).prefix(limit - body.readableBytes))
                return body.readableBytes < limit
            }
            guard !isThere, let received = side.received else { return body }
            return try self.body(of: id, side: received, offset: offset, limit: limit)
        }

        func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
            var arrivals: [Arrival] = []
            try arguments.rows("offset, at", of: "arrival", id.number, side, from: offset) { row in
                arrivals.append(Arrival(offset: sqlite3_column_int64(row, 0), at: sqlite3_column_int64(row, 1)))
                return arrivals.count < limit
            }
            return arrivals
        }
    }
}

extension PlaceTest {
    /// Whether the text after a quoted name, without escapes, may be a colon and a value that meets the condition.
    fileprivate func mayPass(behindName text: UnsafeRawBufferPointer) -> Bool {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        let colon = text.drop(while: isSpace)
        guard colon.first == UInt8(ascii: ":") else { return false }
        let rest = colon.dropFirst().drop(while: isSpace)
        switch (condition, rest.first) {
        case (_, nil): return false
        case (.expression, _), (_, UInt8(ascii: "{")?), (_, UInt8(ascii: "[")?): return true
        case (_, UInt8(ascii: "\"")?):
            return isMatched(rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") })
        default:
            return isMatched(rest.prefix { !isSpace($0) && ![0x2C, 0x5D, 0x7D].contains($0) })
        }
    }

    private func isMatched(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
        UnsafeRawBufferPointer(rebasing: value).withMemoryRebound(to: UInt8.self) { matches($0) }
    }
}

import NIOCore

/// One thing that is asked about an exchange.
enum FilterTest: Sendable, Hashable {
    /// A text of the record.
    enum TextField: Sendable, Hashable {
        case scheme
        case host
        case path
        case query
        case method
        case mediaType

        var column: FilterColumn {
            switch self {
            case .scheme: .scheme
            case .host: .host
            case .path: .path
            case .query: .query
            case .method: .method
            case .mediaType: .mediaType
            }
        }
    }

    /// A number of the record.
    enum NumberField: Sendable, Hashable {
        case id
        case port
        case status
        case size
        case time
        case startedAt
        case messages
        case grpc
    }

    /// Whose messages are looked at.
    enum Side: Sendable, Hashable {
        case request
        case response
        case either
    }

    /// What must be at hand for the answer.
    enum Needs: Sendable, Hashable {
        case record
        case messages
        case bodies
    }

    case text(TextField, Glob)
    case url(Glob)
    /// The media type, or a part of it between its punctuation: `json` also means `application/problem+json`.
    case mediaTypePart(String)
    case number(NumberField, ClosedRange<Int64>)
    case version(ClosedRange<HTTPVersion>)
    case property(FilterProperty)
    case address(ConnectionRecord.Leg, Glob)
    case field(Side, name: Glob, value: Glob?)
    case body(Side, Glob)

    var needs: Needs {
        switch self {
        case .text, .url, .mediaTypePart, .number, .version, .property: .record
        case .address, .field: .messages
        case .body: .bodies
        }
    }

    /// The columns that the test looks at; empty where it looks at bodies.
    var columns: [FilterColumn] {
        switch self {
        case .text(let field, _): [field.column]
        case .url: [.scheme, .host, .port, .path, .query]
        case .mediaTypePart: [.mediaType]
        case .number(let field, _):
            switch field {
            case .id: [.id]
            case .port: [.port]
            case .status: [.status]
            case .size: [.requestBody, .responseBody]
            case .time: [.total]
            case .startedAt: [.startedAt]
            case .messages: [.tallyFromClient, .tallyFromServer]
            case .grpc: [.grpcStatus]
            }
        case .version: [.clientVersion, .upstreamVersion]
        case .property: [.kind, .state, .flags, .failure, .grpcStatus, .mediaType]
        case .address(let leg, _): [leg == .client ? .clientAddress : .serverAddress]
        case .field(let side, _, _):
            (side == .response ? [] : [.requestHead, .requestHeadSent, .requestTrailers])
                + (side == .request ? [] : [.responseHead, .responseHeadSent, .responseTrailers])
        case .body: []
        }
    }

    var cost: Int {
        switch self {
        case .number, .version, .property: 0
        case .text, .mediaTypePart: 1
        case .url: 2
        case .address, .field: 3
        case .body: 4
        }
    }
}

// MARK: - What the record answers

extension FilterTest {
    /// Whether it holds, as far as what is at hand tells; `nil` where it does not.
    func decides(_ row: some FilterSubject) -> Bool? {
        switch self {
        case .body: return nil
        case .address(let leg, let glob):
            guard row.hasMessages else { return nil }
            return row.text(leg == .client ? .clientAddress : .serverAddress) { address in
                !address.isEmpty
                    && (glob.matches(address)
                        || glob.matches(FilterTest.withoutPort(String(decoding: address, as: UTF8.self))))
            }
        case .field(let side, let name, let value):
            guard row.hasMessages else { return nil }
            return FilterTest.hasField(of: row, side, name, value)
        default: return matches(row)
        }
    }

    private static let requestSections: [(FilterColumn, StoredSection)] = [
        (.requestHead, .request), (.requestHeadSent, .request), (.requestTrailers, .trailers),
    ]
    private static let responseSections: [(FilterColumn, StoredSection)] = [
        (.responseHead, .response), (.responseHeadSent, .response), (.responseTrailers, .trailers),
    ]

    /// Whether a field of a side passes; `nil` where that is to be asked of the heads as a whole.
    private static func hasField(of row: some FilterSubject, _ side: Side, _ name: Glob, _ value: Glob?) -> Bool? {
        var isKnown = true
        func search(_ sections: [(FilterColumn, StoredSection)]) -> Bool {
            for (column, section) in sections {
                let isFound = row.text(column) { bytes in
                    guard !bytes.isEmpty else { return false }
                    let found = StoredHead.hasField(section, in: bytes, name: name, value: value)
                    if found == nil { isKnown = false }
                    return found == true
                }
                if isFound { return true }
            }
            return false
        }
        if side != .response, search(requestSections) { return true }
        if side != .request, search(responseSections) { return true }
        return isKnown ? false : nil
    }

    func matches(_ row: some FilterSubject) -> Bool {
        switch self {
        case .text(let field, let glob): row.text(field.column) { glob.matches($0) }
        case .url(let glob): row.urlText { glob.matches($0) }
        case .mediaTypePart(let part): row.text(.mediaType) { FilterTest.hasPart($0, part) }
        case .number(let field, let range): FilterTest.number(field, of: row).map(range.contains) ?? false
        case .version(let range):
            FilterTest.contains(range, row.number(.clientVersion))
                || FilterTest.contains(range, row.number(.upstreamVersion))
        case .property(let property): property.holds(for: row)
        case .address, .field, .body: false
        }
    }

    private static func contains(_ range: ClosedRange<HTTPVersion>, _ version: Int64?) -> Bool {
        guard let version else { return false }
        return Int64(range.lowerBound.rawValue) <= version && version <= Int64(range.upperBound.rawValue)
    }

    private static func number(_ field: NumberField, of row: some FilterSubject) -> Int64? {
        switch field {
        case .id: row.number(.id)
        case .port: row.number(.port)
        case .status: row.number(.status)
        case .size: (row.number(.requestBody) ?? 0) &+ (row.number(.responseBody) ?? 0)
        case .time: row.number(.total)
        case .startedAt: row.number(.startedAt)
        case .messages: (row.number(.tallyFromClient) ?? 0) &+ (row.number(.tallyFromServer) ?? 0)
        case .grpc: row.number(.grpcStatus)
        }
    }

    private static func hasPart(_ text: UnsafeBufferPointer<UInt8>, _ part: String) -> Bool {
        part.withUTF8Bytes { part in
            guard text.count >= part.count else { return false }
            for start in 0...(text.count - part.count) {
                let end = start + part.count
                if start == 0 || !isWordByte(text[start - 1]), end == text.count || !isWordByte(text[end]),
                    zip(text[start..<end], part).allSatisfy({ FieldName.lower($0) == $1 })
                {
                    return true
                }
            }
            return false
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
    }
}

// MARK: - What heads, connections and bodies answer

extension FilterTest {
    func matches(_ exchange: RecordedExchange) -> Bool {
        switch self {
        case .address(let leg, let glob):
            guard let connection = leg == .client ? exchange.client : exchange.upstream else { return false }
            return glob.matches(connection.peerAddress) || glob.matches(FilterTest.withoutPort(connection.peerAddress))
        case .field(let side, let name, let value):
            return FilterTest.sections(of: exchange.messages, side).contains { section in
                section.contains { field in
                    name.matches(field.nameBytes) && (value?.matches(field.valueBytes) ?? true)
                }
            }
        default: return false
        }
    }

    /// The fields of all heads and trailers of a side, as received and as sent.
    private static func sections(
        of messages: ExchangeMessages,
        _ side: Side
    ) -> some Sequence<FieldSection> {
        var sections: [FieldSection] = []
        if side != .response {
            for head in [messages.requestHead, messages.requestHeadSent] {
                if let head = head.flatMap(StoredHead.request) { sections.append(head.fields) }
            }
            if let trailers = messages.requestTrailers { sections.append(StoredHead.fields(trailers)) }
        }
        if side != .request {
            for head in [messages.responseHead, messages.responseHeadSent] {
                if let head = head.flatMap(StoredHead.response) { sections.append(head.fields) }
            }
            if let trailers = messages.responseTrailers { sections.append(StoredHead.fields(trailers)) }
        }
        return sections
    }

    private static func withoutPort(_ address: String) -> String {
        guard let colon = address.lastIndex(of: ":") else { return address }
        let host = address[..<colon]
        return String(host.first == "[" && host.last == "]" ? host.dropFirst().dropLast() : host)
    }

    func matchesBody(of record: ExchangeRecord, _ body: (BodySide) throws -> ByteBuffer?) rethrows -> Bool {
        guard case .body(let side, let glob) = self else { return false }
        // The side as sent is only worth reading where a stage changed the message.
        if side != .response {
            if let bytes = try body(.requestReceived), glob.matches(bytes.readableBytesView) { return true }
            if record.flags.contains(.requestChanged), let bytes = try body(.requestSent),
                glob.matches(bytes.readableBytesView)
            {
                return true
            }
        }
        if side != .request {
            if let bytes = try body(.responseReceived), glob.matches(bytes.readableBytesView) { return true }
            if record.flags.contains(.responseChanged), let bytes = try body(.responseSent),
                glob.matches(bytes.readableBytesView)
            {
                return true
            }
        }
        return false
    }
}

extension Glob {
    fileprivate func matches(_ bytes: ByteBufferView) -> Bool {
        bytes.withContiguousStorageIfAvailable { matches($0) } ?? false
    }
}

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
    func matches(_ record: ExchangeRecord) -> Bool {
        switch self {
        case .text(let field, let glob):
            switch field {
            case .scheme: glob.matches(record.url.scheme)
            case .host: glob.matches(record.url.host)
            case .path: glob.matches(record.url.path)
            case .query: glob.matches(record.url.query ?? "")
            case .method: glob.matches(record.method)
            case .mediaType: glob.matches(record.mediaType)
            }
        case .url(let glob): record.url.withTextBytes { glob.matches($0) }
        case .mediaTypePart(let part): FilterTest.hasPart(record.mediaType, part)
        case .number(let field, let range): FilterTest.number(field, of: record).map(range.contains) ?? false
        case .version(let range):
            range.contains(record.clientVersion) || record.upstreamVersion.map(range.contains) ?? false
        case .property(let property): property.holds(for: record)
        case .address, .field, .body: false
        }
    }

    private static func number(_ field: NumberField, of record: ExchangeRecord) -> Int64? {
        switch field {
        case .id: record.id.number
        case .port: Int64(record.url.port)
        case .status: Int64(record.status)
        case .size: record.sizes.requestBody &+ record.sizes.responseBody
        case .time: record.timings.total
        case .startedAt: record.startedAt
        case .messages: record.tally.fromClient &+ record.tally.fromServer
        case .grpc: (record.grpc?.status).map(Int64.init)
        }
    }

    private static func hasPart(_ mediaType: String, _ part: String) -> Bool {
        mediaType.withUTF8Bytes { text in
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

extension RequestURL {
    /// Lends the UTF-8 bytes of ``description``, put together on the stack.
    func withTextBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let isTunnel = scheme == "tunnel"
        let hasPath = !isTunnel && path != "*"
        // "://", brackets, ":65535" (or whatever an Int is written as) and "?".
        let capacity =
            scheme.utf8.count + host.utf8.count + 32 + (hasPath ? path.utf8.count + (query?.utf8.count ?? 0) : 0)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            var count = 0
            func put(_ text: String) {
                text.withUTF8Bytes { bytes in
                    for byte in bytes {
                        buffer.initializeElement(at: count, to: byte)
                        count += 1
                    }
                }
            }
            if !isTunnel {
                put(scheme)
                put("://")
            }
            let isAddress = host.utf8.contains(UInt8(ascii: ":"))
            if isAddress { put("[") }
            put(host)
            if isAddress { put("]") }
            if port != RequestURL.defaultPort(of: scheme) {
                put(":")
                put(String(port))
            }
            if hasPath {
                put(path)
                if let query {
                    put("?")
                    put(query)
                }
            }
            return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }
}

package enum FilterTest: Sendable, Hashable {
    package enum TextField: Sendable, Hashable {
        case scheme, host, path, query, method, mediaType, process, mode, comment, colour
    }

    package enum NumberField: Sendable, Hashable {
        case id, port, status, size, time, startedAt, messages, grpc, process
    }

    package enum Side: Sendable, Hashable {
        case request, response, either
    }

    /// Cheapest first.
    package enum Needs: Int, Sendable, Hashable {
        case record, messages, bodies
    }

    package enum Subject: Sendable, Hashable {
        case text(TextField)
        case url
        case field(Side, name: Glob)
        case body(Side)
    }

    package enum Pattern: Sendable, Hashable {
        /// Any value of a field.
        case any
        case glob(Glob)
        case expression(FilterExpression)

        package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
            switch self {
            case .any: true
            case .glob(let glob): glob.matches(text)
            case .expression(let expression): expression.matches(UnsafeRawBufferPointer(text))
            }
        }

        fileprivate func matches(_ text: String) -> Bool { text.withUTF8Bytes { matches($0) } }
    }

    /// A test of the recording that an exchange is of, which its record does not know.
    package enum Recording: Sendable, Hashable {
        /// The beginning of its identifier, in lower case.
        case identifier(String)
        case label(name: String, value: String)

        package func holds(for identifier: String, _ labels: [String: String]) -> Bool {
            switch self {
            case .identifier(let beginning): identifier.lowercased().hasPrefix(beginning)
            case .label(let name, let value): labels[name] == value
            }
        }
    }

    case matches(Subject, Pattern)
    /// The media type or a part between punctuation: `json` also means `application/problem+json`.
    case mediaTypePart(String)
    case number(NumberField, ClosedRange<Int64>)
    case version(ClosedRange<HTTPVersion>)
    case property(FilterProperty)
    case address(ConnectionRecord.Leg, Glob)
    case place(PlaceTest)
    case recording(Recording)

    static func text(_ field: TextField, _ glob: Glob) -> FilterTest { .matches(.text(field), .glob(glob)) }

    package var needs: Needs {
        switch self {
        case .address, .matches(.field, _): .messages
        case .matches(.body, _): .bodies
        case .matches, .mediaTypePart, .number, .version, .property, .recording: .record
        case .place(let test): test.place.needs
        }
    }

    var cost: Int {
        switch self {
        case .number, .version, .property, .recording: 0
        case .matches(.text, .glob), .mediaTypePart: 1
        case .matches(.url, .glob): 2
        case .matches(.text, _), .matches(.url, _): 3
        case .matches(.field, .expression): 5
        case .matches(.field, _), .address: 4
        case .matches(.body, .expression): 7
        case .matches(.body, _): 6
        case .place(let test): [2, 4, 8][test.place.needs.rawValue]
        }
    }
}

extension FilterTest {
    /// `nil` if the record alone does not decide.
    package func decides(_ record: ExchangeRecord) -> Bool? {
        switch self {
        case .matches(.text(let field), let pattern): pattern.matches(field.text(of: record))
        case .matches(.url, let pattern): pattern.matches(record.url.description)
        case .mediaTypePart(let part): record.mediaType.withUTF8Bytes { FilterTest.hasPart($0, part) }
        case .number(let field, let range): field.number(of: record).map(range.contains) ?? false
        case .version(let range):
            range.contains(record.clientVersion) || record.upstreamVersion.map(range.contains) ?? false
        case .property(let property): property.holds(for: record)
        case .place(let test): test.decides(record)
        case .address, .recording, .matches(.field, _), .matches(.body, _): nil
        }
    }

    /// Whether `part` (in lower case) occurs without a letter or digit beside it.
    package static func hasPart(_ text: UnsafeBufferPointer<UInt8>, _ part: String) -> Bool {
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

    private static func isWordByte(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 }

    package static func matchesAddress(_ address: String, _ glob: Glob) -> Bool {
        if glob.matches(address) { return true }
        // Imported addresses may lack a port.
        let colon = address.last == "]" ? address.endIndex : address.lastIndex(of: ":")
        guard let colon else { return false }
        let host = address[..<colon]
        return glob.matches(String(host.first == "[" && host.last == "]" ? host.dropFirst().dropLast() : host))
    }
}

extension FilterTest.TextField {
    fileprivate func text(of record: ExchangeRecord) -> String {
        switch self {
        case .scheme: record.url.scheme
        case .host: record.url.host
        case .path: record.url.path
        case .query: record.url.query ?? ""
        case .method: record.method
        case .mediaType: record.mediaType
        case .comment: record.extras.annotation.comment ?? ""
        case .colour: record.extras.annotation.colour ?? ""
        case .process: record.extras.process?.name ?? ""
        case .mode: record.extras.listeningMode ?? "regular"
        }
    }
}

extension FilterTest.NumberField {
    fileprivate func number(of record: ExchangeRecord) -> Int64? {
        switch self {
        case .id: record.id.number
        case .port: Int64(record.url.port)
        case .status: Int64(record.status)
        case .size: record.listedSize
        case .time: record.timings.total
        case .startedAt: record.startedAt
        case .messages: record.tally.fromClient &+ record.tally.fromServer
        case .grpc: (record.grpc?.status).map(Int64.init)
        case .process: (record.extras.process?.id).map(Int64.init)
        }
    }
}

/// What a filter can ask of an exchange: columns of the narrow row, and where they are at hand those beside it.
package enum FilterColumn: UInt8, Sendable, Hashable, CaseIterable {
    /// The number in the session.
    case id
    /// ``ExchangeRecord/Kind``.
    case kind
    /// ``ExchangeRecord/State``.
    case state
    /// ``ExchangeRecord/Flags``.
    case flags
    /// When it began.
    case startedAt
    /// The request method.
    case method
    /// The URL's scheme.
    case scheme
    /// The URL's host.
    case host
    /// The URL's port.
    case port
    /// The URL's path.
    case path
    /// The URL's query.
    case query
    /// The status code.
    case status
    /// The version of the client leg.
    case clientVersion
    /// The version of the upstream leg.
    case upstreamVersion
    /// The response's media type.
    case mediaType
    /// Bytes of the request's body.
    case requestBody
    /// Bytes of the response's body.
    case responseBody
    /// How long it took in all.
    case total
    /// The kind of failure.
    case failure
    /// Messages from the client.
    case tallyFromClient
    /// Messages from the server.
    case tallyFromServer
    /// The gRPC status.
    case grpcStatus
    /// The request's head as received.
    case requestHead
    /// The request's head as sent, where it is another.
    case requestHeadSent
    /// The request's trailers.
    case requestTrailers
    /// The response's head as received.
    case responseHead
    /// The response's head as sent, where it is another.
    case responseHeadSent
    /// The response's trailers.
    case responseTrailers
    /// The client's address.
    case clientAddress
    /// The server's address.
    case serverAddress

    /// Whether it stands beside the narrow row, with the messages or the connections.
    package var isBesideRow: Bool { self >= .requestHead }
}

extension FilterColumn: Comparable {
    /// Whether the first stands before the second.
    package static func < (left: FilterColumn, right: FilterColumn) -> Bool { left.rawValue < right.rawValue }
}

/// Something with the columns of an exchange's narrow row: a record, or a row that is looked at where it lies.
///
/// A pass over a million rows has no time to make a record of each; it asks for just what the filter needs.
package protocol FilterSubject {
    /// The number in a column; `nil` where there is none.
    func number(_ column: FilterColumn) -> Int64?
    /// Whether the text in a column, as UTF-8, passes a test; no text counts as an empty one.
    func text(_ column: FilterColumn, passes test: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool
    /// Whether there is anything in a column, be it an empty text.
    func has(_ column: FilterColumn) -> Bool
    /// Whether heads, trailers and addresses can be asked for too.
    var hasMessages: Bool { get }
}

extension ExchangeRecord: FilterSubject {
    /// A record has no messages.
    package var hasMessages: Bool { false }

    /// The number in a column; `nil` where there is none, or where the column holds text.
    package func number(_ column: FilterColumn) -> Int64? {
        switch column {
        case .id: id.number
        case .kind: Int64(kind.rawValue)
        case .state: Int64(state.rawValue)
        case .flags: Int64(flags.rawValue)
        case .startedAt: startedAt
        case .port: Int64(url.port)
        case .status: Int64(status)
        case .clientVersion: Int64(clientVersion.rawValue)
        case .upstreamVersion: (upstreamVersion?.rawValue).map(Int64.init)
        case .requestBody: sizes.requestBody
        case .responseBody: sizes.responseBody
        case .total: timings.total
        case .tallyFromClient: tally.fromClient
        case .tallyFromServer: tally.fromServer
        case .grpcStatus: (grpc?.status).map(Int64.init)
        default: nil
        }
    }

    /// Whether the text in a column passes a test; a column without text counts as an empty one.
    package func text(_ column: FilterColumn, passes test: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        (text(column) ?? "").withUTF8Bytes(test)
    }

    /// Whether there is anything in a column.
    package func has(_ column: FilterColumn) -> Bool {
        number(column) != nil || text(column) != nil
    }

    private func text(_ column: FilterColumn) -> String? {
        switch column {
        case .method: method
        case .scheme: url.scheme
        case .host: url.host
        case .path: url.path
        case .query: url.query
        case .mediaType: mediaType
        case .failure: failure?.code.rawValue
        default: nil
        }
    }
}

extension FilterSubject {
    /// Whether the URL as text, put together on the stack, passes a test.
    func urlText(passes test: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        text(.scheme) { scheme in
            text(.host) { host in
                text(.path) { path in
                    text(.query) { query in
                        let port = number(.port) ?? 0
                        let query = has(.query) ? query : nil
                        return URLText(scheme: scheme, host: host, port: port, path: path, query: query).passes(test)
                    }
                }
            }
        }
    }
}

/// The parts of a URL, to be tested as ``RequestURL/description`` writes them.
private struct URLText {
    var scheme: UnsafeBufferPointer<UInt8>
    var host: UnsafeBufferPointer<UInt8>
    var port: Int64
    var path: UnsafeBufferPointer<UInt8>
    var query: UnsafeBufferPointer<UInt8>?

    func passes(_ test: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        let isTunnel = scheme.count == 6 && scheme.elementsEqual("tunnel".utf8)
        let hasPath = !isTunnel && !(path.count == 1 && path[0] == UInt8(ascii: "*"))
        // "://", brackets, ":65535" (or whatever a number is written as) and "?".
        let capacity = scheme.count + host.count + 32 + (hasPath ? path.count + (query?.count ?? 0) : 0)
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { buffer in
            var text = URLBuffer(buffer)
            if !isTunnel {
                text.put(scheme)
                text.put(UInt8(ascii: ":"))
                text.put(UInt8(ascii: "/"))
                text.put(UInt8(ascii: "/"))
            }
            let isAddress = host.contains(UInt8(ascii: ":"))
            if isAddress { text.put(UInt8(ascii: "[")) }
            text.put(host)
            if isAddress { text.put(UInt8(ascii: "]")) }
            if port != defaultPort {
                text.put(UInt8(ascii: ":"))
                for byte in String(port).utf8 { text.put(byte) }
            }
            if hasPath {
                text.put(path)
                if let query {
                    text.put(UInt8(ascii: "?"))
                    text.put(query)
                }
            }
            return test(text.written)
        }
    }

    /// As ``RequestURL/defaultPort(of:)`` has it.
    private var defaultPort: Int64? {
        if scheme.elementsEqual("https".utf8) || scheme.elementsEqual("wss".utf8) { return 443 }
        return scheme.elementsEqual("http".utf8) || scheme.elementsEqual("ws".utf8) ? 80 : nil
    }
}

/// Memory that a URL is written into.
private struct URLBuffer {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
        self.buffer = buffer
    }

    var written: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: buffer[..<count]) }

    mutating func put(_ byte: UInt8) {
        buffer.initializeElement(at: count, to: byte)
        count += 1
    }

    mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress, let place = buffer.baseAddress else { return }
        (place + count).initialize(from: start, count: bytes.count)
        count += bytes.count
    }
}

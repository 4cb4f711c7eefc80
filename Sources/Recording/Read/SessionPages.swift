import Content
package import HTTPModel
package import NIOCore

/// Reads pages of exchanges with their short bodies for exports; long bodies and arrivals are read on demand. Use it on
/// one thread.
package final class SessionPages: ExchangeSource {
    /// In bytes of heads and bodies; the exchange that reaches it is the last of its page.
    static let longestPage = 1 << 20

    private struct Bodies {
        var short: (ByteBuffer?, ByteBuffer?, ByteBuffer?, ByteBuffer?)
        var hasLong: Bool

        func short(_ side: BodySide) -> ByteBuffer? {
            switch side {
            case .requestReceived: short.0
            case .requestSent: short.1
            case .responseReceived: short.2
            case .responseSent: short.3
            }
        }
    }

    private let reader: SessionReader
    private let check: () throws -> Void
    private var bodies: [ExchangeID: Bodies] = [:]
    private var certificates = KnownCertificates()

    /// `check` is called before each read; an error that it throws ends the reading.
    package init(_ reader: SessionReader, check: @escaping () throws -> Void = {}) {
        (self.reader, self.check) = (reader, check)
    }

    /// Reads a page and removes its numbers; numbers without an exchange are skipped. Throws ``SessionError``.
    package func read(_ numbers: inout ArraySlice<Int64>) throws -> [RecordedExchange] {
        try check()
        bodies.removeAll(keepingCapacity: true)
        var rest = numbers
        var exchanges: [RecordedExchange] = []
        try reader.read(inOneTransaction: true) { session in
            var page = try PageStatements(session, certificates)
            var size = 0
            while size < SessionPages.longestPage, let number = rest.popFirst() {
                guard let found = try page.exchange(number) else { continue }
                let hasLong = try page.hasLongBodies(number)
                bodies[found.exchange.record.id] = Bodies(short: found.bodies, hasLong: hasLong)
                exchanges.append(found.exchange)
                size += found.size
            }
            certificates = page.certificates
        }
        numbers = rest
        return exchanges
    }

    // MARK: - The source of the page's exchanges

    package func exchange(_ id: ExchangeID) throws -> RecordedExchange? {
        try check()
        return try reader.exchange(id)
    }

    package func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        guard let own = bodies[id] else {
            try check()
            return try reader.body(of: id, side: side, offset: offset, limit: limit)
        }
        if own.short(side) == nil, own.hasLong {
            try check()
            return try reader.body(of: id, side: side, offset: offset, limit: limit)
        }
        guard limit > 0, offset >= 0, let body = own.short(side) ?? side.received.flatMap({ own.short($0) }),
            offset < Int64(body.readableBytes)
        else { return ByteBuffer() }
        let start = body.readerIndex + Int(offset)
        return body.getSlice(at: start, length: min(limit, body.writerIndex - start)) ?? ByteBuffer()
    }

    package func arrivals(of id: ExchangeID, side: BodySide) throws -> [Arrival] {
        try check()
        return try reader.arrivals(of: id, side: side)
    }

    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        try check()
        return try reader.arrivals(of: id, side: side, from: offset, limit: limit)
    }
}

/// Cached by their text: connections to one server have the same chain.
struct KnownCertificates {
    private static let most = 256
    private var chains: [String: [CertificateSummary]] = [:]

    mutating func chain(
        _ text: String,
        _ read: (String) throws -> [CertificateSummary]
    ) rethrows
        -> [CertificateSummary]
    {
        if let known = chains[text] { return known }
        let chain = try read(text)
        if chains.count >= KnownCertificates.most { chains = [:] }
        chains[text] = chain
        return chain
    }
}

private struct PageStatements {
    private static let recordSQL = "\(Schema.records) id = ?"
    private static let payloadSQL = """
        SELECT id, request_head, request_head_sent, request_trailers, interim_heads, response_head,
        response_head_sent, response_trailers, trace, request_body, request_body_sent, response_body,
        response_body_sent FROM payload WHERE id = ?
        """
    private static let connectionSQL = "\(Schema.connections) id = ?"
    private static let longSQL = "SELECT min(exchange) FROM chunk WHERE exchange >= ?"

    private let session: SessionDatabase
    private let records: PreparedRead
    private let payloads: PreparedRead
    private let links: PreparedRead
    private let chunks: PreparedRead
    private var connections: [ConnectionID: ConnectionRecord?] = [:]
    private(set) var certificates: KnownCertificates
    /// Numbers without long bodies; the exchange after them has some.
    private var short: Range<Int64> = 0..<0

    init(_ session: SessionDatabase, _ certificates: KnownCertificates) throws {
        (self.session, self.certificates) = (session, certificates)
        records = try session.prepared(PageStatements.recordSQL, of: "exchange")
        payloads = try session.prepared(PageStatements.payloadSQL, of: "payload")
        links = try session.prepared(PageStatements.connectionSQL, of: "connection")
        chunks = try session.prepared(PageStatements.longSQL, of: "chunk")
    }

    struct Found {
        var exchange: RecordedExchange
        var bodies: (ByteBuffer?, ByteBuffer?, ByteBuffer?, ByteBuffer?) = (nil, nil, nil, nil)
        /// Bytes of heads and bodies.
        var size = 0
    }

    mutating func exchange(_ number: Int64) throws -> Found? {
        var found: Found?
        var payload: Int64 = 0
        try session.forEachRow(of: records, number) { row in
            let (record, number) = try row.record()
            found = Found(exchange: RecordedExchange(record: record, messages: ExchangeMessages()))
            payload = number
        }
        guard found != nil else { return nil }
        try session.forEachRow(of: payloads, payload) { row in
            found?.exchange.messages = try row.messages()
            found?.bodies = (
                try row.optionalBytes(), try row.optionalBytes(), try row.optionalBytes(), try row.optionalBytes()
            )
            found?.size = row.bytesRead
        }
        if let record = found?.exchange.record {
            found?.exchange.client = try connection(record.clientConnection)
            found?.exchange.upstream = try record.upstreamConnection.flatMap { try connection($0) }
        }
        return found
    }

    private mutating func connection(_ id: ConnectionID) throws -> ConnectionRecord? {
        if let known = connections[id] { return known }
        var connection: ConnectionRecord?
        var certificates = certificates
        try session.forEachRow(of: links, id.number) { connection = try $0.connection(&certificates) }
        self.certificates = certificates
        connections[id] = .some(connection)
        return connection
    }

    /// Bodies outside of the payload row. For ascending numbers one query answers for many.
    mutating func hasLongBodies(_ number: Int64) throws -> Bool {
        if short.contains(number) { return false }
        if short.upperBound == number, !short.isEmpty { return true }
        var next: Int64?
        try session.forEachRow(of: chunks, number) { next = try $0.optionalNumber(in: Int64.min...Int64.max) }
        short = number..<max(number, next ?? Int64.max)
        return next == number
    }
}

import Content
package import HTTPModel
package import NIOCore

/// Reads pages of exchanges with their short bodies for exports; long bodies and arrivals are read on demand. Use it on
/// one thread.
package final class SessionPages: ExchangeSource {
    /// In bytes of heads and bodies; the exchange that reaches this size is the last of its page.
    static let longestPage = 1 << 20

    private let reader: SessionReader
    private let check: () throws -> Void
    /// The short bodies of the page's exchanges by side, and whether the exchange has long bodies, and arrivals.
    private var bodies: [ExchangeID: (short: [ByteBuffer?], hasLong: Bool, hasArrivals: Bool)] = [:]
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
            var page = StoredExchanges(session, certificates)
            var size = 0
            while size < SessionPages.longestPage, let number = rest.popFirst() {
                guard let found = try page.exchange(number) else { continue }
                let hasLong = try page.longBodies.has(number, session)
                let hasArrivals = try page.arrivals.has(number, session)
                bodies[found.exchange.record.id] = (found.bodies, hasLong, hasArrivals)
                exchanges.append(found.exchange)
                size += found.size
            }
            certificates = page.certificates
        }
        numbers = rest
        return exchanges
    }

    package func exchange(_ id: ExchangeID) throws -> RecordedExchange? {
        try check()
        return try reader.exchange(id)
    }

    package func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) throws -> ByteBuffer {
        func short(_ side: BodySide) -> ByteBuffer? { bodies[id]?.short.dropFirst(Int(side.rawValue)).first ?? nil }
        let own = short(side)
        if own == nil, bodies[id]?.hasLong ?? true {
            try check()
            return try reader.body(of: id, side: side, offset: offset, limit: limit)
        }
        guard limit > 0, offset >= 0, let body = own ?? side.received.flatMap(short), offset < Int64(body.readableBytes)
        else { return ByteBuffer() }
        let start = body.readerIndex + Int(offset)
        return body.getSlice(at: start, length: min(limit, body.writerIndex - start)) ?? ByteBuffer()
    }

    /// Whether a side has a body of its own, which a sent one has if a rule changed it.
    package func hasBody(_ id: ExchangeID, _ side: BodySide) throws -> Bool {
        guard let page = bodies[id], !page.hasLong else { return try reader.bodySize(of: id, side: side) != nil }
        return (page.short.dropFirst(Int(side.rawValue)).first ?? nil) != nil
    }

    package func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) throws -> [Arrival] {
        if bodies[id]?.hasArrivals == false { return [] }
        try check()
        return try reader.arrivals(of: id, side: side, from: offset, limit: limit)
    }
}

/// Certificates cached by their text, because connections to one server have the same chain.
struct KnownCertificates {
    private static let most = 256
    private var chains: [String: [CertificateSummary]] = [:]

    mutating func chain(
        _ text: String,
        _ read: (String) throws -> [CertificateSummary]
    ) rethrows -> [CertificateSummary] {
        if let known = chains[text] { return known }
        let chain = try read(text)
        if chains.count >= KnownCertificates.most { chains = [:] }
        chains[text] = chain
        return chain
    }
}

/// Reads exchanges with their connections and short bodies in one read of a session.
struct StoredExchanges {
    private static let recordSQL = "\(Schema.records) id = ?"
    private static let payloadSQL = "SELECT \(Schema.payload.columns) FROM payload WHERE id = ?"
    private static let connectionSQL = "\(Schema.connections) id = ?"

    private let session: SessionDatabase
    private var connections: [ConnectionID: ConnectionRecord?] = [:]
    private(set) var certificates: KnownCertificates
    var longBodies = Holders(table: "chunk")
    var arrivals = Holders(table: "arrival")

    init(_ session: SessionDatabase, _ certificates: KnownCertificates = KnownCertificates()) {
        (self.session, self.certificates) = (session, certificates)
    }

    struct Found {
        var exchange: RecordedExchange
        /// Indexed by side.
        var bodies: [ByteBuffer?] = []
        var size = 0
    }

    mutating func exchange(_ number: Int64) throws -> Found? {
        guard let (record, payload) = try record(number) else { return nil }
        var found = Found(exchange: RecordedExchange(record: record, messages: ExchangeMessages()))
        _ = try session.rows(StoredExchanges.payloadSQL, [payload], of: "payload") { row in
            found.exchange.messages = try row.messages()
            found.bodies = try BodySide.allCases.map { _ in try row.optionalBytes() }
            found.size = row.bytesRead
        }
        found.exchange.client = try connection(record.clientConnection)
        found.exchange.upstream = try record.upstreamConnection.flatMap { try connection($0) }
        return found
    }

    func record(_ number: Int64) throws -> (record: ExchangeRecord, payload: Int64)? {
        try session.rows(StoredExchanges.recordSQL, [number], of: "exchange") { try $0.record() }.first
    }

    mutating func connection(_ id: ConnectionID) throws -> ConnectionRecord? {
        if let known = connections[id] { return known }
        var known = certificates
        let sql = StoredExchanges.connectionSQL
        let found = try session.rows(sql, [id.number], of: "connection") { try $0.connection(&known) }.first
        certificates = known
        connections[id] = .some(found)
        return found
    }
}

/// The exchanges that have rows in a table. For ascending numbers, one query answers many questions.
struct Holders {
    let table: String
    /// Numbers of exchanges without rows; the exchange after the range has rows.
    private var others: Range<Int64> = 0..<0

    init(table: String) { self.table = table }

    mutating func has(_ number: Int64, _ session: SessionDatabase) throws -> Bool {
        if others.contains(number) { return false }
        if others.upperBound == number, !others.isEmpty { return true }
        let sql = "SELECT min(exchange) FROM \(table) WHERE exchange >= ?"
        let found = try session.rows(sql, [number], of: table) { try $0.optionalNumber(in: .min...Int64.max) }
        let next = found.first ?? nil
        others = number..<max(number, next ?? Int64.max)
        return next == number
    }
}

import Dispatch
import GRDB
import HTTPModel
import NIOCore

/// One session file on the recorder's thread: open exchanges, waiting rows, and the transaction.
final class SessionRecording {
    let session: WritableSession
    private(set) var open: [ExchangeID: OpenExchange] = [:]
    /// Body bytes that are not yet in the file.
    private(set) var tailBytes = 0
    /// When the first waiting exchange must be written, even if it has ended in the meantime.
    private(set) var nextSweep = UInt64.max
    private(set) var limit: SessionLimit?
    let writer: SessionWriter
    var droppedBefore: Int64 = 0

    private let tailNanoseconds: UInt64
    /// Exchanges that changed since the last transaction.
    private var touched: [OpenExchange] = []
    /// Exchanges whose payload row is written, and whose own row is not.
    private var ended: [EndedExchange] = []
    private var connections: [ConnectionID: ConnectionRecord] = [:]
    /// Client processes that were found after the end of their exchange.
    private var identified: [ExchangeID: ClientProcess] = [:]
    private var waiting = 0
    /// Connections without a recorded exchange: open ones, and the last closed ones.
    private var unusedConnections: [ConnectionID: ConnectionRecord]
    private var closedConnections: [ConnectionID] = []
    private var usedConnections: Set<ConnectionID> = []

    private struct EndedExchange {
        var record: ExchangeRecord
        var payload: Int64
        var isNew: Bool
    }

    /// `connections` were opened during the previous file.
    init(
        _ session: WritableSession,
        tailNanoseconds: UInt64,
        limit: SessionLimit?,
        connections: [ConnectionID: ConnectionRecord] = [:]
    ) throws {
        (self.session, self.tailNanoseconds, self.limit) = (session, tailNanoseconds, limit)
        unusedConnections = connections
        writer = try SessionWriter(session)
    }

    /// The file's size including its log, in bytes; 0 if unknown.
    var size: Int64 {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        let size = try? writer.perform { try Int64.fetchOne($0, sql: sql) }
        return size.flatMap(\.self) ?? 0
    }

    var isWaiting: Bool { waiting > 0 }

    // MARK: - Transactions

    func commit() throws {
        if hasRows {
            try writer.beginTransaction()
            try writeRows()
        }
        if writer.isInTransaction { try keepBelowLimit() }
        try writer.commit()
        touched.removeAll(keepingCapacity: true)
        ended.removeAll(keepingCapacity: true)
        connections.removeAll(keepingCapacity: true)
        identified.removeAll(keepingCapacity: true)
    }

    private var hasRows: Bool { !touched.isEmpty || !ended.isEmpty || !connections.isEmpty || !identified.isEmpty }

    private func keepBelowLimit() throws {
        guard limit != nil else { return }
        try writer.perform { database in
            var totals = writer.totals
            defer { writer.totals = totals }
            try limit?.keep(database, isOpen: { open[ExchangeID($0)] != nil }, &totals) {
                try dropLargestOpenBodies(ofMoreThan: $0, database)
            }
        }
    }

    /// See ``SessionLimit/DropOpenBodies``.
    private func dropLargestOpenBodies(ofMoreThan bytes: Int64, _ database: Database) throws -> Bool {
        let large = open.values.filter { $0.hasChunks }
        guard large.reduce(0, { $0 + $1.tails.stored }) > bytes,
            let exchange = large.max(by: { ($0.tails.stored, $1.id) < ($1.tails.stored, $0.id) })
        else { return false }
        try dropBodies(of: exchange, database)
        return true
    }

    private func dropBodies(of exchange: OpenExchange, _ database: Database) throws {
        release(exchange)
        exchange.dropBodies()
        try SessionLimit.deleteParts(of: exchange.id.number, database)
    }

    private func dropIfTooLarge(_ exchange: OpenExchange) throws {
        guard let largest = limit?.largestOpenBodies, exchange.tails.stored > largest else { return }
        try writer.beginTransaction()
        try writer.perform { try dropBodies(of: exchange, $0) }
        limit?.countOpen()
    }

    func end(notRecorded: Int, droppedBytes: Int64) throws {
        try writer.beginTransaction()
        for exchange in open.values { try writeOut(exchange) }
        try writeRows()
        try writer.endRun(at: WallClock.now(), notRecorded: notRecorded, droppedBytes: droppedBytes)
        try writer.commit()
    }

    // MARK: - Events

    func begin(_ record: ExchangeRecord, _ messages: ExchangeMessages) {
        let exchange = OpenExchange(record.id)
        exchange.update(record, messages)
        open[record.id] = exchange
        touch(exchange)
    }

    func update(_ record: ExchangeRecord, _ messages: ExchangeMessages) {
        guard let exchange = open[record.id] else { return }
        exchange.update(record, messages)
        touch(exchange)
    }

    func append(_ part: ByteBuffer, _ side: BodySide, to id: ExchangeID, at time: UInt64) throws {
        guard let exchange = open[id] else { return }
        guard !exchange.isDropped else { return exchange.drop(part, side) }
        touch(exchange)
        let before = exchange.tails[side].waiting
        try exchange.tails[side].append(part) { chunk, offset in
            try writeArrivals(of: exchange)
            try writeChunk(chunk, of: exchange, side, offset)
        }
        let after = exchange.tails[side].waiting
        tailBytes += after - before
        if after > 0 { hold(exchange, at: time) }
        if limit != nil { try dropIfTooLarge(exchange) }
    }

    func add(_ arrival: Arrival, _ side: BodySide, of id: ExchangeID, at time: UInt64) throws {
        guard let exchange = open[id], !exchange.isDropped else { return }
        exchange.isStream = true
        exchange.arrivals.append((side, arrival))
        if exchange.arrivals.count == RecorderLimits.waitingArrivals { try writeArrivals(of: exchange) }
        hold(exchange, at: time)
    }

    func update(_ counts: StreamCounts, of id: ExchangeID, at time: UInt64) {
        guard let exchange = open[id] else { return }
        exchange.isStream = true
        exchange.update(counts)
        if exchange.hasUnwrittenCounts { hold(exchange, at: time) }
    }

    func finish(_ record: ExchangeRecord, _ messages: ExchangeMessages) throws {
        useConnections(of: record)
        var (record, messages) = (record, messages)
        let exchange = open.removeValue(forKey: record.id) ?? OpenExchange(record.id)
        exchange.hasEnded = true
        if !exchange.droppedFlags.isEmpty {
            record.flags.formUnion(exchange.droppedFlags.union(.bodiesDropped))
            if let note = limit?.note { messages.trace.append(note) }
        }
        release(exchange)
        try writeArrivals(of: exchange)
        let bodies = try BodySide.allCases.map { try inlineBody($0, of: exchange) }
        try writer.beginTransaction()
        let payload = try writer.writePayload(messages, bodies: bodies)
        if exchange.isStored { try writer.removeOpenPayload(of: record.id) }
        ended.append(EndedExchange(record: record, payload: payload, isNew: !exchange.isStored))
    }

    func identify(_ id: ExchangeID, _ process: ClientProcess) { identified[id] = process }

    func write(_ rules: RulesNote) throws {
        try writer.beginTransaction()
        try writer.write(rules)
    }

    // MARK: - Connections

    /// Writes a connection once it has a recorded exchange, or at once if `all` exchanges are recorded. `isFinished`:
    /// no new exchange begins in this file.
    func take(_ connection: ConnectionRecord, all: Bool, isFinished: Bool = false) {
        let id = connection.id
        if usedConnections.contains(id) || connections[id] != nil || all && !isFinished { return note(connection, id) }
        unusedConnections[id] = connection
        guard connection.closedAt != nil else { return }
        // An exchange may end after its connections, so at least the last 1,024 closed connections are kept.
        closedConnections.append(id)
        guard closedConnections.count > 2_048 else { return }
        for id in closedConnections.prefix(1_024) { unusedConnections[id] = nil }
        closedConnections.removeFirst(1_024)
    }

    func useAllConnections() {
        guard !unusedConnections.isEmpty else { return }
        for (id, connection) in unusedConnections { note(connection, id) }
        (unusedConnections, closedConnections) = ([:], [])
    }

    private func note(_ connection: ConnectionRecord, _ id: ConnectionID) {
        connections[id] = connection
        if connection.closedAt == nil { usedConnections.insert(id) } else { usedConnections.remove(id) }
    }

    private func useConnections(of record: ExchangeRecord) {
        guard !unusedConnections.isEmpty else { return }
        for id in [record.clientConnection, record.upstreamConnection] {
            if let id, let connection = unusedConnections.removeValue(forKey: id) { note(connection, id) }
        }
    }

    // MARK: - Rows

    private func touch(_ exchange: OpenExchange) {
        guard !exchange.isTouched else { return }
        exchange.isTouched = true
        touched.append(exchange)
    }

    /// Must be called before the bytes are written.
    private func writeArrivals(of exchange: OpenExchange) throws {
        guard !exchange.arrivals.isEmpty else { return }
        try writer.beginTransaction()
        for (side, arrival) in exchange.arrivals { try writer.write(arrival, of: exchange.id, side: side) }
        // Kept capacity would add up over a thousand open streams.
        exchange.arrivals = []
    }

    private func writeChunk(_ chunk: ByteBuffer, of exchange: OpenExchange, _ side: BodySide, _ offset: Int64) throws {
        exchange.hasChunks = true
        try writer.beginTransaction()
        try writer.writeChunk(chunk, of: exchange.id, side: side, offset: offset)
    }

    /// The bytes of a short body; writes the rest of a long body as its last chunk, and returns `nil`.
    private func inlineBody(_ side: BodySide, of exchange: OpenExchange) throws -> ByteBuffer? {
        if exchange.tails[side].isShort { return exchange.tails[side].bytes }
        try flush(side, of: exchange)
        return nil
    }

    private func flush(_ side: BodySide, of exchange: OpenExchange) throws {
        try exchange.tails[side].flush { try writeChunk($0, of: exchange, side, $1) }
    }

    /// Writes exchange rows in the order of numbers: pages stay full although event loops end exchanges in any order.
    private func writeRows() throws {
        for exchange in touched where !exchange.hasEnded {
            exchange.isTouched = false
            for side in BodySide.allCases { exchange.tails[side].compact() }
            guard let (record, messages) = exchange.unwritten else { continue }
            useConnections(of: record)
            let payload = try writer.writeOpenPayload(messages, of: record.id)
            ended.append(EndedExchange(record: record, payload: payload, isNew: !exchange.isStored))
            exchange.unwritten = nil
            exchange.isStored = true
        }
        // Sorts indices, because a record has half a kilobyte.
        let order = ended.indices.sorted { ended[$0].record.id < ended[$1].record.id }
        for index in order {
            try writer.write(ended[index].record, payload: ended[index].payload, isNew: ended[index].isNew)
        }
        for (id, process) in identified { try writer.write(process, of: id) }
        for connection in connections.values.sorted(by: { $0.id.number < $1.id.number }) {
            try writer.write(connection)
        }
    }

    // MARK: - Waiting data

    private func patience(with exchange: OpenExchange) -> UInt64 {
        exchange.isStream ? min(RecorderLimits.streamTailNanoseconds, tailNanoseconds) : tailNanoseconds
    }

    private func hold(_ exchange: OpenExchange, at time: UInt64) {
        if exchange.waitsSince == nil { waiting += 1 }
        let since = exchange.waitsSince ?? time
        exchange.waitsSince = since
        nextSweep = min(nextSweep, since + patience(with: exchange))
    }

    private func release(_ exchange: OpenExchange) {
        guard exchange.waitsSince != nil else { return }
        exchange.waitsSince = nil
        waiting -= 1
        tailBytes -= exchange.tails.waiting
    }

    /// `takesAll`: nothing may wait any longer.
    func isSweepDue(at time: UInt64, takesAll: Bool) -> Bool { waiting > 0 && (time >= nextSweep || takesAll) }

    /// Writes exchanges that have waited at least half of their time, which saves transactions.
    func sweep(at time: UInt64, takesAll: Bool) throws {
        nextSweep = .max
        for exchange in open.values {
            guard let since = exchange.waitsSince else { continue }
            let patience = patience(with: exchange)
            if takesAll || time >= since + patience / 2 {
                try writeOut(exchange)
            } else {
                nextSweep = min(nextSweep, since + patience)
            }
        }
    }

    private func writeOut(_ exchange: OpenExchange) throws {
        release(exchange)
        try writeArrivals(of: exchange)
        for side in BodySide.allCases { try flush(side, of: exchange) }
        if exchange.hasUnwrittenCounts, let counts = exchange.counts {
            try writer.beginTransaction()
            try writer.write(counts, of: exchange.id)
        }
        exchange.hasUnwrittenCounts = false
    }
}

import Content
import GRDB
import HTTPModel
import NIOCore

/// Keeps a session below a size: drops the bodies of the oldest exchanges, then the oldest exchanges; those that a store
/// still needs come last. If bodies in flight take most of the room, the largest of them is dropped first. SQLite reuses
/// the free pages.
struct SessionLimit {
    /// Drops the largest body in flight if all together have more than `bytes` in the file; returns whether it did.
    typealias DropOpenBodies = (_ bytes: Int64) throws -> Bool

    private static let slice = 64
    private static let connectionSlice = 1_000

    let largest: Int64
    let note: TraceEntry
    private let isNeeded: (Int64) -> Bool
    private let onRemoved: ([Int64]) -> Void
    private let storedNote: String
    /// Exchanges up to this number have no bodies, or were in flight.
    private var cursor: Int64 = 0
    private var skipped: Set<Int64> = []
    private var removedSinceConnections = 0
    private(set) var dropped = 0
    private(set) var removed = 0
    private(set) var hasDropped = false

    init(
        largest: Int64,
        words: String,
        isNeeded: @escaping (Int64) -> Bool = { _ in false },
        onRemoved: @escaping ([Int64]) -> Void = { _ in }
    ) throws {
        (self.largest, self.isNeeded, self.onRemoved) = (largest, isNeeded, onRemoved)
        let text = "the body was dropped to keep the session below \(words)"
        note = TraceEntry(stage: "sluice", outcome: .note, text: text)
        storedNote = String(buffer: try JSONWriter.trace([note]) ?? ByteBuffer())
    }

    private var room: Int64 { min(largest / 4, 32 << 20) }
    private var target: Int64 { largest - room }

    /// A larger body in flight can never fit.
    var largestOpenBodies: Int64 { target }

    mutating func countOpen() {
        hasDropped = true
        dropped += 1
    }

    /// Drops rows within a transaction, and subtracts dropped exchanges from `totals`.
    mutating func keep(
        _ database: Database,
        isOpen: (Int64) -> Bool,
        _ totals: inout SessionSummary,
        _ dropOpenBodies: DropOpenBodies
    ) throws {
        let isKept = { [isNeeded] number in isOpen(number) || isNeeded(number) }
        while try Self.usedBytes(database) > target {
            hasDropped = true
            // Bodies in flight of half the size would push out everything else, and then not fit themselves.
            if try dropOpenBodies(largest / 2) {
                countOpen()
            } else if try dropBodies(database, isKept, target) {
                continue
            } else if try dropOpenBodies(0) {
                countOpen()
            } else if try removeOldest(database, isKept, &totals) {
                continue
            } else if try !dropBodies(database, isOpen, target), try !removeOldest(database, isOpen, &totals) {
                break
            }
        }
        let excess = "SELECT page_count - ? / page_size FROM pragma_page_count, pragma_page_size"
        let pages = try Int64.fetchOne(database, sql: excess, arguments: [largest]) ?? 0
        if pages > 0 { try database.execute(sql: "PRAGMA incremental_vacuum(\(pages))") }
    }

    static func usedBytes(_ database: Database) throws -> Int64 {
        let sql = """
            SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count, pragma_freelist_count, pragma_page_size
            """
        return try Int64.fetchOne(try database.cachedStatement(sql: sql)) ?? 0
    }

    /// Drops bodies until `target` is reached; returns whether there were any exchanges.
    private mutating func dropBodies(_ database: Database, _ isOpen: (Int64) -> Bool, _ target: Int64) throws -> Bool {
        let late = skipped.filter { !isOpen($0) }.sorted()
        for number in late {
            skipped.remove(number)
            if try dropBodies(of: number, database), try Self.usedBytes(database) <= target { return true }
        }
        let sql = """
            SELECT id FROM exchange WHERE id > ? AND flags & \(ExchangeRecord.Flags.bodiesDropped.rawValue) = 0
            ORDER BY id LIMIT \(Self.slice)
            """
        let next = try Int64.fetchAll(try database.cachedStatement(sql: sql), arguments: [cursor])
        for number in next {
            cursor = number
            if isOpen(number) {
                skipped.insert(number)
            } else if try dropBodies(of: number, database), try Self.usedBytes(database) <= target {
                return true
            }
        }
        return !next.isEmpty || !late.isEmpty
    }

    private mutating func dropBodies(of number: Int64, _ database: Database) throws -> Bool {
        let sides = """
            SELECT DISTINCT side FROM chunk WHERE exchange = ?1
            UNION SELECT value FROM json_each('[0,1,2,3]') JOIN payload
            ON payload.id = (SELECT payload FROM exchange WHERE id = ?1)
            WHERE length(CASE value WHEN 0 THEN request_body WHEN 1 THEN request_body_sent
            WHEN 2 THEN response_body ELSE response_body_sent END) > 0
            """
        let found = try Int64.fetchAll(try database.cachedStatement(sql: sides), arguments: [number])
        guard !found.isEmpty else { return false }
        var flags: ExchangeRecord.Flags = .bodiesDropped
        for side in found.compactMap({ BodySide(rawValue: UInt8(clamping: $0)) }) { flags.insert(side.incompleteFlag) }
        try Self.deleteParts(of: number, database)
        // SQLite merges pages when rows are deleted, but not when they are updated.
        let rest = """
            SELECT id, request_head, request_head_sent, request_trailers, interim_heads, response_head,
            response_head_sent, response_trailers, json_insert(coalesce(trace, '[]'), '$[#]', json_extract(?, '$[0]')),
            NULL, NULL, NULL, NULL FROM payload WHERE id = (SELECT payload FROM exchange WHERE id = ?)
            """
        let statement = try database.cachedStatement(sql: rest)
        if let row = try Row.fetchOne(statement, arguments: [storedNote, number]) {
            let values = Array(row.databaseValues)
            try database.cachedStatement(sql: "DELETE FROM payload WHERE id = ?").execute(arguments: [values[0]])
            try database.cachedStatement(sql: Schema.payload.replacement).execute(arguments: StatementArguments(values))
        }
        try database.cachedStatement(sql: "UPDATE exchange SET flags = flags | ? WHERE id = ?")
            .execute(arguments: [Int64(flags.rawValue), number])
        dropped += 1
        return true
    }

    static func deleteParts(of number: Int64, _ database: Database) throws {
        for table in ["chunk", "arrival"] {
            try database.cachedStatement(sql: "DELETE FROM \(table) WHERE exchange = ?").execute(arguments: [number])
        }
    }

    /// Removes the oldest exchanges, but not the newest one; returns whether it removed any.
    private mutating func removeOldest(
        _ database: Database,
        _ isOpen: (Int64) -> Bool,
        _ totals: inout SessionSummary
    ) throws -> Bool {
        let sql = """
            SELECT id FROM exchange WHERE id < (SELECT max(id) FROM exchange) ORDER BY id LIMIT \(Self.slice + skipped.count)
            """
        let oldest = try Int64.fetchAll(database, sql: sql).filter { !isOpen($0) }
        guard !oldest.isEmpty else { return false }
        let list: StatementArguments = ["[\(oldest.map(String.init).joined(separator: ","))]"]
        let numbers = "SELECT value FROM json_each(?)"
        let counted = "exchange AS e WHERE id IN (\(numbers)) AND NOT \(Schema.isDeleted("e.id"))"
        try totals.add(-1, counted, list, in: database)
        try DeletedRows.drop(numbers, list, in: database)
        removed += oldest.count
        onRemoved(oldest)
        removedSinceConnections += oldest.count
        if removedSinceConnections >= Self.connectionSlice {
            removedSinceConnections = 0
            try DeletedRows.removeConnections(in: database)
        }
        return true
    }
}

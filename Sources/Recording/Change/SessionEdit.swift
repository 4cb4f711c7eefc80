import Dispatch
import GRDB
package import HTTPModel

package enum SessionEdit: Sendable, Hashable {
    /// Marks exchanges that have ended; readers skip them, and closing the session removes them.
    case delete(ExchangeNumbers)
    /// `nil` restores the last deletion.
    case restore(mark: Int64?)
    case annotate(ExchangeNumbers, ExchangeNote)
}

/// `nil` removes the comment or the colour.
package enum ExchangeNote: Sendable, Hashable {
    case comment(String?)
    case colour(ExchangeAnnotation.Colour?)
}

package struct SessionEditResult: Codable, Sendable, Hashable {
    enum CodingKeys: String, CodingKey {
        case changed = "exchanges"
        case inFlight, mark
    }

    package var changed = 0
    package var inFlight = 0
    package var mark: Int64?

    package init() {}
}

/// Deletions that can be undone, newest last; they are lost when the process ends.
struct DeletionHistory {
    private(set) var deletions: [(mark: Int64, numbers: ExchangeNumbers)] = []

    /// The time in microseconds since 1970, but unique.
    var nextMark: Int64 { max(WallClock.now(), (deletions.last?.mark ?? 0) + 1) }

    mutating func add(_ mark: Int64, _ numbers: ExchangeNumbers) { deletions.append((mark, numbers)) }

    func deletion(_ mark: Int64?) -> (mark: Int64, numbers: ExchangeNumbers)? {
        guard let mark else { return deletions.last }
        return deletions.last { $0.mark == mark }
    }

    mutating func remove(_ mark: Int64) { deletions.removeAll { $0.mark == mark } }
}

/// Edits in short steps, so that traffic can be recorded between them.
struct SessionEditing {
    /// How many numbers a statement covers; it takes some 15 ms if each number has a row.
    private static let slice: Int64 = 8_192

    private let change: Change
    private(set) var result = SessionEditResult()
    /// Ranges that are still to be edited, lowest last.
    private var rest: [ClosedRange<Int64>]

    private enum Change {
        case delete(mark: Int64)
        case restore(mark: Int64)
        case note(ExchangeNote)
    }

    var isDone: Bool { rest.isEmpty }

    /// Throws ``SessionError`` if there is nothing to undo.
    init(_ edit: SessionEdit, highest: Int64, _ history: inout DeletionHistory, path: String) throws {
        var numbers: ExchangeNumbers
        switch edit {
        case .delete(let chosen):
            let mark = history.nextMark
            (numbers, change) = (chosen, .delete(mark: mark))
            history.add(mark, chosen)
            result.mark = mark
        case .restore(let mark):
            guard let deletion = history.deletion(mark) else { throw SessionError.nothingDeleted(path) }
            (numbers, change) = (deletion.numbers, .restore(mark: deletion.mark))
            history.remove(deletion.mark)
        case .annotate(let chosen, let note): (numbers, change) = (chosen, .note(note))
        }
        rest = numbers.ranges.compactMap { $0.lowerBound <= highest ? $0.clamped(to: 1...max(1, highest)) : nil }
            .reversed()
    }

    /// Must be called within a transaction; returns at `deadline`, in nanoseconds of the monotonic clock.
    mutating func step(in database: Database, _ totals: inout SessionSummary, until deadline: UInt64) throws {
        while let numbers = rest.popLast() {
            guard let range = try Self.rows(numbers, in: database) else { continue }
            let part = range.lowerBound...min(range.upperBound, range.lowerBound + Self.slice - 1)
            if part.upperBound < range.upperBound { rest.append(part.upperBound + 1...range.upperBound) }
            switch change {
            case .delete(let mark): try delete(part, mark, in: database, &totals)
            case .restore(let mark): try restore(part, mark, in: database, &totals)
            case .note(let note): try annotate(part, note, in: database)
            }
            if DispatchTime.now().uptimeNanoseconds >= deadline { return }
        }
    }

    /// The range from its first number that has a row; `nil` if no number has a row.
    private static func rows(_ range: ClosedRange<Int64>, in database: Database) throws -> ClosedRange<Int64>? {
        let first = try database.cachedStatement(sql: "SELECT min(id) FROM exchange WHERE id BETWEEN ? AND ?")
        return try Int64.fetchOne(first, arguments: [range.lowerBound, range.upperBound]).map { $0...range.upperBound }
    }

    private static let hasEnded = "state <> \(ExchangeRecord.State.inFlight.rawValue)"

    private mutating func delete(
        _ part: ClosedRange<Int64>,
        _ mark: Int64,
        in database: Database,
        _ totals: inout SessionSummary
    ) throws {
        let rows = "exchange AS e WHERE id BETWEEN ? AND ?"
        let chosen = "\(rows) AND \(Self.hasEnded) AND NOT \(Schema.isDeleted("e.id"))"
        let ends: StatementArguments = [part.lowerBound, part.upperBound]
        result.changed += Int(try totals.add(-1, chosen, ends, in: database))
        try database.cachedStatement(
            sql: """
                INSERT INTO annotation(exchange, deleted_at) SELECT id, ? FROM \(chosen)
                ON CONFLICT(exchange) DO UPDATE SET deleted_at = excluded.deleted_at
                """
        ).execute(arguments: [mark] + ends)
        let open = try database.cachedStatement(sql: "SELECT count(*) FROM \(rows) AND NOT \(Self.hasEnded)")
        result.inFlight += try Int.fetchOne(open, arguments: ends) ?? 0
    }

    private mutating func restore(
        _ part: ClosedRange<Int64>,
        _ mark: Int64,
        in database: Database,
        _ totals: inout SessionSummary
    ) throws {
        let ends: StatementArguments = [part.lowerBound, part.upperBound]
        let rows = "exchange AS e JOIN annotation AS a ON a.exchange = id WHERE id BETWEEN ? AND ? AND a.deleted_at = ?"
        result.changed += Int(try totals.add(1, rows, ends + [mark], in: database))
        try database.cachedStatement(
            sql: "UPDATE annotation SET deleted_at = NULL WHERE exchange BETWEEN ? AND ? AND deleted_at = ?"
        ).execute(arguments: ends + [mark])
        try Self.removeEmpty(part, in: database)
    }

    private mutating func annotate(_ part: ClosedRange<Int64>, _ note: ExchangeNote, in database: Database) throws {
        let (column, value): (String, String?) =
            switch note {
            case .comment(let text): ("comment", text)
            case .colour(let colour): ("colour", colour?.rawValue)
            }
        try database.cachedStatement(
            sql: """
                INSERT INTO annotation(exchange, \(column))
                SELECT id, ? FROM exchange WHERE id BETWEEN ? AND ? AND NOT \(Schema.isDeleted("exchange.id"))
                ON CONFLICT(exchange) DO UPDATE SET \(column) = excluded.\(column)
                """
        ).execute(arguments: [value, part.lowerBound, part.upperBound])
        result.changed += database.changesCount
        if value == nil { try Self.removeEmpty(part, in: database) }
    }

    /// Keeps the row without an exchange, which stores the highest number.
    private static func removeEmpty(_ part: ClosedRange<Int64>, in database: Database) throws {
        try database.cachedStatement(
            sql: """
                DELETE FROM annotation WHERE exchange BETWEEN ? AND ?
                AND comment IS NULL AND colour IS NULL AND deleted_at IS NULL
                AND EXISTS (SELECT 1 FROM exchange WHERE id = annotation.exchange)
                """
        ).execute(arguments: [part.lowerBound, part.upperBound])
    }
}

extension SessionSummary {
    /// Errors and bytes leave out interrupted exchanges, because the recorder never added them.
    private static let counts = {
        let hasEnded = "state <> \(ExchangeRecord.State.interrupted.rawValue)"
        let ended = "FILTER (WHERE \(hasEnded))"
        return """
            count(*), count(*) FILTER (WHERE \(hasEnded) AND \(SQLCondition.error)), CAST(total(request_body_size) \(ended) AS INTEGER), \
            CAST(total(response_body_size) \(ended) AS INTEGER)
            """
    }()

    /// Adds or subtracts rows of `exchange AS e`; returns the number of rows.
    @discardableResult
    mutating func add(
        _ sign: Int64,
        _ rows: String,
        _ arguments: StatementArguments = [],
        in database: Database
    ) throws -> Int64 {
        let statement = try database.cachedStatement(sql: "SELECT \(Self.counts) FROM \(rows)")
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return 0 }
        func sum(_ now: Int64, _ column: Int) -> Int64 {
            let amount = (row[column] as Int64).clamped(to: RecordedRange.amounts)
            return (now + sign * amount).clamped(to: RecordedRange.amounts)
        }
        exchanges = sum(exchanges, 0)
        errors = sum(errors, 1)
        requestBodyBytes = sum(requestBodyBytes, 2)
        responseBodyBytes = sum(responseBodyBytes, 3)
        return row[0]
    }
}

extension Int64 {
    fileprivate func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

import Dispatch
import GRDB
package import HTTPModel

/// A change of what a session says of its exchanges, made while it is recorded or after.
package enum SessionEdit: Sendable, Hashable {
    /// Marks exchanges as deleted: they are gone for every reader, and removed when the session is closed. Those in
    /// flight stay.
    case delete(ExchangeNumbers)
    /// Takes a deletion back by its mark, or the last one.
    case restore(mark: Int64?)
    case annotate(ExchangeNumbers, ExchangeNote)
}

/// What an annotation is set to; `nil` removes it.
package enum ExchangeNote: Sendable, Hashable {
    case comment(String?)
    case colour(ExchangeAnnotation.Colour?)
}

package struct SessionEditResult: Sendable, Hashable {
    /// The exchanges that were changed.
    package var changed = 0
    /// Those that were to be deleted and stay, since something is still to come of them.
    package var inFlight = 0
    /// The mark by which a deletion is taken back; `nil` where nothing was deleted.
    package var mark: Int64?

    package init() {}
}

/// The deletions that can be taken back, the newest last. They end with the process that made them.
struct DeletionHistory {
    private(set) var deletions: [(mark: Int64, numbers: ExchangeNumbers)] = []

    /// A mark that no deletion has had: the time, in microseconds since 1970, or one more than the last one's.
    var nextMark: Int64 { max(WallClock.now(), (deletions.last?.mark ?? 0) + 1) }

    mutating func add(_ mark: Int64, _ numbers: ExchangeNumbers) { deletions.append((mark, numbers)) }

    func deletion(_ mark: Int64?) -> (mark: Int64, numbers: ExchangeNumbers)? {
        guard let mark else { return deletions.last }
        return deletions.last { $0.mark == mark }
    }

    mutating func remove(_ mark: Int64) { deletions.removeAll { $0.mark == mark } }
}

/// An edit on its way into the file, in steps that are short enough for the events of the traffic to be written between.
struct SessionEditing {
    /// How many numbers a statement is for: some 15 ms where every one has a row.
    private static let slice: Int64 = 8_192

    private let change: Change
    private(set) var result = SessionEditResult()
    /// What is left, the lowest last.
    private var rest: [ClosedRange<Int64>]

    private enum Change {
        case delete(mark: Int64)
        case restore(mark: Int64)
        case note(ExchangeNote)
    }

    var isDone: Bool { rest.isEmpty }

    /// Begins an edit; `highest` is the highest number of the session. Throws ``SessionError`` where there is nothing
    /// that could be taken back.
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

    /// Goes on until the time, of the monotonic clock, or the end; within a transaction.
    mutating func step(in database: Database, _ totals: inout SessionSummary, until deadline: UInt64) throws {
        while let numbers = rest.popLast() {
            // Numbers without a row are passed over at once, however many they are.
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

    /// The part of some numbers that begins with the first one that has a row; `nil` where none has.
    private static func rows(_ range: ClosedRange<Int64>, in database: Database) throws -> ClosedRange<Int64>? {
        let first = try database.cachedStatement(sql: "SELECT min(id) FROM exchange WHERE id BETWEEN ? AND ?")
        return try Int64.fetchOne(first, arguments: [range.lowerBound, range.upperBound]).map { $0...range.upperBound }
    }

    /// What the counters of the session say of some rows: those that ended, of which an interrupted one was never added.
    static let counts = {
        let hasEnded = "state <> \(ExchangeRecord.State.interrupted.rawValue)"
        let ended = "FILTER (WHERE \(hasEnded))"
        return """
            count(*), count(*) FILTER (WHERE \(hasEnded) AND \(SQLCondition.error)), CAST(total(request_body_size) \(ended) AS INTEGER), \
            CAST(total(response_body_size) \(ended) AS INTEGER)
            """
    }()

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
        try add(-1, "SELECT \(Self.counts) FROM \(chosen)", ends, in: database, &totals)
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
        try add(1, "SELECT \(Self.counts) FROM \(rows)", ends + [mark], in: database, &totals)
        try database.cachedStatement(
            sql: "UPDATE annotation SET deleted_at = NULL WHERE exchange BETWEEN ? AND ? AND deleted_at = ?"
        ).execute(arguments: ends + [mark])
        try Self.removeEmpty(part, in: database)
    }

    /// Counts the rows of a statement as changed, and adds them to the session's counters, or takes them off.
    private mutating func add(
        _ sign: Int64,
        _ sql: String,
        _ arguments: StatementArguments,
        in database: Database,
        _ totals: inout SessionSummary
    ) throws {
        guard let row = try Row.fetchOne(try database.cachedStatement(sql: sql), arguments: arguments) else { return }
        func sum(_ now: Int64, _ column: Int) -> Int64 {
            let amount = (row[column] as Int64).clamped(to: RecordedRange.amounts)
            return (now + sign * amount).clamped(to: RecordedRange.amounts)
        }
        result.changed += row[0]
        totals.exchanges = sum(totals.exchanges, 0)
        totals.errors = sum(totals.errors, 1)
        totals.requestBodyBytes = sum(totals.requestBodyBytes, 2)
        totals.responseBodyBytes = sum(totals.responseBodyBytes, 3)
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

    /// Removes rows that say nothing any more. One without an exchange stays: it keeps the highest number.
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

extension Int64 {
    fileprivate func clamped(to range: ClosedRange<Int64>) -> Int64 {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }
}

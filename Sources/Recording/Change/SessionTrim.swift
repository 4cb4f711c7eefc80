import Files
import Foundation
import GRDB
package import HTTPModel

/// Makes a session smaller for good: exchanges go with their heads and bodies, which are overwritten, and the file gives
/// their pages back. Numbers stay as they are.
///
/// All that goes does so in one transaction of SQLite's log, so whoever is killed leaves the session as it was, or trimmed.
package struct SessionTrim: Sendable, Hashable {
    /// The exchanges that go; `nil` for none.
    package var removed: Filter?
    /// Of the others the oldest go until the file takes at most so many bytes; `nil` for any size.
    package var largestSize: Int64?

    package init(removed: Filter?, largestSize: Int64? = nil) {
        (self.removed, self.largestSize) = (removed, largestSize)
    }

    package struct Outcome: Sendable, Hashable {
        package var removed: Int64 = 0
        package var kept: Int64 = 0
        /// The sizes of the file before and after, in bytes.
        package var sizeBefore: Int64 = 0
        package var sizeAfter: Int64 = 0
        /// Whether numbers and sizes are estimates.
        package var isEstimate = false

        package init() {}
    }

    /// Where a trim is, for who waits.
    package enum Step: Sendable, Hashable { case copying, choosing, removing, givingBack }

    /// Told of each step, and of the part of it that is done, from 0 to 1, where that is known. What it throws ends the
    /// trim, but for giving pages back: then it is trimmed.
    package typealias Report = (_ step: Step, _ part: Double?) throws -> Void

    /// Told where a trim is, for tests of what is left where it ends there.
    enum Stage: Sendable { case removed, committed }
    typealias Watch = (Stage) throws -> Void

    /// How many numbers a statement marks.
    private static let slice = 8_192
    /// Of a session that takes up to so many bytes, it is tried how many exchanges must go for a size: pages are large there.
    private static let largestTried: Int64 = 16 << 20
    /// About what an exchange takes besides its heads and bodies, in bytes.
    private static let overhead = 400.0

    // MARK: - Carrying out

    /// Trims a session that nobody records. Throws ``SessionError``: its code is `locked` where somebody does; then, as after
    /// every error, the session is as it was.
    package func inPlace(_ path: String, report: Report = { _, _ in }) throws -> Outcome {
        try inPlace(path, report, nil)
    }

    func inPlace(_ path: String, _ report: Report = { _, _ in }, _ watch: Watch?) throws -> Outcome {
        try checkSpace(beside: path, for: path)
        let before = FileFacts(path: path)?.size ?? 0
        let editor = try SessionEditor(path: path)
        var outcome: Outcome
        do {
            outcome = try editor.trim(self, report, watch)
        } catch {
            try? editor.close()
            throw error
        }
        try editor.close()
        outcome.sizeBefore = before
        outcome.sizeAfter = FileFacts(path: path)?.size ?? 0
        return outcome
    }

    /// Writes a trimmed copy, of this moment where the session is still recorded; its file is there when it is whole. Only
    /// what stays is copied, but for a size to be reached.
    /// Throws ``SessionError``; its code is `exists` where there is a file of that name.
    package func copy(_ path: String, to target: String, report: Report = { _, _ in }) throws -> Outcome {
        guard FileFacts(path: path) != nil else { throw SessionError.missing(path) }
        if largestSize != nil { try checkSpace(beside: target, for: path) }
        var outcome = Outcome()
        try SessionCopy.write(session: path, to: target, overwrites: false) { part in
            let reader = try SessionReader(path: path)
            let last = try reader.bounds()?.upperBound ?? 0
            let numbers = try removed.map { try reader.chosen(by: $0, report) } ?? []
            try report(.copying, 0)
            outcome.kept = try SessionCopy.copy(path, without: ExchangeNumbers(numbers), upTo: last, to: part) {
                try report(.copying, $0)
            }
            outcome.removed = Int64(numbers.count)
        } change: { part in
            guard let largestSize else { return }
            let editor = try SessionEditor(path: part)
            defer { try? editor.close() }
            let shrunk = try editor.trim(SessionTrim(removed: nil, largestSize: largestSize), report)
            outcome.removed += shrunk.removed
            outcome.kept = shrunk.kept
        }
        outcome.sizeBefore = FileFacts(path: path)?.size ?? 0
        outcome.sizeAfter = FileFacts(path: target)?.size ?? 0
        return outcome
    }

    /// The log and the file written anew take as much again as the session at most.
    private func checkSpace(beside target: String, for path: String) throws {
        guard let size = FileFacts(path: path)?.size else { throw SessionError.missing(path) }
        if let free = FreeSpace.bytes(beside: target).map({ Int64(clamping: $0) }), free < size {
            throw SessionError.noSpace(target, needed: size, free: free)
        }
    }

    func carryOut(in database: Database, path: String, _ report: Report, _ watch: Watch?) throws -> Outcome {
        let session = SessionDatabase(connection: database, path: path)
        var numbers = try chosen(in: session, report)
        var isTried = false
        if let largestSize, try SessionTrim.usedBytes(database) <= SessionTrim.largestTried {
            let tried = try SessionReader(path: path).tried(without: numbers, upTo: largestSize, report)
            (numbers, isTried) = (numbers + tried.going, true)
        }
        // A transaction in the log is there as a whole or not at all, for those who only read, too.
        guard try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL") == "wal" else {
            throw DatabaseError(resultCode: .SQLITE_BUSY)
        }
        try database.execute(sql: "PRAGMA secure_delete = ON; PRAGMA synchronous = FULL")
        var outcome = Outcome()
        try database.inTransaction(.immediate) {
            try remove(numbers, in: database, report)
            outcome.removed = Int64(numbers.count)
            if let largestSize, !isTried { outcome.removed += try shrink(to: largestSize, session, report) }
            try DeletedRows.removeConnections(in: database)
            let totals = try SessionSummary.count(in: database)
            outcome.kept = totals.exchanges
            try totals.write(in: database)
            try watch?(.removed)
            return .commit
        }
        try watch?(.committed)
        try? report(.givingBack, nil)
        // It is trimmed by now; a reader that has it open may keep the pages from being given back.
        try? DeletedRows.giveBack(database)
        return outcome
    }

    /// Marks exchanges and removes what is marked, within a transaction.
    private func remove(_ numbers: [Int64], in database: Database, _ report: Report) throws {
        guard let first = numbers.min(), let last = numbers.max() else { return }
        for start in stride(from: 0, to: numbers.count, by: SessionTrim.slice) {
            let part = numbers[start..<min(start + SessionTrim.slice, numbers.count)]
            try database.cachedStatement(
                sql: """
                    INSERT INTO annotation(exchange, deleted_at) SELECT value, ? FROM json_each(?) WHERE TRUE
                    ON CONFLICT(exchange) DO UPDATE SET deleted_at = excluded.deleted_at
                    """
            ).execute(arguments: [WallClock.now(), "[\(part.map(String.init).joined(separator: ","))]"])
        }
        try DeletedRows.removeRows(in: database) { number, step in
            try report(.removing, (min(first, number)...max(last, number)).part(upTo: number))
            try step()
        }
    }

    /// Removes the oldest exchanges, within a transaction, until the pages in use fit; returns how many.
    private func shrink(to largest: Int64, _ session: SessionDatabase, _ report: Report) throws -> Int64 {
        let database = session.connection
        var removed: Int64 = 0
        let whole = try Int64.fetchOne(database, sql: "SELECT count(*) FROM exchange") ?? 0
        while true {
            let used = try SessionTrim.usedBytes(database)
            guard used > largest else { return removed }
            let count = whole - removed
            guard count > 0 else { throw SessionError.cannotBeSmaller(session.path, than: used) }
            // Half of what is too much, as far as the average can tell, so that no more goes than has to.
            let wanted = max(1, min(Int64(SessionTrim.slice), (used - largest) / max(1, used / count) / 2))
            let oldest = try Int64.fetchAll(
                database,
                sql: "SELECT id FROM exchange ORDER BY id LIMIT ?",
                arguments: [wanted]
            )
            guard !oldest.isEmpty else { throw SessionError.cannotBeSmaller(session.path, than: used) }
            try remove(oldest, in: database) { step, _ in try report(step, nil) }
            removed += Int64(oldest.count)
        }
    }

    private static func usedBytes(_ database: Database) throws -> Int64 {
        func pragma(_ name: String) throws -> Int64 { try Int64.fetchOne(database, sql: "PRAGMA \(name)") ?? 0 }
        return try (pragma("page_count") - pragma("freelist_count")) * pragma("page_size")
    }

    /// The numbers of the exchanges that the filter chooses, lowest first.
    private func chosen(in session: SessionDatabase, _ report: Report) throws -> [Int64] {
        guard let removed else { return [] }
        return try SessionReader(path: session.path).chosen(by: removed, report)
    }

    // MARK: - Looking only

    /// What a trim would come to; sizes are estimates, and so are the numbers where a size is to be reached.
    package func rehearsal(_ reader: SessionReader) throws -> Outcome {
        let chosen = try removed.map { try reader.chosen(by: $0) } ?? []
        let before = FileFacts(path: reader.path)?.size ?? 0
        let used = try reader.read { try SessionTrim.usedBytes($0.connection) }
        if let largestSize, used <= SessionTrim.largestTried {
            let tried = try reader.tried(without: chosen, upTo: largestSize)
            var outcome = Outcome()
            outcome.removed = Int64(chosen.count + tried.going.count)
            (outcome.kept, outcome.sizeBefore, outcome.sizeAfter) = (tried.kept, before, tried.size)
            return outcome
        }
        let bounds = try reader.bounds() ?? 1...1
        if largestSize == nil, used <= SessionTrim.largestTried {
            var outcome = Outcome()
            let going = ExchangeNumbers(chosen)
            outcome.removed = Int64(chosen.count)
            outcome.kept = try Int64(reader.count()) - outcome.removed
            outcome.sizeBefore = before
            outcome.sizeAfter = try SessionCopy.size(reader.path, without: going, upTo: bounds.upperBound)
            return outcome
        }
        var sizes = try reader.sizesByNumber()
        // What a session takes that has no exchange: its tables and its rules.
        let least = try SessionCopy.size(
            reader.path,
            without: ExchangeNumbers(ranges: [bounds]),
            upTo: bounds.upperBound
        )
        let whole = sizes.reduce(into: 0.0) { $0 += $1.size + SessionTrim.overhead }
        // Pages that are not full, rules and connections count with the exchanges.
        let scale = whole > 0 ? Double(max(0, used - least)) / whole : 1
        let going = ExchangeNumbers(chosen)
        sizes.removeAll { going.contains($0.number) }
        var rest = sizes.reduce(into: 0.0) { $0 += $1.size + SessionTrim.overhead }
        var outcome = Outcome()
        outcome.removed = Int64(chosen.count)
        outcome.kept = Int64(sizes.count)
        if let largestSize {
            outcome.isEstimate = true
            for entry in sizes where Double(least) + rest * scale > Double(largestSize) {
                rest -= entry.size + SessionTrim.overhead
                outcome.removed += 1
                outcome.kept -= 1
            }
        }
        outcome.sizeBefore = before
        let pages = ((max(0, rest * scale)) / Double(Schema.pageSize)).rounded(.up) * Double(Schema.pageSize)
        outcome.sizeAfter = least + Int64(min(pages, Double(RecordedRange.amounts.upperBound - least)))
        return outcome
    }
}

extension SessionReader {
    /// The numbers of the exchanges that a filter lets pass, lowest first, read in short steps.
    fileprivate func chosen(
        by filter: Filter,
        _ report: SessionTrim.Report = { _, _ in }
    ) throws -> [Int64] {
        guard let bounds = try bounds() else { return [] }
        var chosen: [Int64] = []
        try forEachBlock(of: bounds, for: filter) { block in
            chosen += try numbers(of: .range(block), matching: filter)
            try report(.choosing, bounds.part(upTo: block.upperBound))
            return true
        }
        return chosen
    }

    /// Tries how many of the oldest exchanges must go, besides those that were chosen, so that what is left takes at most so
    /// many bytes. Throws ``SessionError`` where nothing is left and takes more.
    fileprivate func tried(
        without chosen: [Int64],
        upTo largest: Int64,
        _ report: SessionTrim.Report = { _, _ in }
    ) throws -> (going: [Int64], kept: Int64, size: Int64) {
        guard let bounds = try bounds() else { return ([], 0, 0) }
        let chosen = ExchangeNumbers(chosen)
        let numbers = try numbers(matching: .everything).filter { !chosen.contains($0) }
        func size(without count: Int) throws -> Int64 {
            try report(.choosing, nil)
            return try SessionCopy.size(path, without: bounds.without(numbers[count...]), upTo: bounds.upperBound)
        }
        var (fewest, most) = (0, numbers.count)
        var fitting = try size(without: most)
        guard fitting <= largest else { throw SessionError.cannotBeSmaller(path, than: fitting) }
        while fewest < most {
            let middle = (fewest + most) / 2
            let found = try size(without: middle)
            if found <= largest { (most, fitting) = (middle, found) } else { fewest = middle + 1 }
        }
        return (Array(numbers[..<most]), Int64(numbers.count - most), fitting)
    }

    /// How many bytes of heads and bodies each exchange has, lowest number first.
    fileprivate func sizesByNumber() throws -> [(number: Int64, size: Double)] {
        guard let bounds = try bounds() else { return [] }
        var sizes: [(number: Int64, size: Double)] = []
        let changed = [
            ("request_body_size", ExchangeRecord.Flags.requestBodyChanged),
            ("response_body_size", ExchangeRecord.Flags.responseBodyChanged),
        ].map { "\($0) * (1 + ((flags & \($1.rawValue)) <> 0))" }
        let sql = """
            SELECT id, request_head_size, response_head_size, \(changed.joined(separator: ", ")) FROM exchange
            WHERE id BETWEEN ? AND ? AND \(Schema.isKept("exchange.id")) ORDER BY id
            """
        try forEachBlock(of: bounds, for: .everything) { block in
            sizes += try rows(sql, [block.lowerBound, block.upperBound], of: "exchange") { row in
                let number = try row.number(in: RecordedRange.numbers)
                var size = 0.0
                for _ in 0..<4 { size += Double(try row.number(in: 0...2 * RecordedRange.amounts.upperBound)) }
                return (number, size)
            }
            return true
        }
        return sizes
    }
}

extension ClosedRange<Int64> {
    /// All numbers of the range but some, which grow.
    fileprivate func without(_ kept: ArraySlice<Int64>) -> ExchangeNumbers {
        var (gaps, start): ([ClosedRange<Int64>], Int64) = ([], lowerBound)
        for number in kept where contains(number) {
            if start < number { gaps.append(start...number - 1) }
            start = number + 1
        }
        if start <= upperBound { gaps.append(start...upperBound) }
        return ExchangeNumbers(ranges: gaps)
    }
}

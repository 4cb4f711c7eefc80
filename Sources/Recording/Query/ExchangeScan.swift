import Content
import GRDB
package import HTTPModel
import NIOCore

/// What a pass over exchanges looks for, and what it has learnt so far.
package struct ExchangeScan: Sendable {
    /// Which exchanges are meant.
    package let filter: Filter
    /// Text that one of the exchange's bodies must have besides; `nil` for none.
    package let bodyText: BodyText?
    /// Whether the filter has let anything pass, whatever was in its bodies.
    package private(set) var filterHasMatched = false
    /// The filter's terms that must all hold.
    private let terms: [Filter]
    /// Which of them no exchange has passed yet, each by itself, as far as rows alone can tell.
    private var isUnmatched: [Bool]

    let columns: Set<FilterColumn>
    /// How many rows are looked at upwards where the pass goes down: some milliseconds' worth.
    var blockRows: Int64 = 2_048

    /// Prepares a pass.
    package init(_ filter: Filter, bodyText: BodyText? = nil) {
        self.filter = filter
        self.bodyText = bodyText
        columns = filter.columns
        terms = filter.conjuncts
        isUnmatched = terms.map { _ in true }
    }

    /// The filter's terms of which no exchange has held yet, each by itself.
    ///
    /// Terms that need messages or bodies are not among them where there are several.
    package var unmatchedTerms: [Filter] {
        if filterHasMatched || filter.matchesEverything { return [] }
        return terms.indices.filter { isUnmatched[$0] }.map { terms[$0] }
            .filter { terms.count == 1 || !$0.needsMessages && !$0.needsBodies }
    }

    /// Whether it is answered without bodies, so that many exchanges are looked at in no time.
    var isQuick: Bool { bodyText == nil && !filter.needsBodies }

    /// Whether a row passes, as far as it alone can tell; learns from it which terms hold of anything.
    ///
    /// No term is asked twice, and those after one that does not hold only as long as they have not held of any row.
    fileprivate mutating func decides(_ row: LeanRow) -> Bool? {
        var result: Bool? = true
        for index in terms.indices where result != false || isUnmatched[index] {
            switch terms[index].decides(row) {
            case true: isUnmatched[index] = false
            case false: result = false
            case nil: if result == true { result = nil }
            }
        }
        return result
    }

    /// Notes that an exchange passes.
    fileprivate mutating func learnMatch() {
        filterHasMatched = true
    }
}

/// What one step of a pass found.
package struct ScanStep: Sendable, Hashable {
    /// The numbers of the exchanges that pass, in the order of the pass.
    package var matches: [Int64] = []
    /// Numbers of exchanges that were in flight, whether they pass or not: the answer may change.
    package var inFlight: [Int64] = []
    /// Numbers that have no row, or not yet; of a great many the highest few thousand of each gap.
    package var missing: [Int64] = []
    /// How many numbers were looked at, those without a row included.
    package var looked: Int64 = 0
    /// The number to go on with; `nil` where nothing is left.
    package var next: Int64?

    static let mostMissing = 4_096

    /// A step that found nothing.
    package init() {}

    /// Adds what a step upwards found below what this one has seen; what is beyond the limit is left to the next step.
    fileprivate mutating func add(_ block: ScanStep, from upper: Int64, limit: Int) {
        let room = max(0, limit - matches.count)
        let last = block.matches.count > room ? block.matches.suffix(room).first ?? upper + 1 : Int64.min
        matches += block.matches.suffix(room).reversed()
        inFlight += block.inFlight.reversed().prefix { $0 >= last }
        missing += block.missing.reversed().prefix { $0 >= last }.prefix(max(0, ScanStep.mostMissing - missing.count))
        looked += last == Int64.min ? block.looked : upper - last + 1
        if last != Int64.min { next = last - 1 }
    }

    fileprivate mutating func skip(_ ids: Range<Int64>) {
        guard !ids.isEmpty else { return }
        looked += Int64(ids.count)
        let room = ScanStep.mostMissing - missing.count
        if room > 0 { missing += ids.suffix(room) }
    }
}

extension SessionReader {
    /// Looks for exchanges within a range of numbers, as far as the caller lets it.
    ///
    /// At least one row is looked at, so that repeated steps come to an end.
    ///
    /// - Parameters:
    ///   - scan: what to look for; learns from what it sees.
    ///   - ids: the numbers to look at.
    ///   - order: from which end.
    ///   - limit: how many matches end the step.
    ///   - shouldPause: asked every few rows whether the step is to end.
    /// - Returns: what was found, and where to go on.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func step(
        _ scan: inout ExchangeScan,
        in ids: ClosedRange<Int64>,
        order: Order = .newestFirst,
        limit: Int = .max,
        until shouldPause: () -> Bool = { false }
    ) throws -> ScanStep {
        let ids = ids.clamped(to: RecordedRange.numbers)
        let columns = LeanColumns(scan.columns)
        if columns.hasMessages, order == .newestFirst, ids.count > 1 {
            return try stepDown(&scan, in: ids, limit: limit, until: shouldPause)
        }
        let isUpward = order == .oldestFirst
        var found = ScanStep()
        var expected = isUpward ? ids.lowerBound : ids.upperBound
        var rows = 0
        var isDone = true
        try read { database in
            try visit(columns, in: ids, order: order, database) { row in
                let id = row.id
                found.skip(isUpward ? expected..<max(id, expected) : id + 1..<max(expected, id) + 1)
                try look(at: row, &scan, &found, database)
                let last = isUpward ? ids.upperBound : ids.lowerBound
                guard id != last else {
                    expected = last
                    return false
                }
                expected = isUpward ? id + 1 : id - 1
                rows += 1
                if found.matches.count >= limit || pauses(after: rows, scan, shouldPause) {
                    isDone = false
                    return false
                }
                return true
            }
        }
        if !isDone {
            found.next = expected
        } else if found.looked < ids.count {
            found.skip(isUpward ? expected..<ids.upperBound + 1 : ids.lowerBound..<expected + 1)
        }
        return found
    }

    /// Looks from the highest number to the lowest, but within each block of numbers upwards: SQLite finds the row with the
    /// messages of the next number beside that of the one before, and looks for any other from the root of the tree.
    private func stepDown(
        _ scan: inout ExchangeScan,
        in ids: ClosedRange<Int64>,
        limit: Int,
        until shouldPause: () -> Bool
    ) throws -> ScanStep {
        var found = ScanStep()
        var upper = ids.upperBound
        while true {
            let block = try read { try number(rows: scan.blockRows, below: upper, in: $0) }
            let lower = max(block ?? ids.lowerBound, ids.lowerBound)
            found.add(try step(&scan, in: lower...upper, order: .oldestFirst), from: upper, limit: limit)
            if found.next != nil { return found }
            guard lower > ids.lowerBound else { return found }
            upper = lower - 1
            if found.matches.count >= limit || shouldPause() {
                found.next = upper
                return found
            }
        }
    }

    /// The number of the row that is so many rows below a number, that one counted; `nil` where there are fewer.
    private func number(rows: Int64, below upper: Int64, in database: Database) throws -> Int64? {
        let sql = "SELECT id FROM exchange WHERE id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?"
        return try RowReader.rows(sql, [upper, rows - 1], in: database, path: path, subject: "exchange") {
            try $0.number()
        }.first
    }

    /// Looks which of some exchanges are meant, in the order of the numbers, as far as the caller lets it.
    ///
    /// - Parameters:
    ///   - scan: what to look for; learns from what it sees.
    ///   - ids: the numbers to look at.
    ///   - limit: how many matches end the step.
    ///   - shouldPause: asked every few rows whether the step is to end.
    /// - Returns: what was found; ``ScanStep/looked`` says how many of the numbers the step has done.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func step(
        _ scan: inout ExchangeScan,
        of ids: ArraySlice<Int64>,
        limit: Int = .max,
        until shouldPause: () -> Bool = { false }
    ) throws -> ScanStep {
        let columns = LeanColumns(scan.columns)
        var found = ScanStep()
        try read { database in
            try visit(columns, of: ids, database) { id, row in
                if let row {
                    try look(at: row, &scan, &found, database)
                } else {
                    found.skip(id..<id + 1)
                }
                return found.matches.count < limit && !pauses(after: Int(found.looked), scan, shouldPause)
            }
        }
        let done = ids.startIndex + Int(found.looked)
        found.next = done < ids.endIndex ? ids[done] : nil
        return found
    }

    /// Whether an exchange passes, with heads and bodies read as they are needed.
    ///
    /// Content codings are undone; of each body the first 16 MiB are looked at.
    ///
    /// - Throws: ``SessionError`` where the session cannot be read, or the exchange is damaged.
    package func matches(_ filter: Filter, _ record: ExchangeRecord) throws -> Bool {
        if let decided = filter.decides(record) { return decided }
        return try read(inOneTransaction: true) { try matches(filter, record, in: $0) }
    }

    private func look(
        at row: LeanRow,
        _ scan: inout ExchangeScan,
        _ found: inout ScanStep,
        _ database: Database
    ) throws {
        let id = row.id
        found.looked += 1
        if row.isInFlight { found.inFlight.append(id) }
        let passes: Bool
        if let decided = scan.decides(row) {
            passes = decided
        } else if let record = try record(ExchangeID(id), in: database) {
            passes = try matches(scan.filter, record, in: database)
        } else {
            passes = false
        }
        guard passes else { return }
        scan.learnMatch()
        if let text = scan.bodyText, try firstHit(of: text, in: id, database) == nil { return }
        found.matches.append(id)
    }

    private func pauses(after rows: Int, _ scan: ExchangeScan, _ shouldPause: () -> Bool) -> Bool {
        // Asking costs as much as looking at a row does.
        (rows & (scan.isQuick ? 0xFF : 0xF)) == 0 && shouldPause()
    }

    private func matches(_ filter: Filter, _ record: ExchangeRecord, in database: Database) throws -> Bool {
        var fetched: RecordedExchange?
        func details() throws -> RecordedExchange? {
            if fetched == nil { fetched = try exchange(record.id, in: database) }
            return fetched
        }
        return try filter.matches(record, details: details) { side in
            let bytes = try body(of: record.id, side: side, limit: Self.searchLimit, in: database)
            guard let messages = try details()?.messages else { return bytes }
            let head = side == .requestReceived || side == .requestSent ? messages.requestHead : messages.responseHead
            let encoding = head.map { StoredHead.fields($0) }?.value(of: .contentEncoding)
            return ContentDecoder.decode(bytes, contentEncoding: encoding, limit: Self.searchLimit).bytes
        }
    }

    /// How many decoded bytes of a body a search looks at.
    static let searchLimit = 16 << 20
}

import Files
import Foundation
import GRDB
package import HTTPModel

/// Removes exchanges for good: a copy without them replaces the session; numbers stay. The copy gets its name when it
/// is complete, so killing Sluice leaves the session unchanged.
package struct SessionTrim: Sendable, Hashable {
    package var removed: Filter?
    /// In bytes: the oldest of the other exchanges are removed until the file fits.
    package var largestSize: Int64?

    package init(removed: Filter?, largestSize: Int64? = nil) {
        (self.removed, self.largestSize) = (removed, largestSize)
    }

    package struct Outcome: Sendable, Hashable {
        package var removed: Int64 = 0
        package var kept: Int64 = 0
        /// In bytes.
        package var sizeBefore: Int64 = 0
        package var sizeAfter: Int64 = 0
        package var isEstimate = false

        package init() {}
    }

    package enum Step: Sendable, Hashable { case choosing, copying }

    /// Called with the progress from 0 to 1, if known. An error that it throws ends the trim.
    package typealias Report = (_ step: Step, _ part: Double?) throws -> Void

    /// Sizes of larger sessions are estimated, because a page matters little in them; in bytes.
    private static let largestMeasured: Int64 = 16 << 20
    /// Bytes of an exchange besides heads and bodies.
    private static let overhead = 400.0

    /// Throws ``SessionError``, with the code `locked` for a session that is being recorded, and leaves the session
    /// unchanged.
    package func inPlace(_ path: String, report: Report = { _, _ in }) throws -> Outcome {
        let editor = try SessionEditor(path: path)
        defer { editor.unlock() }
        try editor.settle()
        // SQLite would apply an old log to the new file.
        guard !SessionPath.companions(of: path).contains(where: { FileFacts(path: $0) != nil }) else {
            throw SessionError.inUse(path)
        }
        return try write(path, to: SessionPath.resolved(path), overwrites: true, report) { _ in }
    }

    /// Throws ``SessionError``, with the code `exists` if `target` exists.
    package func copy(_ path: String, to target: String, report: Report = { _, _ in }) throws -> Outcome {
        try write(path, to: target, overwrites: false, report, finish: SessionCopy.finish)
    }

    private func write(
        _ path: String,
        to target: String,
        overwrites: Bool,
        _ report: Report,
        finish: (String) throws -> Void
    ) throws -> Outcome {
        let reader = try SessionReader(path: path)
        var outcome = Outcome()
        outcome.sizeBefore = FileFacts(path: path)?.size ?? 0
        try SessionCopy.write(session: path, to: target, overwrites: overwrites) { part in
            var aim = largestSize
            repeat {
                let plan = try plan(reader, within: aim, report)
                let needed = plan.outcome.sizeAfter
                if let free = FreeSpace.bytes(beside: target).map({ Int64(clamping: $0) }), free < needed {
                    throw SessionError.noSpace(target, needed: needed, free: free)
                }
                outcome.removed = plan.outcome.removed
                outcome.kept = try SessionCopy.copy(path, without: plan.removed, upTo: plan.last, to: part) {
                    try report(.copying, $0)
                }
                try finish(part)
                outcome.sizeAfter = FileFacts(path: part)?.size ?? 0
                guard let largestSize, outcome.sizeAfter > largestSize else { break }
                aim = (aim ?? 0) - (outcome.sizeAfter - largestSize)
                truncate(part, 0)
            } while true
        }
        return outcome
    }

    package func rehearsal(_ reader: SessionReader) throws -> Outcome {
        var outcome = try plan(reader, within: largestSize) { _, _ in }.outcome
        outcome.sizeBefore = FileFacts(path: reader.path)?.size ?? 0
        return outcome
    }

    private struct Plan {
        var removed: ExchangeNumbers
        /// Later exchanges are not in the plan.
        var last: Int64
        var outcome = Outcome()
    }

    /// Chooses the exchanges that match the filter, and as few of the oldest other exchanges as possible. Throws
    /// ``SessionError`` if even a session without exchanges is larger than `largest`.
    private func plan(_ reader: SessionReader, within largest: Int64?, _ report: Report) throws -> Plan {
        let bounds = try reader.bounds() ?? 1...1
        let chosen = ExchangeNumbers(try removed.map { try reader.chosen(by: $0, in: bounds, report) } ?? [])
        let all = try reader.sizesByNumber(in: bounds)
        let rest = all.filter { !chosen.contains($0.number) }
        func measured(without removed: ExchangeNumbers) throws -> Int64 {
            try report(.choosing, nil)
            return try SessionCopy.size(reader.path, without: removed, upTo: bounds.upperBound)
        }
        func oldest(_ count: Int) -> ExchangeNumbers { bounds.without(rest[count...].map { $0.number }) }
        func bytes(_ exchanges: some Sequence<(number: Int64, size: Double)>) -> Double {
            exchanges.reduce(0) { $0 + $1.size + Self.overhead }
        }
        let used = try reader.read { try SessionLimit.usedBytes($0.connection) }
        let isMeasured = used <= Self.largestMeasured
        let least = try measured(without: oldest(rest.count))
        // Spreads partly filled pages, rules and connections over the exchanges.
        let scale = all.isEmpty ? 1 : Double(max(0, used - least)) / bytes(all)
        func size(without count: Int) throws -> Int64 {
            if isMeasured { return try measured(without: oldest(count)) }
            let pages = (bytes(rest[count...]) * scale / Double(Schema.pageSize)).rounded(.up) * Double(Schema.pageSize)
            return least + Int64(min(pages, Double(max(0, RecordedRange.amounts.upperBound - least))))
        }
        var (fewest, most) = (0, largest == nil ? 0 : rest.count)
        if let largest, least > largest { throw SessionError.cannotBeSmaller(reader.path, than: least) }
        while let largest, fewest < most {
            let middle = (fewest + most) / 2
            if try size(without: middle) <= largest { most = middle } else { fewest = middle + 1 }
        }
        var plan = Plan(removed: oldest(most), last: bounds.upperBound)
        plan.outcome.removed = Int64(all.count - rest.count + most)
        plan.outcome.kept = Int64(rest.count - most)
        plan.outcome.sizeAfter = try size(without: most)
        plan.outcome.isEstimate = !isMeasured && largest != nil
        return plan
    }
}

extension SessionReader {
    /// Numbers of matching exchanges, lowest first; reads in short steps.
    fileprivate func chosen(
        by filter: Filter,
        in bounds: ClosedRange<Int64>,
        _ report: SessionTrim.Report
    ) throws -> [Int64] {
        var chosen: [Int64] = []
        try forEachBlock(of: bounds, for: filter) { block in
            chosen += try numbers(of: .range(block), matching: filter)
            try report(.choosing, bounds.part(upTo: block.upperBound))
            return true
        }
        return chosen
    }

    /// Bytes of heads and bodies, lowest number first.
    fileprivate func sizesByNumber(in bounds: ClosedRange<Int64>) throws -> [(number: Int64, size: Double)] {
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
    /// `kept` is in ascending order.
    fileprivate func without(_ kept: [Int64]) -> ExchangeNumbers {
        var (gaps, start): ([ClosedRange<Int64>], Int64) = ([], lowerBound)
        for number in kept where contains(number) {
            if start < number { gaps.append(start...number - 1) }
            start = number + 1
        }
        if start <= upperBound { gaps.append(start...upperBound) }
        return ExchangeNumbers(ranges: gaps)
    }
}

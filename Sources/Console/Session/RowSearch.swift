import Dispatch
import HTTPModel
import Recording
import Synchronization

/// A search for the next row of a kind.
struct RowSearch {
    let kind: JumpKind
    let isForward: Bool
    var scan: ExchangeScan
    /// The exchange of the row that was looked at last.
    var last: Int64
    /// How far from the end the search began.
    let start: Int
    var progress: Double?
}

extension DeskWorker {
    /// Begins to look for a row; marks are found at once, all else in steps.
    func beginSearch(_ kind: JumpKind, from row: Int, forward: Bool) {
        let from = list.value.withLock { list -> Int64? in
            guard list.generation == generation, (0..<list.count).contains(row) else { return nil }
            return list.number(last: row)
        }
        guard let from else { return deliver(.found(generation: generation, index: nil, kind)) }
        if case .marked(let numbers) = kind {
            let place = list.value.withLock { $0.nextPlace(of: numbers, from: row, forward: forward) }
            return deliver(.found(generation: generation, index: place, kind))
        }
        guard let filter = kind.filter else { return }
        search = RowSearch(kind: kind, isForward: forward, scan: ExchangeScan(filter), last: from, start: row)
    }

    /// Looks at some more rows.
    func stepSearch() throws {
        guard var search else { return }
        let begin = DispatchTime.now().uptimeNanoseconds
        let (numbers, range, place, count) = list.value.withLock { list -> ([Int64], ClosedRange<Int64>?, Int, Int) in
            let place = list.place(of: search.last) ?? 0
            if let range = list.numberRange(after: search.last, forward: search.isForward) {
                return ([], range.isEmpty ? nil : range.lowerBound...range.upperBound - 1, place, list.count)
            }
            let rows = search.isForward ? max(0, place - 2_000)..<place : place + 1..<max(place + 1, place + 2_001)
            let numbers = list.numbers(last: rows)
            return (search.isForward ? numbers.reversed() : numbers, nil, place, list.count)
        }
        let found: ScanStep
        var isUpward = false
        if let range {
            isUpward = range.lowerBound > search.last
            found = try reader.step(
                &search.scan,
                in: range,
                order: isUpward ? .oldestFirst : .newestFirst,
                limit: 1
            ) { self.pauses(since: begin) }
            if let next = found.next { search.last = isUpward ? next - 1 : next + 1 }
        } else if !numbers.isEmpty {
            found = try reader.step(&search.scan, of: numbers[...], limit: 1) { self.pauses(since: begin) }
            search.last = numbers[Int(found.looked) - 1]
        } else {
            found = ScanStep()
        }
        if let match = found.matches.first {
            self.search = nil
            let index = list.value.withLock { $0.place(of: match) }
            deliver(.found(generation: generation, index: index, search.kind))
            tellStatus(force: true)
        } else if range != nil ? found.next == nil : numbers.isEmpty {
            self.search = nil
            deliver(.found(generation: generation, index: nil, search.kind))
            tellStatus(force: true)
        } else {
            let whole = search.isForward ? search.start : count - search.start
            search.progress = min(1, Double(abs(place - search.start)) / Double(max(1, whole)))
            self.search = search
        }
    }
}

extension DeskList {
    /// The numbers that come after one, in a list of all of the session; `nil` in any other list.
    fileprivate func numberRange(after number: Int64, forward: Bool) -> Range<Int64>? {
        guard !isFiltered, !isSorted, let bounds else { return nil }
        let place = place(of: number) ?? 0
        // A list may run from the highest number to the lowest.
        let isUpward = forward == (self.number(last: 0) == bounds.upperBound)
        guard count > 0, forward ? place > 0 : place < count - 1 else { return number..<number }
        return isUpward ? number + 1..<bounds.upperBound + 1 : bounds.lowerBound..<number
    }

    /// The next row after one that is among some exchanges.
    fileprivate func nextPlace(of numbers: Set<Int64>, from row: Int, forward: Bool) -> Int? {
        if !isSorted {
            let places = numbers.compactMap { number in
                place(of: number).flatMap { self.number(last: $0) == number ? $0 : nil }
            }
            return forward ? places.filter { $0 < row }.max() : places.filter { $0 > row }.min()
        }
        let rows = forward ? Array(stride(from: row - 1, through: 0, by: -1)) : Array(row + 1..<max(row + 1, count))
        return rows.first { numbers.contains(number(last: $0)) }
    }
}

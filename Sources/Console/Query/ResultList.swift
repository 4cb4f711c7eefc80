import HTTPModel
import Synchronization
import Text

/// The list of a query as exchange numbers, shared by the thread that fills it and the thread that reads pages. Without
/// a filter, the numbers are not stored. Positions count from the list's end, which does not move while a pass runs
/// from the newest exchange to the oldest.
struct ResultList: Sendable {
    private(set) var generation = 0
    var bounds: ClosedRange<Int64>?
    private(set) var filter = Filter.everything
    /// Whether some numbers of the session have no row; then the others are stored, as with a filter.
    var hasHoles = false
    /// Whether the query lists the exchanges, in addition to its filter.
    private(set) var isRestricted = false
    /// Whether the list is sorted by something other than the number.
    private(set) var isSorted = false
    /// Whether the pass has ended or was stopped, so that it adds no more matches.
    var isFilled = false
    private(set) var isReversed = false
    /// Matches that the pass found, newest first.
    private var older: [Int64] = []
    /// Matches since the start of the pass, oldest first.
    private var newer: [Int64] = []
    private var sorted: [Int64] = []

    mutating func begin(_ query: ListQuery, generation: Int) {
        self = ResultList(generation: generation, bounds: bounds, filter: query.wholeFilter)
        isRestricted = query.only != nil
        isSorted = query.sort.map { $0.column != .id } ?? false
        isReversed = query.sort.map { $0.column == .id && $0.isDescending } ?? false
    }

    init(generation: Int = 0, bounds: ClosedRange<Int64>? = nil, filter: Filter = .everything) {
        (self.generation, self.bounds, self.filter) = (generation, bounds, filter)
    }

    var isFiltered: Bool { isRestricted || hasHoles || !filter.matchesEverything }
    var count: Int { isSorted ? sorted.count : matchCount }

    var matchCount: Int { isFiltered ? older.count + newer.count : bounds?.count ?? 0 }

    var matches: [Int64] { older + newer }

    /// The numbers of rows, by their distance from the end; rows outside the list are left out.
    func numbers(last rows: Range<Int>) -> [Int64] { rows.clamped(to: 0..<count).map(number(last:)) }

    func number(last place: Int) -> Int64 {
        if isSorted { return sorted[sorted.count - 1 - place] }
        let place = isReversed ? matchCount - 1 - place : place
        return isFiltered ? position(newest: place) : (bounds?.upperBound ?? 0) - Int64(place)
    }

    func position(of number: Int64) -> ListPlace {
        let place = place(of: number)
        if let place, self.number(last: place) == number { return .row(place) }
        return isFilled ? .nowhere(nearest: place) : .unknown
    }

    /// The next row whose number is in `numbers`, which is sorted; `nil` if there is no such row in this direction.
    func nextPlace(of numbers: [Int64], from row: Int, forward: Bool) -> Int? {
        func isAmong(_ number: Int64) -> Bool {
            let place = numbers.partitioningIndex { $0 < number }
            return place < numbers.count && numbers[place] == number
        }
        return forward
            ? (0..<min(row, count)).last { isAmong(number(last: $0)) }
            : (row + 1..<max(row + 1, count)).first { isAmong(number(last: $0)) }
    }

    /// An exchange's distance from the end, or the distance of the nearest row; a sorted list has no nearest row.
    private func place(of number: Int64) -> Int? {
        guard count > 0 else { return nil }
        if isSorted { return sorted.firstIndex(of: number).map { sorted.count - 1 - $0 } }
        let place = min(newerPlace(of: number), matchCount - 1)
        return isReversed ? matchCount - 1 - place : place
    }

    private func newerPlace(of number: Int64) -> Int {
        guard isFiltered else {
            guard let bounds else { return 0 }
            return Int(bounds.upperBound - min(max(number, bounds.lowerBound), bounds.upperBound))
        }
        let place = newer.count - newer.partitioningIndex { $0 <= number }
        return place < newer.count ? place : newer.count + older.partitioningIndex { $0 > number }
    }

    mutating func addOlder(_ numbers: [Int64]) { older += numbers }

    /// Adds an exchange to a filtered list or removes it; returns whether the list has changed.
    mutating func set(_ number: Int64, isIn: Bool) -> Bool {
        let place = newerPlace(of: number)
        let wasIn = place < matchCount && position(newest: place) == number
        guard wasIn != isIn else { return false }
        if isIn {
            if place <= newer.count, place == 0 || newer.count > 0 {
                newer.insert(number, at: newer.count - place)
            } else {
                older.insert(number, at: place - newer.count)
            }
        } else if place < newer.count {
            newer.remove(at: newer.count - 1 - place)
        } else {
            older.remove(at: place - newer.count)
        }
        return true
    }

    private func position(newest place: Int) -> Int64 {
        place < newer.count ? newer[newer.count - 1 - place] : older[place - newer.count]
    }

    mutating func sort(_ numbers: [Int64]) { sorted = numbers }
}

final class SharedList: Sendable {
    let value: Mutex<ResultList>
    let wantsRefresh = Atomic(false)

    init(bounds: ClosedRange<Int64>?) { value = Mutex(ResultList(bounds: bounds)) }
}

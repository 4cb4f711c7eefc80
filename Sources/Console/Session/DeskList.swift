import HTTPModel

/// The list that a query makes, as numbers of exchanges; shared by the thread that fills it and the one that reads pages.
///
/// All numbers of the session, where no filter leaves any out, are not kept at all. Places are counted from the list's
/// end, which stays where it is while a pass runs from the newest exchange to the oldest.
struct DeskList: Sendable {
    /// The generation of the query.
    private(set) var generation = 0
    /// The lowest and the highest number of the session.
    var bounds: ClosedRange<Int64>?
    /// Whether the filter leaves exchanges out.
    private(set) var isFiltered = false
    /// Whether the list is ordered by something else than the number.
    private(set) var isSorted = false
    /// Whether a pass has filled it, or was stopped, so that what is not in it will not come from there.
    var isFilled = false
    private var isReversed = false
    /// Matches that the pass found, newest first.
    private var older = NumberList()
    /// Matches that came since the pass began, oldest first.
    private var newer = NumberList()
    /// The list in order, where it is ordered by something else than the number.
    private var sorted = NumberList()

    /// Begins the list of another query.
    mutating func begin(_ query: ListQuery, generation: Int) {
        self.generation = generation
        isFilled = false
        isFiltered = !query.wholeFilter.matchesEverything || !(query.bodyText ?? "").isEmpty
        isSorted = query.sort.map { $0.column != .id } ?? false
        isReversed = query.sort.map { $0.column == .id && $0.isDescending } ?? false
        older = NumberList()
        newer = NumberList()
        sorted = NumberList()
    }

    /// How many rows there are.
    var count: Int { isSorted ? sorted.count : matchCount }

    /// How many exchanges belong to the list, whether or not they are in order yet.
    var matchCount: Int { isFiltered ? older.count + newer.count : bounds?.count ?? 0 }

    /// The numbers of rows, by their distance from the end; those beyond the list are left out.
    func numbers(last rows: Range<Int>) -> [Int64] {
        rows.clamped(to: 0..<count).map(number(last:))
    }

    /// The number of the row at a distance from the end.
    func number(last place: Int) -> Int64 {
        if isSorted { return sorted[sorted.count - 1 - place] }
        let place = isReversed ? matchCount - 1 - place : place
        guard isFiltered else { return (bounds?.upperBound ?? 0) - Int64(place) }
        return place < newer.count ? newer[newer.count - 1 - place] : older[place - newer.count]
    }

    /// How far from the end an exchange is; where it is not in the list the nearest one, but in a list in another order
    /// than that of numbers `nil`.
    func place(of number: Int64) -> Int? {
        guard count > 0 else { return nil }
        if isSorted { return sorted.firstIndex(of: number).map { sorted.count - 1 - $0 } }
        let place = min(newerPlace(of: number), matchCount - 1)
        return isReversed ? matchCount - 1 - place : place
    }

    /// Where an exchange is, as far as the list is filled.
    func position(of number: Int64) -> ListPlace {
        let place = place(of: number)
        if let place, self.number(last: place) == number { return .row(place) }
        return isFilled ? .nowhere(nearest: place) : .unknown
    }

    /// How many of the list are newer than a number.
    private func newerPlace(of number: Int64) -> Int {
        guard isFiltered else {
            guard let bounds else { return 0 }
            return Int(bounds.upperBound - min(max(number, bounds.lowerBound), bounds.upperBound))
        }
        let place = newer.count - newer.partitioningIndex { $0 <= number }
        return place < newer.count ? place : newer.count + older.partitioningIndex { $0 > number }
    }

    // MARK: - Matches

    /// All that belongs to the list, oldest first; `nil` for all of the session.
    var matches: NumberList? {
        guard isFiltered else { return nil }
        return NumberList(
            (0..<older.count).reversed().map { older[$0] } + (0..<newer.count).map { newer[$0] }
        )
    }

    /// Adds what a pass found on its way to the oldest exchange.
    mutating func addOlder(_ numbers: [Int64]) { older.append(numbers) }

    /// Adds what came since, in order.
    mutating func addNewer(_ numbers: [Int64]) { newer.append(numbers) }

    /// Whether a match is in the list.
    func contains(_ number: Int64) -> Bool {
        guard isFiltered else { return bounds?.contains(number) ?? false }
        let place = newerPlace(of: number)
        guard place < matchCount else { return false }
        return (place < newer.count ? newer[newer.count - 1 - place] : older[place - newer.count]) == number
    }

    /// Adds an exchange that passes now and did not before.
    mutating func insert(_ number: Int64) {
        guard isFiltered, !contains(number) else { return }
        let place = newerPlace(of: number)
        // Between the two, either would do.
        if place <= newer.count, newer.count > 0 {
            newer.insert(number, at: newer.count - place)
        } else {
            older.insert(number, at: place - newer.count)
        }
    }

    /// Takes out an exchange that passed before and does not now.
    mutating func remove(_ number: Int64) {
        guard isFiltered, contains(number) else { return }
        let place = newerPlace(of: number)
        if place < newer.count {
            newer.remove(at: newer.count - 1 - place)
        } else {
            older.remove(at: place - newer.count)
        }
    }

    /// Puts the list in another order.
    mutating func sort(_ numbers: [Int64]) { sorted = NumberList(numbers) }
}

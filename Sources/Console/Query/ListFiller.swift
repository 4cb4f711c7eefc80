import Dispatch
import HTTPModel
import Recording
import Synchronization

/// Fills the list by passes over the session, keeps it up to date and sorts it.
struct ListFiller {
    /// A sorted list with at most this many rows is sorted again when exchanges arrive.
    private static let mostInOrder = 50_000

    private let reader: SessionReader
    private let list: SharedList
    private let deliver: @Sendable (QueryEvent) -> Void

    private var query = ListQuery()
    private var generation = 0
    private var followed = FollowedNumbers()
    private var untrusting = UntrustingClients()
    /// The exchanges that ended last, and until when their clients may become known, in monotonic nanoseconds.
    private var justEnded: [(number: Int64, until: UInt64)] = []
    /// The lowest number that the pass has searched; 0 once the pass is done.
    private var passed: Int64 = 0
    /// The progress of the pass, from 0 to 1; `nil` if no pass runs.
    private var progress: Double?
    private var error: String?
    private var excludedBy: (term: Filter, words: String)?
    private var unfinished = UnfinishedSearches()
    private var isOrderStale = false
    /// The highest number when missing rows were noticed, and the time of this, in monotonic nanoseconds.
    private var suspicion: (upper: Int64, since: UInt64)?
    /// How late a row may appear, in nanoseconds.
    private static let lateness: UInt64 = 300_000_000
    /// How many ended exchanges are read again to find their clients, and for how long, in nanoseconds.
    private static let (mostNamedLate, namingTime) = (256, 3_000_000_000 as UInt64)
    private var lastOrder: UInt64 = 0
    private var sorts = 0
    private static let orderPause: UInt64 = 1_000_000_000
    /// Whether exchanges were in flight at the last look: when they end, their position in the order changes.
    private var hadInFlight = false
    private var isLookArranged = false

    private var summary: SessionSummary?
    private var hasVanished = false
    private var lastStatus: ListStatus?
    private let pace = Pace()

    init(reader: SessionReader, list: SharedList, deliver: @escaping @Sendable (QueryEvent) -> Void) {
        (self.reader, self.list, self.deliver) = (reader, list, deliver)
    }

    mutating func open() {
        attempt { filler in
            try filler.untrusting.begin(filler.reader)
            try filler.tellSummary()
        }
        tellStatus(force: true)
    }

    // MARK: - A query

    mutating func begin(_ query: ListQuery, generation: Int, _ cancellation: Cancellation) {
        self.query = query
        self.generation = generation
        followed = FollowedNumbers()
        justEnded = []
        (error, excludedBy, isOrderStale) = (nil, nil, false)
        unfinished = UnfinishedSearches()
        progress = 0
        attempt { filler in try filler.fill(cancellation) }
        progress = nil
        passed = 0
        tellStatus(force: true)
    }

    private mutating func fill(_ cancellation: Cancellation) throws {
        try cancellation.check()
        try followed.begin(reader)
        guard (query.bodyText ?? "").utf8.count <= ListQuery.longestBodyText else {
            error = "The search text is longer than \(ListQuery.longestBodyText) bytes."
            return
        }
        // The same query usually comes again because exchanges were deleted, so the summary may have changed.
        try tellSummary()
        guard let bounds = followed.bounds else { return }
        let hasHoles = summary?.exchanges != Int64(bounds.count)
        suspicion = nil
        let (filter, isSorted) = change { list in
            list.bounds = bounds
            list.hasHoles = hasHoles
            return (list.filter, list.isSorted)
        }
        if let only = query.only {
            try match(filter, among: only, cancellation)
        } else if change(\.isFiltered) {
            try match(filter, in: bounds, cancellation)
        }
        if isSorted { try order(cancellation, isFirst: true) }
        if change(\.matchCount) == 0 { excludedBy = try excludingTerm(of: filter) }
    }

    private mutating func match(_ filter: Filter, in bounds: ClosedRange<Int64>, _ cancellation: Cancellation) throws {
        passed = bounds.upperBound + 1
        try reader.forEachBlock(of: bounds, order: .newestFirst, for: filter) { block in
            let found = try reader.numbers(of: .range(block), matching: filter) { _ in !cancellation.isCancelled }
            change { $0.addOlder(found.reversed()) }
            passed = block.lowerBound
            let part = Double(bounds.upperBound - passed + 1) / Double(bounds.count)
            progress = query.sort == nil ? part : part * 0.6
            if list.wantsRefresh.exchange(false, ordering: .relaxed) { try refresh() }
            tellStatus()
            return !cancellation.isCancelled
        }
        try cancellation.check()
        passed = 0
    }

    private mutating func match(_ filter: Filter, among only: [Int64], _ cancellation: Cancellation) throws {
        for end in stride(from: only.count, to: 0, by: -8_192) {
            let part = Array(only[max(0, end - 8_192)..<end])
            let found = try reader.numbers(of: .numbers(part), matching: filter) { _ in !cancellation.isCancelled }
            change { $0.addOlder(found.reversed()) }
            try cancellation.check()
        }
    }

    /// The filter term that alone excludes everything. A term on messages or bodies counts only if it is the only term.
    private func excludingTerm(of filter: Filter) throws -> (term: Filter, words: String)? {
        func hasMatch(_ filter: Filter) throws -> Bool { try !reader.numbers(matching: filter, limit: 1).isEmpty }
        if let text = query.bodyText, !text.isEmpty, try hasMatch(query.filterWithoutBody) {
            return (filter, "the text \"\(text)\" in bodies")
        }
        let terms = query.terms
        let isOnly = terms.count == 1 && (query.bodyText ?? "").isEmpty
        return try terms.first { try isOnly || $0.filter.needs == .record && !hasMatch($0.filter) }
            .map { (term: $0.filter, words: $0.words) }
    }

    // MARK: - Order

    private mutating func order(_ cancellation: Cancellation, isFirst: Bool) throws {
        let (filter, count) = change { ($0.filter, $0.matchCount) }
        guard let sort = query.sort else { return }
        isOrderStale = false
        // Sorting very many numbers takes longer than a new search, unless the search has to read bodies again.
        let isAskedAnew =
            query.only == nil
            && (filter.matchesEverything || filter.needs == .record && count > Self.mostInOrder)
        let rows: ExchangeRows = isAskedAnew ? .all : .numbers(change(\.matches))
        let done = isFirst ? progress ?? 0 : nil
        let (deliver, pace, status) = (deliver, pace, status(progress: done))
        let whole = max(1, Double(summary?.exchanges ?? 0))
        let numbers = try reader.numbers(
            of: rows,
            matching: isAskedAnew ? filter : .everything,
            by: sort.column.order,
            isDescending: sort.isDescending
        ) { seen in
            if let done, pace.isDue {
                var status = status
                status.progress = done + (1 - done) * min(1, Double(seen) / whole)
                deliver(.list(status))
            }
            return !cancellation.isCancelled
        }
        change { $0.sort(numbers) }
        sorts += 1
        lastOrder = DispatchTime.now().uptimeNanoseconds
    }

    /// Sorts a small list again, at most once a second; a large list stays unchanged until the next query.
    private mutating func orderAgain() throws {
        guard isToBeOrdered, DispatchTime.now().uptimeNanoseconds - lastOrder > Self.orderPause else { return }
        try order(Cancellation(), isFirst: false)
    }

    private var isToBeOrdered: Bool {
        guard isOrderStale, progress == nil else { return false }
        return change { $0.isSorted && $0.matchCount <= Self.mostInOrder }
    }

    // MARK: - What is new

    /// The delay in seconds until the next look, even without a change; `nil` if none is needed or one is scheduled.
    mutating func nextLook() -> Double? {
        guard !isLookArranged else { return nil }
        var delay: UInt64?
        if isToBeOrdered {
            let passed = DispatchTime.now().uptimeNanoseconds - lastOrder
            delay = Self.orderPause - min(passed, Self.orderPause)
        }
        if suspicion != nil { delay = min(delay ?? .max, Self.lateness) }
        guard let delay else { return nil }
        isLookArranged = true
        return Double(delay) / 1e9 + 0.05
    }

    mutating func lookAgain() {
        isLookArranged = false
        list.wantsRefresh.store(true, ordering: .relaxed)
        look()
    }

    mutating func look() {
        guard list.wantsRefresh.exchange(false, ordering: .relaxed) else { return }
        attempt { filler in
            try filler.refresh()
            try filler.orderAgain()
        }
        tellStatus(force: true)
    }

    private mutating func refresh() throws {
        guard reader.isInPlace else {
            if !hasVanished {
                hasVanished = true
                deliver(.failed("The session \(reader.path) was removed or replaced; the old one is still shown."))
            }
            return
        }
        let distrusted = try untrusting.advance(reader)
        if !distrusted.isEmpty { deliver(.untrusting(distrusted)) }
        if change(\.isFiltered) {
            try follow()
        } else {
            let bounds = try reader.bounds()
            let hasGrown = change { list in
                defer { list.bounds = bounds ?? list.bounds }
                return bounds != nil && bounds?.upperBound != list.bounds?.upperBound
            }
            isOrderStale = isOrderStale || hasGrown || hadInFlight
            hadInFlight = try change(\.isSorted) && !reader.numbersInFlight().isEmpty
            if let bounds, progress == nil { try lookForHoles(in: bounds) }
        }
        try tellSummary()
    }

    /// Requests a new list if numbers stay without a row, because exchanges were deleted or not recorded. Other rows
    /// are only some milliseconds late, because several loops record.
    private mutating func lookForHoles(in bounds: ClosedRange<Int64>) throws {
        let count = try reader.summary().exchanges
        let now = DispatchTime.now().uptimeNanoseconds
        guard let (upper, since) = suspicion else {
            if count != Int64(bounds.count) { suspicion = (bounds.upperBound, now) }
            return
        }
        guard now - since >= Self.lateness else { return }
        suspicion = nil
        let newer = upper < bounds.upperBound ? upper + 1...bounds.upperBound : nil
        let late = try newer.map { try reader.states(of: .range($0)).count } ?? 0
        if count - Int64(late) < Int64((bounds.lowerBound...upper).count) { deliver(.stale(generation: generation)) }
    }

    /// Reads new exchanges, and again those that were in flight or had no row.
    private mutating func follow() throws {
        let changes = try followed.advance(reader)
        let filter = change { list in
            list.bounds = followed.bounds ?? list.bounds
            return list.filter
        }
        let late = filter.asksForProcess ? namedLate(changes.settled) : []
        // The pass will read the exchanges below `passed` later, with their changes.
        var changed = (changes.settled + changes.inFlight + late).filter { $0 >= passed }
        if let only = query.only, !changed.isEmpty { changed = Array(Set(changed).intersection(only)) }
        guard !changed.isEmpty else { return }
        unfinished.forget(changed)
        let matches = Set(try reader.numbers(of: .numbers(changed), matching: filter))
        let hasChanged = change { list in
            changed.reduce(false) { list.set($1, isIn: matches.contains($1)) || $0 }
        }
        // An exchange that has ended or changed may have a different position in the order.
        isOrderStale = isOrderStale || hasChanged || !matches.isEmpty
        if let term = excludedBy?.term, try !reader.numbers(of: .numbers(changed), matching: term).isEmpty {
            excludedBy = nil
        }
    }

    /// The exchanges that ended shortly before `settled`, whose clients may have become known since.
    private mutating func namedLate(_ settled: [Int64]) -> [Int64] {
        let now = DispatchTime.now().uptimeNanoseconds
        justEnded.removeAll { $0.until < now }
        let late = justEnded.map(\.number)
        justEnded += settled.suffix(Self.mostNamedLate).map { ($0, now + Self.namingTime) }
        justEnded.removeFirst(max(0, justEnded.count - Self.mostNamedLate))
        return late
    }

    // MARK: - Telling

    /// Changes or reads the list. If a newer query has replaced the list, the changes are lost.
    @discardableResult
    private func change<Result>(_ body: (inout ResultList) -> Result) -> Result {
        list.value.withLock { list in
            guard list.generation == generation else {
                var own = ResultList(generation: generation)
                return body(&own)
            }
            return body(&list)
        }
    }

    private mutating func attempt(_ body: (inout ListFiller) throws -> Void) {
        do {
            try UnfinishedSearches.$current.withValue(unfinished) { try body(&self) }
        } catch is CancellationError {
            return
        } catch {
            let words = queryWords(error)
            self.error = words
            deliver(.failed(words))
        }
    }

    private mutating func tellSummary() throws {
        let now = try reader.summary()
        guard now != summary else { return }
        summary = now
        deliver(.summary(now))
    }

    private func status(progress: Double?) -> ListStatus {
        let total = change(\.count)
        return ListStatus(
            generation: generation,
            total: total,
            sessionTotal: Int(clamping: summary?.exchanges ?? 0),
            progress: progress,
            excludedBy: progress == nil && total == 0 && error == nil ? excludedBy?.words : nil,
            error: error,
            unfinished: unfinished.remark,
            sorts: sorts
        )
    }

    /// Delivers the list's status, at most ten times a second unless forced, and never the same status twice.
    private mutating func tellStatus(force: Bool = false) {
        guard list.value.withLock({ $0.generation == generation }) else { return }
        if progress == nil { change { $0.isFilled = true } }
        let status = status(progress: progress)
        // The first page of rows is delivered at once.
        let wasShort = lastStatus?.generation != generation || lastStatus?.total ?? 0 < 50
        let isFirstPage = wasShort && status.total > 0 && (status.total >= 50 || lastStatus?.generation != generation)
        guard force || isFirstPage || pace.isDue, status != lastStatus else { return }
        lastStatus = status
        deliver(.list(status))
    }
}

extension Column {
    fileprivate var order: ExchangeOrder {
        switch self {
        case .id: .number
        case .start, .waterfall: .startedAt
        case .method: .method
        case .host: .host
        case .path: .path
        case .status: .status
        case .type: .mediaType
        case .size: .listedSize
        case .time: .total
        case .scheme: .scheme
        case .version: .version
        case .process: .process
        case .server: .server
        case .comment, .place: .number
        }
    }
}

func queryWords(_ error: any Error) -> String {
    (error as? SessionError)?.description ?? "The session cannot be read: \(error)."
}

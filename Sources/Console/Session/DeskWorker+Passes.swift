import Dispatch
import HTTPModel
import Recording
import Synchronization

/// How the list is filled, kept up to date and ordered.
extension DeskWorker {
    /// The next piece of the pass over the session.
    func stepPass() throws {
        switch pass {
        case nil: return
        case .matching(let next, let lowest, let from): try stepMatching(next, lowest, from)
        case .gathering(var sorter, let source, let isFirst):
            // Out of the pass while it grows: it is large, and not to be copied.
            pass = nil
            let rest = try gather(source, &sorter)
            guard let rest else { return finishOrdering(&sorter) }
            pass = .gathering(sorter, rest, isFirst: isFirst)
        }
    }

    private func stepMatching(_ next: Int64, _ lowest: Int64, _ from: Int64) throws {
        let begin = DispatchTime.now().uptimeNanoseconds
        let found = try reader.step(&scan, in: lowest...next, order: .newestFirst) { self.pauses(since: begin) }
        list.value.withLock { list in
            if list.generation == generation { list.addOlder(found.matches) }
        }
        note(found)
        try structures.add(found.matches, reader)
        if let next = found.next, next >= lowest {
            pass = .matching(next: next, lowest: lowest, from: from)
            return
        }
        pass = nil
        isWhole = true
        if list.value.withLock(\.isSorted) { beginOrdering(isFirst: true) } else { tellStatus(force: true) }
    }

    /// Numbers without a row count only near the end: far from it they will not come any more.
    func note(_ found: ScanStep) {
        pending.note(inFlight: found.inFlight, missing: found.missing.lazy.filter { $0 > self.highest - 5_000 })
    }

    // MARK: - What is new

    /// Looks at the exchanges that came since.
    func catchUp() throws {
        let (bounds, isFiltered) = list.value.withLock { ($0.bounds, $0.isFiltered) }
        guard let upper = bounds?.upperBound, upper > highest else { return }
        let lower = max(highest + 1, bounds?.lowerBound ?? 1)
        guard isFiltered || !structures.isEmpty else {
            highest = upper
            return
        }
        let begin = DispatchTime.now().uptimeNanoseconds
        let found = try reader.step(&scan, in: lower...upper, order: .oldestFirst) {
            DispatchTime.now().uptimeNanoseconds - begin > 15_000_000
        }
        highest = found.next.map { $0 - 1 } ?? upper
        list.value.withLock { list in
            if list.generation == generation { list.addNewer(found.matches) }
        }
        note(found)
        isOrderStale = isOrderStale || !found.matches.isEmpty
        try structures.add(found.matches, reader)
        if pass == nil { tellStatus() }
    }

    /// Looks again at exchanges that were in flight, or had no row, when they were looked at.
    func lookAgain() throws {
        let (isFiltered, isCurrent) = list.value.withLock { ($0.isFiltered, $0.generation == generation) }
        guard isCurrent, isFiltered || !structures.isEmpty else { return }
        let (numbers, tries) = pending.take(512)
        guard !numbers.isEmpty else { return }
        let found = try reader.step(&scan, of: numbers[...])
        pending.note(inFlight: found.inFlight, missing: [])
        pending.putBack(missing: found.missing, tries: tries)
        let matches = Set(found.matches)
        let missing = Set(found.missing)
        var changed: [Int64] = []
        var added: [Int64] = []
        list.value.withLock { list in
            guard list.generation == generation else { return }
            for number in numbers where !missing.contains(number) {
                let wasIn = isFiltered ? list.contains(number) : tries[number] == .max
                if matches.contains(number) {
                    if wasIn { changed.append(number) } else { added.append(number) }
                    if !wasIn { list.insert(number) }
                } else if wasIn {
                    list.remove(number)
                    structures.remove(number)
                    isOrderStale = true
                }
            }
        }
        isOrderStale = isOrderStale || !added.isEmpty
        try structures.recount(changed, reader)
        try structures.add(added, reader)
    }

    // MARK: - Order

    /// Begins to put the list in order, where it has another one than that of numbers.
    func beginOrdering(isFirst: Bool) {
        isWhole = true
        let (isSorted, matches, bounds) = list.value.withLock { ($0.isSorted, $0.matches, $0.bounds) }
        guard isSorted, let key = query.sort?.column.key else { return }
        isOrderStale = false
        if let matches {
            pass = .gathering(ExchangeSorter(by: key), .matches(matches, done: 0), isFirst: isFirst)
        } else if let bounds {
            pass = .gathering(ExchangeSorter(by: key), .numbers(bounds, next: bounds.lowerBound), isFirst: isFirst)
        }
    }

    /// Puts a small list in order again, at most once a second; a large one stays as it is until it is asked for again.
    func orderAgain() {
        let (isSorted, count) = list.value.withLock { ($0.isSorted, $0.matchCount) }
        guard isSorted, isOrderStale, pass == nil, isWhole, count <= 50_000 else { return }
        guard DispatchTime.now().uptimeNanoseconds - lastSort > 1_000_000_000 else { return }
        beginOrdering(isFirst: false)
    }

    /// Gathers some more of what to order by; returns what is left, `nil` for nothing.
    private func gather(_ source: GatherSource, _ sorter: inout ExchangeSorter) throws -> GatherSource? {
        let begin = DispatchTime.now().uptimeNanoseconds
        switch source {
        case .numbers(let range, let next):
            let rest = try reader.gather(in: next...range.upperBound, into: &sorter) { self.pauses(since: begin) }
            return rest.map { .numbers(range, next: $0) }
        case .matches(let numbers, var done):
            let end = min(numbers.count, done + 20_000)
            let part = (done..<end).map { numbers[$0] }
            done += try reader.gather(of: part[...], into: &sorter) { self.pauses(since: begin) }
            return done < numbers.count ? .matches(numbers, done: done) : nil
        }
    }

    private func finishOrdering(_ sorter: inout ExchangeSorter) {
        let numbers = sorter.sorted(isDescending: query.sort?.isDescending ?? false)
        list.value.withLock { list in
            if list.generation == generation { list.sort(numbers) }
        }
        lastSort = DispatchTime.now().uptimeNanoseconds
        tellStatus(force: true)
    }
}

extension SortColumn {
    /// What the column is ordered by; `nil` for the number itself.
    var key: ExchangeSorter.Key? {
        switch self {
        case .id: nil
        case .start: .numbers([.startedAt])
        case .method: .text(.method)
        case .host: .text(.host)
        case .path: .text(.path)
        case .status: .numbers([.status])
        case .type: .text(.mediaType)
        case .size: .numbers([.responseBody])
        case .time: .numbers([.total])
        }
    }
}

import HTTPModel
import Recording

extension ConsoleModel {
    /// Applies an answer, unless it belongs to an earlier query.
    mutating func take(_ event: QueryEvent) -> [Effect] {
        let generation = list.generation
        if case .found = event { end(.find) }
        switch event {
        case .list(let status): return take(status)
        case .rows(generation, let first, let records):
            take(records, from: first)
            if list.selectedID == nil || list.isFollowing, let row = list.selectedRecord {
                (list.selectedID, list.isLocated) = (row.id, true)
            }
            return openFound() + followDetail() + readValues()
        case .values(generation, let values):
            if list.values.count > 5_000 { list.values = [:] }
            list.values.merge(values) { old, new in old.merging(new) { $1 } }
        case .operations(generation, let titles):
            if list.operations.count > 20_000 { list.operations = [:] }
            list.operations.merge(titles) { $1 }
        case .position(generation, let id, let place): return take(place, of: id)
        case .found(generation, nil):
            tell("No other exchange of this kind (\(jump.rawValue)) in that direction.")
        case .found(generation, let index?):
            list.isFollowing = false
            let opens = list.opensWhenFound
            let effects = select(index)
            list.opensWhenFound = opens
            return effects + openFound()
        case .structure(let level) where level.generation == generation:
            structure.take(level)
            revealBranch()
            return loadExchanges(in: level)
        case .exchanges(let node, generation, let records):
            structure.take(records, at: node)
            revealBranch()
        case .numbers(generation, let numbers, let hasMore):
            return mark(numbers.map { ExchangeID($0) }, hasMore: hasMore)
        case .hidden(generation, let count): list.hiddenMarks = count
        case .statistics(let answer): return take(answer)
        case .untrusting(let records): for record in records { tellOfTrust(record) }
        case .summary(let summary): proxy.errors = summary.errors
        case .stale(generation): return askAgain()
        case .failed(let words): return refuse(words)
        default: break
        }
        return []
    }

    private mutating func take(_ place: ListPlace, of id: ExchangeID) -> [Effect] {
        let isSought = list.sought == id || list.awaited?.id == id
        guard isSought || list.selectedID == id else { return [] }
        let index: Int
        if case .unknown = place {} else { list.isLocated = true }
        switch place {
        // The exchange is located again once the list is filled.
        case .unknown: return []
        case .row(let row):
            index = row
            if isSought { (list.selectedID, list.isFollowing) = (id, false) }
        case .nowhere(let nearest):
            if list.awaited?.id == id { return [] }
            if isSought {
                list.sought = nil
                return refuse("Exchange \(id) is not in the list.")
            }
            // An exchange that the user reads stays open although the list lacks it; otherwise the nearest is selected.
            let isRead = detail.isOpen && detail.id == id && (isDetailFocused || isLinear)
            if nearest == nil, !list.isFollowing { list.lastSelected = list.selectedID ?? list.lastSelected }
            if !isRead { list.selectedID = nil }
            guard let nearest else { return [] }
            index = nearest
        }
        (list.sought, list.awaited) = (nil, nil)
        list.selected = min(max(0, index), max(0, list.total - 1))
        if list.selectedID == nil { list.selectedID = list.rows[list.selected]?.id }
        list.isFollowing = list.isFollowing && index == 0
        reveal()
        return loadRows() + openFound() + followDetail()
    }

    private func locateAgain() -> [Effect] {
        let kept = list.isFollowing ? nil : list.selectedID
        return [list.sought ?? kept].compactMap { $0.map { .locate($0, generation: list.generation) } }
    }

    /// Opens the result of a search as soon as its row is known, if the user pressed the key to open it meanwhile.
    private mutating func openFound() -> [Effect] {
        guard list.opensWhenFound, let record = list.selectedRecord, list.isLocated || record.id == list.selectedID,
            !jobs.contains(where: { $0.id == .find })
        else { return [] }
        let page = list.pageWhenFound
        list.opensWhenFound = false
        return openSelected() + (page.map { turn(to: $0) } ?? [])
    }

    private mutating func take(_ status: ListStatus) -> [Effect] {
        guard status.generation == list.generation else { return [] }
        // A search of the session runs backwards: it finds older rows, which do not move the visible rows.
        let isQuiet = list.progress == nil && status.progress == nil
        let isSorted = list.query.sort.map { $0.column != .id } ?? false
        // A sorted list keeps its first rows in place on the screen, not its last rows.
        let grown = isQuiet && (isSorted || list.query.sort == nil) ? status.total - list.total : 0
        let isFilled = list.progress != nil && status.progress == nil
        list.total = status.total
        if isFilled, status.total == 0 { list.opensWhenFound = false }
        // Exchanges from before the start do not count as traffic.
        if list.sessionTotal == 0 { proxy.counted = status.sessionTotal }
        if !hasImported, list.sessionTotal > 0, status.sessionTotal > list.sessionTotal { isGrowing = true }
        list.sessionTotal = status.sessionTotal
        list.progress = status.progress
        list.excludedBy = status.excludedBy.map {
            FilterWords.asTyped($0, in: filter.isEditing ? filter.line.text : filter.applied)
        }
        if let error = status.error { tell(error, .error) }
        // The number in the message grows with the traffic, so the message is not repeated for each new number.
        if let remark = status.unfinished, status.progress == nil, isFilled || list.unfinished == nil {
            tell("\(remark.capitalizedFirst).", .error)
        }
        if status.progress == nil { list.unfinished = status.unfinished }
        take(progress: status.progress)
        // Rows count from the newest, so the index of each known row grows by the number of new rows.
        if grown > 0, !isSorted {
            list.rows = Dictionary(uniqueKeysWithValues: list.rows.map { ($0.key + grown, $0.value) })
        }
        if list.isFollowing {
            (list.selected, list.bottom) = (0, 0)
        } else if grown > 0 {
            (list.selected, list.bottom) = (list.selected + grown, list.bottom + grown)
        }
        list.selected = min(list.selected, max(0, list.total - 1))
        // If there is room, the newest rows are visible too, even if an older row is selected.
        list.bottom = min(max(0, list.bottom), max(0, list.total - max(1, Layout(self).listRows)))
        let structure = view == .structure && status.progress == nil ? loadStructure() : []
        if isFilled, list.beginsAtTop {
            list.beginsAtTop = false
            return select(list.total - 1, keepsFollowing: true) + structure
        }
        let counts = isFilled && view == .timeline ? loadStatistics() : []
        // The selected exchange may have a different row now.
        let places =
            isFilled ? locateAgain() + countHidden() : (isSorted && isQuiet ? locateAgain() : []) + locateSent()
        return loadRows(always: true) + structure + counts + places
    }

    /// Selects an exchange that was sent from here, unless the list follows or the user has selected a different one.
    mutating func take(sent id: ExchangeID, of original: ExchangeID?) -> [Effect] {
        let isLeft = original != nil && list.selectedID != original
        guard !isLinear, view == .sequence, !list.isFollowing, !isLeft else { return [] }
        list.awaited = (id, now + 3_000_000)
        return locateSent()
    }

    /// Selects the exchange that was sent from here once the list contains it, within three seconds.
    private mutating func locateSent() -> [Effect] {
        guard let awaited = list.awaited else { return [] }
        guard now < awaited.until else {
            list.awaited = nil
            return []
        }
        return [.locate(awaited.id, generation: list.generation)]
    }

    private mutating func take(progress: Double?) {
        guard let progress else { return end(.pass) }
        let startedAt = jobs.first { $0.id == .pass }?.startedAt ?? now
        start(Job(id: .pass, title: "searching the session", progress: progress, startedAt: startedAt))
    }

    private mutating func take(_ records: [ExchangeRecord?], from first: Int) {
        if list.rows.count > 2_000 { list.rows.removeAll(keepingCapacity: true) }
        for (offset, record) in records.enumerated() { list.rows[first + offset] = record }
        for case let record? in records { seen.add(record) }
    }

    mutating func ask(_ change: (inout ListQuery) -> Void) -> [Effect] {
        var query = list.query
        change(&query)
        return query == list.query ? [] : ask(query)
    }

    mutating func start(_ job: Job) {
        end(job.id)
        jobs.append(job)
    }

    mutating func end(_ kind: Job.Kind) { jobs.removeAll { $0.id == kind } }

    mutating func ask(_ query: ListQuery) -> [Effect] {
        generation += 1
        let kept = list.isFollowing ? nil : list.selectedID ?? list.lastSelected
        (list.selectedID, list.lastSelected) = (kept ?? list.selectedID, nil)
        let isSame = query == list.query
        list.isLocated = list.isLocated && isSame
        (list.query, list.generation) = (query, generation)
        (list.total, list.bottom, list.selected, list.progress) = (0, 0, 0, 0)
        (list.rows, list.sought, list.excludedBy, list.unfinished) = ([:], nil, nil, nil)
        (list.beginsAtTop, list.opensWhenFound, list.hiddenMarks) = (false, false, 0)
        list.isFollowing = list.isFollowing || kept == nil
        if isSame { structure.expire() } else { structure.clear() }
        var effects: [Effect] = [.setQuery(query, generation: generation)]
        if let kept, !list.isFollowing { effects.append(.locate(kept, generation: generation)) }
        if view == .structure { effects += loadStructure() }
        (timeline.moment, timeline.host, timeline.top) = (nil, 0, 0)
        if view == .timeline { effects += loadStatistics() }
        return effects
    }
}

import Content
import Dispatch
package import HTTPModel
package import Recording
import Synchronization
import Text

/// Answers the console's requests about a session with events: lists, rows, jumps, the structure.
///
/// Calls return at once. Three queues do the work and deliver the events, each with its own connection to the file: one
/// reads rows for the screen, one fills the list and keeps it up to date, one counts and searches. So the screen never
/// waits for a pass over the whole session, and a newer query ends the statement of an older one.
package final class QueryService: Sendable {
    private struct Running {
        var pass = Cancellation()
        var counting = Cancellation()
        var search: (generation: Int, cancellation: Cancellation)?
        var places: Set<StructureNode> = []
        /// The newest request for statistics that was not started yet, with the generation of its list.
        var statistics: (scope: StatisticsScope?, generation: Int)?
        /// The last reported failure, so that a damaged row is not reported with every page.
        var lastFailure = ""

        func cancel() {
            pass.cancel()
            counting.cancel()
            search?.cancellation.cancel()
        }
    }

    /// State that only one queue changes.
    private final class Owned<Value>: Sendable {
        let value: Mutex<Value>

        init(_ value: sending Value) { self.value = Mutex(value) }
    }

    /// A connection for detail views and exports.
    package let reader: SessionReader

    private let list: SharedList
    private let deliver: @Sendable (QueryEvent) -> Void
    private let running = Owned(Running())
    private let pages = DispatchQueue(label: "sluice.query.pages", qos: .userInteractive)
    private let pageReader: SessionReader
    private let operations = Owned(RequestedOperations())
    private let passes = DispatchQueue(label: "sluice.query.passes", qos: .userInitiated)
    private let filler: Owned<ListFiller>
    private let questions = DispatchQueue(label: "sluice.query.questions", qos: .userInitiated)
    private let questionReader: SessionReader
    private let counter: Owned<StructureCounter>
    private let statistics: Owned<StatisticsCounter>

    /// Opens a session. The first list has all exchanges and generation 0. `deliver` is called on the service's queues
    /// and must not block. Throws `SessionError`.
    package init(path: String, deliver: @escaping @Sendable (QueryEvent) -> Void) throws {
        self.deliver = deliver
        reader = try SessionReader(path: path)
        pageReader = try SessionReader(path: path)
        questionReader = try SessionReader(path: path)
        let list = SharedList(bounds: try pageReader.bounds())
        self.list = list
        filler = Owned(ListFiller(reader: try SessionReader(path: path), list: list, deliver: deliver))
        counter = Owned(StructureCounter(reader: questionReader, list: list, deliver: deliver))
        statistics = Owned(StatisticsCounter(reader: questionReader, list: list, deliver: deliver))
        passes.async { [filler] in filler.value.withLock { $0.open() } }
    }

    deinit { running.value.withLock { $0.cancel() } }

    /// Starts a new list, and ends the work for the previous list. `.list` events report the progress, at most ten a
    /// second; matches are found newest first. Requests with a different generation are not answered.
    package func setQuery(_ query: ListQuery, generation: Int) {
        let pass = running.value.withLock { running in
            running.cancel()
            running = Running()
            return running.pass
        }
        list.value.withLock { $0.begin(query, generation: generation) }
        passes.async { [filler] in
            filler.value.withLock { $0.begin(query, generation: generation, pass) }
        }
    }

    /// Loads rows by their distance from the list's end, where 0 is the last row; answered by `.rows`.
    package func load(last rows: Range<Int>, generation: Int) {
        pages.async { [running, list, pageReader, operations, deliver] in
            let numbers = list.value.withLock { $0.generation == generation ? $0.numbers(last: rows) : nil }
            guard let numbers else { return }
            let records: [ExchangeRecord?]
            do {
                records = try pageReader.records(numbers)
            } catch {
                let words = queryWords(error)
                let isNew = running.value.withLock { running in
                    defer { running.lastFailure = words }
                    return running.lastFailure != words
                }
                if isNew { deliver(.failed(words)) }
                // One damaged row must not hide the others.
                records = numbers.map { try? pageReader.record(ExchangeID($0)) }
            }
            deliver(.rows(generation: generation, first: rows.lowerBound, records))
            let titles = operations.value.withLock { $0.titles(of: records.compactMap(\.self), pageReader) }
            if !titles.isEmpty { deliver(.operations(generation: generation, titles)) }
        }
    }

    /// Loads values of exchanges, each on one line of at most ``longestValue`` characters; answered by `.values`.
    package func readValues(of ids: [ExchangeID], at places: [Place], generation: Int) {
        pages.async { [pageReader, deliver] in
            var values: [ExchangeID: [Place: String]] = [:]
            for id in ids {
                guard let exchange = try? pageReader.exchange(id) else { continue }
                let reader = ExchangePlaces(exchange, source: pageReader)
                // Values in the body of an open exchange are skipped, because each look would read the body again.
                let isOpen = exchange.record.state == .inFlight
                for place in places where !isOpen || place.needs != .bodies {
                    let found = (try? reader.values(at: place)) ?? []
                    let text = found.prefix(10).map(\.text).joined(separator: ", ")
                    values[id, default: [:]][place] = VisibleText.of(text.shortened(to: Self.longestValue))
                }
            }
            deliver(.values(generation: generation, values))
        }
    }

    private static let longestValue = 100

    /// Looks up an exchange's position in the list; answered by `.position`.
    package func locate(_ id: ExchangeID, generation: Int) {
        pages.async { [list, deliver] in
            let place = list.value.withLock { $0.generation == generation ? $0.position(of: id.number) : nil }
            if let place { deliver(.position(generation: generation, id: id, place)) }
        }
    }

    /// Finds the next row of a kind after `row`, which counts from the list's end; `forward` means towards the end.
    /// Answered by `.found`. The next search, query or ``cancel()`` ends the search.
    package func find(_ kind: JumpKind, from row: Int, forward: Bool, generation: Int) {
        let cancellation = running.value.withLock { running in
            running.search?.cancellation.cancel()
            let cancellation = Cancellation()
            running.search = (generation, cancellation)
            return cancellation
        }
        questions.async { [running, list, questionReader, deliver] in
            var index: Int?
            do {
                guard list.value.withLock({ $0.generation == generation }) else { return }
                index = try list.nextRow(of: kind, from: row, forward: forward, questionReader, cancellation)
            } catch is CancellationError {
                return
            } catch {
                deliver(.failed(queryWords(error)))
            }
            let isWanted = running.value.withLock { running in
                guard running.search?.cancellation === cancellation else { return false }
                running.search = nil
                return true
            }
            if isWanted { deliver(.found(generation: generation, index: index)) }
        }
    }

    /// Counts the children of a node over the exchanges of the list; answered by several `.structure` events. A
    /// repeated request is cheap, because it counts only new exchanges.
    package func loadStructure(_ node: StructureNode, generation: Int) {
        let cancellation = running.value.withLock { running in
            running.places.insert(node).inserted ? running.counting : nil
        }
        guard let cancellation else { return }
        questions.async { [running, counter] in
            running.value.withLock { _ = $0.places.remove(node) }
            counter.value.withLock { $0.load(node, generation: generation, cancellation) }
        }
    }

    /// Counts the exchanges of the list, and of `scope`, by host and over time; answered by several `.statistics`
    /// events. Of several waiting requests, only the newest is answered. A repeated request is cheap.
    package func loadStatistics(_ scope: StatisticsScope?, generation: Int) {
        let isNew = running.value.withLock { running in
            defer { running.statistics = (scope, generation) }
            return running.statistics == nil
        }
        guard isNew else { return }
        questions.async { [running, statistics] in
            let (question, cancellation) = running.value.withLock { running in
                defer { running.statistics = nil }
                return (running.statistics, running.counting)
            }
            guard let question else { return }
            statistics.value.withLock { $0.load(question.scope, generation: question.generation, cancellation) }
        }
    }

    static let mostExchanges = 50

    /// Loads the newest exchanges at a node of the structure, not below it; answered by `.exchanges`.
    package func loadExchanges(at node: StructureNode, generation: Int) {
        ask(generation) { list, reader, cancellation in
            guard let url = node.url else { return nil }
            let filter = list.filter.and(.place(url, withBelow: false))
            var found: [ExchangeRecord] = []
            func take(_ rows: ExchangeRows) throws {
                found += try reader.records(of: rows, matching: filter) { _ in !cancellation.isCancelled }.reversed()
            }
            if list.isRestricted || filter.needs != .record {
                try take(.numbers(list.matches))
            } else if let bounds = list.bounds {
                try reader.forEachBlock(of: bounds, order: .newestFirst, for: filter) { block in
                    try take(.range(block))
                    return found.count < Self.mostExchanges && !cancellation.isCancelled
                }
            }
            try cancellation.check()
            return .exchanges(at: node, generation: generation, Array(found.prefix(Self.mostExchanges)))
        }
    }

    /// Loads the numbers of the list's exchanges, or of those at and below a node; answered by `.numbers`.
    package func loadNumbers(below node: StructureNode?, most: Int, generation: Int) {
        ask(generation) { list, reader, cancellation in
            let place = node?.url.map { Filter.place($0, withBelow: true) } ?? .everything
            let rows: ExchangeRows = list.isFiltered ? .numbers(list.matches) : .all
            let numbers = try reader.numbers(of: rows, matching: place, isDescending: true, limit: most + 1) { _ in
                !cancellation.isCancelled
            }
            return .numbers(generation: generation, numbers.prefix(most).reversed(), hasMore: numbers.count > most)
        }
    }

    /// Counts the given exchanges that are not in the list; answered by `.hidden`.
    package func countHidden(_ ids: [ExchangeID], generation: Int) {
        ask(generation) { list, _, _ in
            guard list.isFiltered else { return .hidden(generation: generation, 0) }
            let shown = Set(list.matches)
            return .hidden(generation: generation, ids.count { !shown.contains($0.number) })
        }
    }

    /// Answers a request about the current list; a new list ends the request.
    private func ask(
        _ generation: Int,
        _ body: @escaping @Sendable (ResultList, SessionReader, Cancellation) throws -> QueryEvent?
    ) {
        let cancellation = running.value.withLock { $0.counting }
        questions.async { [list, questionReader, deliver] in
            // Copies the reference to the numbers, not the numbers.
            let present = list.value.withLock { $0 }
            guard present.generation == generation, !cancellation.isCancelled else { return }
            do {
                if let answer = try body(present, questionReader, cancellation) { deliver(answer) }
            } catch {
                if !(error is CancellationError) { deliver(.failed(queryWords(error))) }
            }
        }
    }

    /// Checks whether the session has changed; a `.list` event follows if the list has.
    package func refresh() {
        guard !list.wantsRefresh.exchange(true, ordering: .relaxed) else { return }
        passes.async { [passes, filler] in
            filler.value.withLock { $0.look() }
            Self.lookAgain(filler, on: passes)
        }
    }

    /// Looks again after the delay that the list requests, until the list requests none.
    private static func lookAgain(_ filler: Owned<ListFiller>, on passes: DispatchQueue) {
        guard let delay = filler.value.withLock({ $0.nextLook() }) else { return }
        passes.asyncAfter(deadline: .now() + delay) { [weak filler] in
            guard let filler else { return }
            filler.value.withLock { $0.lookAgain() }
            lookAgain(filler, on: passes)
        }
    }

    /// Ends passes and searches; the list keeps the matches found so far.
    package func cancel() {
        let search = running.value.withLock { running in
            defer { running = Running() }
            running.cancel()
            return running.search
        }
        if let search { deliver(.found(generation: search.generation, index: nil)) }
    }
}

extension SharedList {
    fileprivate func nextRow(
        of kind: JumpKind,
        from row: Int,
        forward: Bool,
        _ reader: SessionReader,
        _ cancellation: Cancellation
    ) throws -> Int? {
        // Copies the reference to the numbers, not the numbers.
        let list = value.withLock { $0 }
        guard (0..<list.count).contains(row), let bounds = list.bounds else { return nil }
        if case .marked(let numbers) = kind { return list.nextPlace(of: numbers.sorted(), from: row, forward: forward) }
        guard case .matching(let filter) = kind else { return nil }
        let watch: StatementWatch = { _ in !cancellation.isCancelled }
        if list.isSorted {
            return list.nextPlace(of: try reader.numbers(matching: filter, watch: watch), from: row, forward: forward)
        }
        let from = list.number(last: row)
        let isUpward = forward != list.isReversed
        guard isUpward ? from < bounds.upperBound : from > bounds.lowerBound else { return nil }
        let range = isUpward ? from + 1...bounds.upperBound : bounds.lowerBound...from - 1
        var found: Int?
        try reader.forEachBlock(of: range, order: isUpward ? .oldestFirst : .newestFirst, for: filter) { block in
            let numbers = try reader.numbers(of: .range(block), matching: filter, isDescending: !isUpward, watch: watch)
            found = numbers.lazy.compactMap { if case .row(let row) = list.position(of: $0) { row } else { nil } }.first
            return found == nil
        }
        return found
    }
}

package enum QueryEvent: Sendable {
    case list(ListStatus)
    /// Rows of the list from row `first` on, by distance from the list's end; `nil` for a number without a record.
    case rows(generation: Int, first: Int, [ExchangeRecord?])
    /// The GraphQL operations in the requests of these rows, in a few words.
    case operations(generation: Int, [ExchangeID: String])
    case values(generation: Int, [ExchangeID: [Place: String]])
    case position(generation: Int, id: ExchangeID, ListPlace)
    /// The next matching row, by distance from the list's end; `nil` if no row matches in this direction.
    case found(generation: Int, index: Int?)
    case structure(StructureLevel)
    case statistics(StatisticsAnswer)
    /// The newest exchanges at a node itself, the newest first.
    case exchanges(at: StructureNode, generation: Int, [ExchangeRecord])
    /// The numbers to mark, of the whole list or of its exchanges at and below a node; and whether there are more.
    case numbers(generation: Int, [Int64], hasMore: Bool)
    /// How many of the given exchanges are not in the list.
    case hidden(generation: Int, Int)
    case untrusting([ExchangeRecord])
    case summary(SessionSummary)
    /// The list no longer matches the session, because exchanges are gone: the query has to be set again.
    case stale(generation: Int)
    case failed(String)
}

/// The position of an exchange in a list, as a distance from the list's end.
package enum ListPlace: Hashable, Sendable {
    case row(Int)
    /// Not in the list; with the nearest row, if the list is sorted by number.
    case nowhere(nearest: Int?)
    /// Not found yet, because the list is still being filled.
    case unknown
}

package struct ListStatus: Hashable, Sendable {
    package var generation: Int
    package var total: Int
    package var sessionTotal: Int
    /// The progress of the pass, from 0 to 1; `nil` once the pass is done.
    package var progress: Double?
    /// If the list is empty after a complete pass, the filter term that alone excludes everything.
    package var excludedBy: String?
    package var error: String?
    package var unfinished: String?
    /// How often the list was sorted: sorting moves rows, even if their number stays the same.
    package var sorts = 0
}

package enum JumpKind: Hashable, Sendable {
    case marked(Set<Int64>)
    case matching(Filter)
}

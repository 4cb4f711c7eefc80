import Dispatch
import HTTPModel
import Recording
import Session
import Synchronization

/// What a service answers, to be waited for.
final class EventQueue: Sendable {
    private let events = Mutex<[QueryEvent]>([])
    private let arrived = DispatchSemaphore(value: 0)
    private let total = Atomic(0)

    /// The rows of the list, as told last.
    var lastTotal: Int { total.load(ordering: .relaxed) }

    func put(_ event: QueryEvent) {
        if case .list(let status) = event { total.store(status.total, ordering: .relaxed) }
        events.withLock { $0.append(event) }
        arrived.signal()
    }

    /// Waits for an event, and drops those before it.
    func wait(_ isIt: (QueryEvent) -> Bool) {
        while true {
            arrived.wait()
            let event = events.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let event, isIt(event) { return }
        }
    }
}

/// The measurements.
struct QueryBench {
    let service: QueryService
    let events: EventQueue
    var generation = 1

    init(service: QueryService, events: EventQueue) {
        self.service = service
        self.events = events
    }

    mutating func pages() {
        var times: [Double] = []
        for turn in 0..<200 {
            let begin = now()
            service.load(last: turn * 4_000..<turn * 4_000 + 60, generation: 0)
            events.wait { if case .rows = $0 { true } else { false } }
            times.append(now() - begin)
        }
        times.sort()
        row("a page anywhere, median", times[100])
        row("a page anywhere, p95", times[190])
    }

    private mutating func ask(_ query: ListQuery) -> Double {
        generation += 1
        let begin = now()
        service.setQuery(query, generation: generation)
        return begin
    }

    mutating func filter(_ text: String) throws {
        var query = ListQuery()
        query.filter = try Filter(text)
        run(query, "filter \"\(text)\"")
    }

    mutating func bodies(_ text: String) {
        var query = ListQuery()
        query.bodyText = text
        run(query, "bodies with \"\(text)\"")
    }

    mutating func sort(_ column: Column, filter: String = "") throws {
        var query = ListQuery()
        query.filter = try Filter(filter)
        query.sort = SortOrder(column: column, isDescending: true)
        run(query, "order by \(column.rawValue) of \"\(filter)\"")
    }

    mutating func sort(_ column: Column) {
        var query = ListQuery()
        query.sort = SortOrder(column: column, isDescending: true)
        run(query, "order by \(column.rawValue)")
    }

    private mutating func run(_ query: ListQuery, _ name: String) {
        let begin = ask(query)
        let generation = generation
        var first: Double?
        var told = 0
        var total = 0
        var excluded = ""
        events.wait { event in
            guard case .list(let status) = event, status.generation == generation else { return false }
            told += 1
            if first == nil, status.total >= 50 { first = now() - begin }
            total = status.total
            excluded = status.excludedBy.map { ", excluded by \($0)" } ?? ""
            return status.progress == nil
        }
        let page = first.map { "first 50 after \(Double(Int($0 * 10_000)) / 10) ms" } ?? "fewer than 50"
        row(name, now() - begin, "(\(total) rows, \(page), told \(told) times\(excluded))")
    }

    mutating func structure(_ text: String) throws {
        try filter(text)
        let generation = generation
        for node in [
            StructureNode(), StructureNode(site: "https://api.example.com"),
            StructureNode(site: "https://api.example.com", segments: ["v1", "users"]),
        ] {
            let begin = now()
            service.loadStructure(node, generation: generation)
            var children = 0
            events.wait { event in
                guard case .structure(let level) = event, level.node == node else { return false }
                children = level.children.count
                return level.progress == nil
            }
            let place = ([node.site ?? "root"] + node.segments).joined(separator: "/")
            row("structure of \"\(text)\" at \(place)", now() - begin, "(\(children) children)")
        }
    }

    mutating func find(_ kind: JumpKind, filter: String) throws {
        try self.filter(filter)
        let begin = now()
        service.find(kind, from: 0, forward: false, generation: generation)
        events.wait { if case .found = $0 { true } else { false } }
        row("looking for a row that is not there, in \"\(filter)\"", now() - begin)
    }
}

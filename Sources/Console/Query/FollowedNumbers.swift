import Content
import Description
import Dispatch
import HTTPModel
import Recording
import Synchronization

/// The exchanges of a growing session that are read again: those in flight, and numbers without a row. Both are
/// limited: the oldest exchanges in flight are dropped, and each number is tried a limited number of times.
struct FollowedNumbers {
    private static let most = 20_000
    /// How far below the newest number a row may still appear.
    private static let lateness: Int64 = 5_000
    private static let patience = 100
    private static let atOnce = 2_048

    private(set) var bounds: ClosedRange<Int64>?
    /// The exchanges in flight, the least recently read first.
    private(set) var inFlight: [Int64] = []
    /// Numbers without a row, with the remaining number of tries.
    private var missing: [Int64: Int] = [:]

    var unsettled: [Int64] { inFlight + missing.keys }

    mutating func begin(_ reader: SessionReader) throws {
        bounds = try reader.bounds()
        guard let bounds else { return }
        let latest = max(bounds.lowerBound, bounds.upperBound - Self.lateness)...bounds.upperBound
        var open = Set(try reader.numbersInFlight().filter(bounds.contains))
        // A row that is added between the two queries is in the result of one of them.
        let states = try reader.states(of: .range(latest))
        open.formUnion(states.filter(\.isInFlight).map(\.number))
        inFlight = open.sorted().suffix(Self.most)
        note(latest, without: states.map(\.number))
    }

    /// Reads what has changed; returns the exchanges that have ended, and those in flight that may have changed.
    mutating func advance(_ reader: SessionReader) throws -> (settled: [Int64], inFlight: [Int64]) {
        let watched = Array(inFlight.prefix(Self.atOnce)) + missing.keys
        inFlight.removeFirst(min(inFlight.count, Self.atOnce))
        let first = (bounds?.upperBound ?? 0) + 1
        let now = try reader.bounds()
        var states = watched.isEmpty ? [] : try reader.states(of: .numbers(watched))
        let old = Set(states.map(\.number))
        missing = missing.filter { !old.contains($0.key) && $0.value > 1 }.mapValues { $0 - 1 }
        if let now, first <= now.upperBound {
            let new = max(first, now.lowerBound)...now.upperBound
            let newStates = try reader.states(of: .range(new))
            note(max(new.lowerBound, new.upperBound - Self.lateness)...new.upperBound, without: newStates.map(\.number))
            states += newStates
        }
        bounds = now ?? bounds
        let open = states.filter(\.isInFlight).map(\.number)
        inFlight = (inFlight + open).suffix(Self.most)
        return (states.filter { !$0.isInFlight }.map(\.number), open)
    }

    /// Adds the rows that ended since the last call; the first call adds all, in blocks. `tell` gets 0 to 1.
    mutating func addEnded(
        _ reader: SessionReader,
        for filter: Filter,
        _ cancellation: Cancellation,
        _ add: (ExchangeRows) throws -> Void,
        tell: (Double) -> Void
    ) throws {
        guard bounds == nil else {
            let settled = try advance(reader).settled
            if !settled.isEmpty { try add(.numbers(settled)) }
            return
        }
        try begin(reader)
        guard let bounds else { return }
        let others = unsettled
        try reader.forEachBlock(of: bounds, for: filter) { block in
            try add(.range(block, except: others))
            tell(Double(block.upperBound - bounds.lowerBound) / Double(bounds.count))
            return !cancellation.isCancelled
        }
        try cancellation.check()
    }

    private mutating func note(_ range: ClosedRange<Int64>, without known: [Int64]) {
        let known = Set(known)
        for number in range where !known.contains(number) { missing[number] = Self.patience }
    }
}

/// Finds the exchanges of a growing session whose clients do not trust the certificate, regardless of the list.
struct UntrustingClients {
    /// How far below the newest number a row may still appear.
    private static let lateness: Int64 = 256
    /// The maximum number of exchanges that one look reads; older exchanges are skipped.
    private static let most: Int64 = 20_000

    /// The lowest number that no look has read yet.
    private var next: Int64 = 0
    private var found: Set<Int64> = []

    mutating func begin(_ reader: SessionReader) throws { next = (try reader.bounds()?.upperBound ?? 0) + 1 }

    mutating func advance(_ reader: SessionReader) throws -> [ExchangeRecord] {
        guard let newest = try reader.bounds()?.upperBound else { return [] }
        let first = max(next - Self.lateness, newest - Self.most, 1)
        guard first <= newest else { return [] }
        next = newest + 1
        let records = try reader.records(of: .range(first...newest), matching: .untrusting)
            .filter { $0.isByUntrustingClient && !found.contains($0.id.number) }
        found.formUnion(records.map(\.id.number))
        found = found.filter { $0 > newest - Self.lateness }
        return records
    }
}

/// The GraphQL operations in requests of the list; each request is read once.
struct RequestedOperations {
    private static let most = 20_000

    /// `nil` for a request that is not GraphQL.
    private var known: [ExchangeID: String?] = [:]

    mutating func titles(of records: [ExchangeRecord], _ source: any ExchangeSource) -> [ExchangeID: String] {
        if known.count > Self.most { known = [:] }
        var titles: [ExchangeID: String] = [:]
        for record in records where record.kind == .http {
            let title = known[record.id] ?? GraphQLView.title(record, source: source)
            // The body of a request that is still open may be recorded later.
            if title != nil || record.state != .inFlight { known[record.id] = .some(title) }
            titles[record.id] = title
        }
        return titles
    }
}

/// Lets something happen at most ten times a second.
final class Pace: Sendable {
    private let last = Atomic<UInt64>(0)

    var isDue: Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        guard now - last.load(ordering: .relaxed) >= 100_000_000 else { return false }
        last.store(now, ordering: .relaxed)
        return true
    }
}

final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }
    func cancel() { flag.store(true, ordering: .relaxed) }

    func check() throws {
        if isCancelled { throw CancellationError() }
    }
}

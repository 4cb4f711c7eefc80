package import Description
import Dispatch
import Foundation
package import HTTPModel
package import Recording
import Synchronization
import Text

/// The differences of two sessions. Exchanges are paired within an endpoint (method, host and shape of the path): first
/// requests for the same URL in their order, then the remaining requests in their order. Memory grows by some 60 bytes
/// per exchange.
package struct SessionDifference: Sendable {
    package struct Endpoint: Sendable {
        package var key: SessionStatistics.Endpoint
        package var pairs = 0
        package var counts = DifferenceCounts()
        /// The number of exchanges that only one session has, and the numbers of the first of these exchanges.
        package var onlyOld = 0
        package var onlyNew = 0
        package var firstOld: [Int64] = []
        package var firstNew: [Int64] = []

        package var isSame: Bool { counts.different == 0 && onlyOld == 0 && onlyNew == 0 }
    }

    package private(set) var old = 0
    package private(set) var new = 0
    package private(set) var pairs = 0
    /// The pairs whose URLs are the same; the others were paired by their order alone.
    package private(set) var sameURL = 0
    package private(set) var outOfOrder = 0
    private var counts = DifferenceCounts()
    /// Endpoints with differences, in the order of their first exchanges.
    package private(set) var endpoints: [Endpoint] = []

    package var changed: Int { counts.different }
    package var leftOut: [ComparisonRules.Reason: Int] { counts.leftOut }

    package var onlyOld: Int { old - pairs }
    package var onlyNew: Int { new - pairs }
    package var isSame: Bool { changed == 0 && onlyOld == 0 && onlyNew == 0 }

    /// How likely it is that the paired exchanges belong together.
    package enum Confidence: String, Sendable { case high, medium, low }

    package var confidence: Confidence {
        let share = pairs == 0 ? 0 : Double(sameURL) / Double(pairs)
        return share >= 0.9 ? .high : share >= 0.5 ? .medium : .low
    }

    /// Of further endpoints only the counts are kept, not the places of differences.
    private static let detailedEndpoints = 1_000
    private static let maximumNumbers = 5
    private static let block = 128

    private typealias Entry = (id: Int64, url: Int)
    private typealias Pair = (old: Int64, new: Int64, endpoint: Int)

    package init(
        _ old: SessionReader,
        _ new: SessionReader,
        matching filter: Filter = .everything,
        _ settings: ComparisonSettings,
        work: LongWork? = nil
    ) throws {
        var numbers: [SessionStatistics.Endpoint: Int] = [:]
        var keys: [SessionStatistics.Endpoint] = []
        func lists(_ reader: SessionReader, _ count: inout Int) throws -> [[Entry]] {
            let bounds = try reader.bounds() ?? 1...1
            work?.begin("reading \((reader.path as NSString).lastPathComponent)", .things("exchange"))
            var lists = [[Entry]](repeating: [], count: keys.count)
            try reader.forEachRecord(matching: filter) { record in
                let key = SessionStatistics.Endpoint(record)
                let number = numbers[key] ?? keys.count
                if number == keys.count {
                    numbers[key] = number
                    keys.append(key)
                }
                while lists.count <= number { lists.append([]) }
                var hasher = Hasher()
                hasher.combine(record.url.path)
                hasher.combine(record.url.query)
                lists[number].append((record.id.number, hasher.finalize()))
                count += 1
                try work?.report(Int64(count), part: bounds.part(upTo: record.id.number))
            }
            return lists
        }
        let left = try lists(old, &self.old)
        let right = try lists(new, &self.new)
        var all: [Pair] = []
        all.reserveCapacity(min(self.old, self.new))
        var endpoints = keys.map { Endpoint(key: $0) }
        for number in endpoints.indices {
            let (before, after) = (left.indices.contains(number) ? left[number] : [], right[number])
            let (paired, sameURL) = SessionDifference.pair(before, after, number, &endpoints[number])
            all += paired
            self.sameURL += sameURL
            endpoints[number].pairs = paired.count
        }
        all.sort { $0.old < $1.old }
        pairs = all.count
        outOfOrder = all.count - SessionDifference.longestRise(all.map(\.new))
        work?.begin("comparing", .things("pair"))
        for (number, found) in try SessionDifference.compare(all, old, new, settings, work) {
            endpoints[number].counts = found
            counts.add(found)
        }
        counts.removePlaces()
        self.endpoints = endpoints.filter { !$0.isSame }
    }

    /// Pairs the exchanges of an endpoint; returns the pairs, and how many of them have the same URL.
    private static func pair(
        _ old: [Entry],
        _ new: [Entry],
        _ number: Int,
        _ endpoint: inout Endpoint
    ) -> ([Pair], sameURL: Int) {
        var waiting = Dictionary(grouping: new.reversed(), by: \.url)
        var pairs: [Pair] = []
        var left: [Int64] = []
        for entry in old {
            if let match = waiting[entry.url]?.popLast() {
                pairs.append((entry.id, match.id, number))
            } else {
                left.append(entry.id)
            }
        }
        let others = waiting.values.joined().map(\.id).sorted()
        let sameURL = pairs.count
        for (before, after) in zip(left, others) { pairs.append((before, after, number)) }
        let common = min(left.count, others.count)
        (endpoint.onlyOld, endpoint.onlyNew) = (left.count - common, others.count - common)
        endpoint.firstOld = Array(left.dropFirst(common).prefix(maximumNumbers))
        endpoint.firstNew = Array(others.dropFirst(common).prefix(maximumNumbers))
        return (pairs, sameURL)
    }

    /// The length of the longest strictly increasing subsequence.
    static func longestRise(_ numbers: [Int64]) -> Int {
        // For each length, the smallest last number of an increasing subsequence of that length.
        var ends: [Int64] = []
        for number in numbers {
            let place = ends.partitioningIndex { $0 < number }
            if place == ends.count { ends.append(number) } else { ends[place] = number }
        }
        return ends.count
    }

    private typealias Found = [Int: DifferenceCounts]

    /// Compares pairs on as many threads as there are processors, each with its own readers.
    private static func compare(
        _ pairs: [Pair],
        _ old: SessionReader,
        _ new: SessionReader,
        _ settings: ComparisonSettings,
        _ work: LongWork?
    ) throws -> Found {
        let next = Atomic(0)
        let stops = Atomic(false)
        @Sendable func compare(_ old: SessionReader, _ new: SessionReader) throws -> Found {
            var found: Found = [:]
            let sources = (ContentSource(old), ContentSource(new))
            func compare(_ index: Int) throws {
                let pair = pairs[index]
                guard let left = try sources.0.read(pair.old), let right = try sources.1.read(pair.new) else { return }
                let difference = try settings.difference(left, right)
                found[pair.endpoint, default: DifferenceCounts()].add(difference, [pair.old, pair.new], at: index)
                if pair.endpoint >= detailedEndpoints { found[pair.endpoint]?.removePlaces() }
                try work?.add(1, of: pairs.count)
            }
            while !stops.load(ordering: .relaxed) {
                let start = next.wrappingAdd(block, ordering: .relaxed).oldValue
                guard start < pairs.count else { break }
                let part = start..<min(start + block, pairs.count)
                try old.inOneState { try new.inOneState { try part.forEach(compare) } }
            }
            return found
        }
        // The temporary session of an archive has no name any more, so it cannot be opened again.
        guard pairs.count > 4 * block, old.isInPlace, new.isInPlace else { return try compare(old, new) }
        let all = Mutex(Result<Found, any Error>.success([:]))
        DispatchQueue.concurrentPerform(iterations: max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))) { _ in
            let part = Result { try compare(try SessionReader(path: old.path), try SessionReader(path: new.path)) }
            if case .failure = part { stops.store(true, ordering: .relaxed) }
            all.withLock { all in
                all = Result {
                    var sum = try all.get()
                    for (endpoint, counts) in try part.get() { sum[endpoint, default: DifferenceCounts()].add(counts) }
                    return sum
                }
            }
        }
        return try all.withLock { $0 }.get()
    }
}

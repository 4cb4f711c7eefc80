import Dispatch
import Foundation
package import HTTPModel
package import Recording
package import Sharing
import Synchronization

/// What is another in one session than in another: their exchanges are paired by method, host and shape of the path, in
/// order, and each pair is compared.
///
/// Within an endpoint the first request for a URL is paired with the first for the same URL, the second with the second;
/// what is left over is paired in its order. Memory grows by some 60 bytes for an exchange; of differences so many are kept
/// that a person could read them.
package struct SessionDifference: Sendable {
    package struct Place: Sendable, Hashable {
        /// For example `status`, `response $.items[].name`.
        package var name: String
        package var count: Int
        /// The first pair that has it, and its values there.
        package var old: String?
        package var new: String?
        package var exchanges: [Int64]
        fileprivate var pair: Int
    }

    package struct Endpoint: Sendable {
        package var key: SessionStatistics.Endpoint
        package var pairs = 0
        package var changed = 0
        /// Exchanges that only one session has, and the numbers of the first.
        package var onlyOld = 0
        package var onlyNew = 0
        package var firstOld: [Int64] = []
        package var firstNew: [Int64] = []
        package var places: [Place] = []
        /// Whether there are places that were not kept.
        package var hasMore = false

        package var isSame: Bool { changed == 0 && onlyOld == 0 && onlyNew == 0 }
    }

    /// How many exchanges of a session were looked at.
    package private(set) var old = 0
    package private(set) var new = 0
    package private(set) var pairs = 0
    /// The pairs whose URLs are the same; the others were paired by their order alone.
    package private(set) var sameURL = 0
    /// Pairs that stand in another order.
    package private(set) var outOfOrder = 0
    package private(set) var changed = 0
    /// What was left out, in how many places.
    package private(set) var leftOut: [ComparisonRules.Reason: Int] = [:]
    /// Those where something differs, in the order in which they first come.
    package private(set) var endpoints: [Endpoint] = []

    package var onlyOld: Int { old - pairs }
    package var onlyNew: Int { new - pairs }
    package var isSame: Bool { changed == 0 && onlyOld == 0 && onlyNew == 0 }

    /// How sure it is that what was paired belongs together.
    package enum Confidence: String, Sendable { case high, medium, low }

    package var confidence: Confidence {
        let share = pairs == 0 ? 0 : Double(sameURL) / Double(pairs)
        return share >= 0.9 ? .high : share >= 0.5 ? .medium : .low
    }

    /// Of later endpoints only the numbers are kept.
    private static let mostDetailed = 1_000
    private static let mostPlaces = 60
    private static let mostNumbers = 5
    private static let block = 128

    // MARK: - Pairing

    private struct Entry {
        var id: Int64
        var url: Int
    }

    private struct Pair: Sendable {
        var old: Int64
        var new: Int64
        var endpoint: Int
    }

    /// Compares the exchanges of two sessions that a filter lets pass, as ``ExchangeDifference`` does it, as a part of some
    /// work. Throws `SessionError`, or `Interrupted`.
    package init(
        _ old: SessionReader,
        _ new: SessionReader,
        matching filter: Filter = .everything,
        rules: ComparisonRules,
        responses version: MessageVersion = .sent,
        work: LongWork? = nil
    ) throws {
        var numbers: [SessionStatistics.Endpoint: Int] = [:]
        var keys: [SessionStatistics.Endpoint] = []
        func lists(_ reader: SessionReader, _ count: inout Int) throws -> [[Entry]] {
            let bounds = try reader.bounds() ?? 1...1
            work?.begin("reading \((reader.path as NSString).lastPathComponent)", .things("exchange"))
            var lists = [[Entry]](repeating: [], count: keys.count)
            try reader.forEachRecord(matching: filter) { record in
                let url = record.url
                let key = SessionStatistics.Endpoint(method: record.method, host: url.host, path: url.path)
                let number = numbers[key] ?? keys.count
                if number == keys.count {
                    numbers[key] = number
                    keys.append(key)
                }
                while lists.count <= number { lists.append([]) }
                var hasher = Hasher()
                hasher.combine(url.path)
                hasher.combine(url.query)
                lists[number].append(Entry(id: record.id.number, url: hasher.finalize()))
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
        let part = try SessionDifference.compare(all, old, new, rules, version, work)
        changed = part.changed
        leftOut = part.leftOut
        for (number, found) in part.endpoints {
            endpoints[number].changed = found.changed
            endpoints[number].hasMore = found.hasMore
            endpoints[number].places = found.places.values.sorted {
                ($1.count, $0.pair, $0.name) < ($0.count, $1.pair, $1.name)
            }
        }
        self.endpoints = endpoints.filter { !$0.isSame }
    }

    /// Pairs the exchanges of an endpoint; returns the pairs, and how many of them have the same URL.
    private static func pair(
        _ old: [Entry],
        _ new: [Entry],
        _ number: Int,
        _ endpoint: inout Endpoint
    ) -> ([Pair], sameURL: Int) {
        // Those of one URL stand together, in their order.
        let (before, after) = (
            old.sorted { ($0.url, $0.id) < ($1.url, $1.id) }, new.sorted { ($0.url, $0.id) < ($1.url, $1.id) }
        )
        var pairs: [Pair] = []
        var (left, others): ([Int64], [Int64]) = ([], [])
        var (first, second) = (0, 0)
        while first < before.count || second < after.count {
            if second == after.count || first < before.count && before[first].url < after[second].url {
                left.append(before[first].id)
                first += 1
            } else if first == before.count || before[first].url > after[second].url {
                others.append(after[second].id)
                second += 1
            } else {
                pairs.append(Pair(old: before[first].id, new: after[second].id, endpoint: number))
                (first, second) = (first + 1, second + 1)
            }
        }
        let sameURL = pairs.count
        left.sort()
        others.sort()
        for (before, after) in zip(left, others) { pairs.append(Pair(old: before, new: after, endpoint: number)) }
        let common = min(left.count, others.count)
        (endpoint.onlyOld, endpoint.onlyNew) = (left.count - common, others.count - common)
        endpoint.firstOld = Array(left.dropFirst(common).prefix(mostNumbers))
        endpoint.firstNew = Array(others.dropFirst(common).prefix(mostNumbers))
        return (pairs, sameURL)
    }

    /// The length of the longest part, not necessarily together, of which each number is greater than the one before.
    static func longestRise(_ numbers: [Int64]) -> Int {
        // Of the parts of each length the smallest last number.
        var ends: [Int64] = []
        for number in numbers {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if ends[middle] < number { low = middle + 1 } else { high = middle }
            }
            if low == ends.count { ends.append(number) } else { ends[low] = number }
        }
        return ends.count
    }

    // MARK: - Comparing

    private struct Part: Sendable {
        struct Found: Sendable {
            var changed = 0
            var places: [String: Place] = [:]
            var hasMore = false
        }

        var changed = 0
        var leftOut: [ComparisonRules.Reason: Int] = [:]
        var endpoints: [Int: Found] = [:]
        var failure: (any Error)?

        mutating func add(_ difference: ExchangeDifference, _ pair: Pair, _ index: Int) {
            for (reason, count) in difference.leftOut { leftOut[reason, default: 0] += count }
            guard !difference.isSame else { return }
            changed += 1
            endpoints[pair.endpoint, default: Found()].changed += 1
            for change in difference.changes {
                let name = ComparisonRules.withoutIndices(change.place)
                let place = Place(
                    name: name,
                    count: 1,
                    old: change.old,
                    new: change.new,
                    exchanges: [pair.old, pair.new],
                    pair: index
                )
                add(place, to: pair.endpoint)
            }
        }

        private mutating func add(_ place: Place, to endpoint: Int) {
            let count = endpoints[endpoint]?.places[place.name]?.count ?? 0
            if count > 0 {
                if let first = endpoints[endpoint]?.places[place.name], first.pair <= place.pair {
                    endpoints[endpoint]?.places[place.name]?.count += place.count
                } else {
                    endpoints[endpoint]?.places[place.name] = place
                    endpoints[endpoint]?.places[place.name]?.count += count
                }
            } else if endpoint < mostDetailed, endpoints[endpoint]?.places.count ?? 0 < mostPlaces {
                endpoints[endpoint, default: Found()].places[place.name] = place
            } else {
                endpoints[endpoint, default: Found()].hasMore = true
            }
        }

        mutating func add(_ other: Part) {
            changed += other.changed
            failure = failure ?? other.failure
            for (reason, count) in other.leftOut { leftOut[reason, default: 0] += count }
            for (endpoint, found) in other.endpoints {
                endpoints[endpoint, default: Found()].changed += found.changed
                if found.hasMore { endpoints[endpoint]?.hasMore = true }
                for place in found.places.values { add(place, to: endpoint) }
            }
        }
    }

    /// Compares pairs on as many threads as there are processors, each with readers of its own.
    private static func compare(
        _ pairs: [Pair],
        _ old: SessionReader,
        _ new: SessionReader,
        _ rules: ComparisonRules,
        _ version: MessageVersion,
        _ work: LongWork?
    ) throws -> Part {
        let next = Atomic(0)
        @Sendable func compare(_ old: SessionReader, _ new: SessionReader) -> Part {
            var part = Part()
            let sources = (ContentSource(old), ContentSource(new))
            do {
                while part.failure == nil {
                    let start = next.wrappingAdd(block, ordering: .relaxed).oldValue
                    guard start < pairs.count else { break }
                    for index in start..<min(start + block, pairs.count) {
                        let pair = pairs[index]
                        guard let left = try sources.0.read(pair.old), let right = try sources.1.read(pair.new) else {
                            continue
                        }
                        let difference = try ExchangeDifference(left, right, rules: rules, responses: version)
                        part.add(difference, pair, index)
                        try work?.add(1, of: pairs.count)
                    }
                }
            } catch {
                part.failure = error
            }
            return part
        }
        var whole: Part
        // An archive's session has no name any more, so it cannot be opened once more.
        if pairs.count > 4 * block, old.isInPlace, new.isInPlace {
            let parts = Mutex(Part())
            DispatchQueue.concurrentPerform(iterations: max(1, min(8, ProcessInfo.processInfo.activeProcessorCount))) {
                _ in
                let part: Part
                do {
                    part = compare(try SessionReader(path: old.path), try SessionReader(path: new.path))
                } catch {
                    part = Part(failure: error)
                }
                parts.withLock { $0.add(part) }
            }
            whole = parts.withLock { $0 }
        } else {
            whole = compare(old, new)
        }
        if let failure = whole.failure { throw failure }
        return whole
    }
}

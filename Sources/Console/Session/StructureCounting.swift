import Dispatch
import HTTPModel
import Recording
import Synchronization

/// The places of the structure that are counted for the present list.
struct StructureCounting {
    /// How many places are kept counted; the one that was asked for least recently gives way.
    static let most = 64

    /// Which exchanges a place has still to count.
    enum Rest {
        case numbers(ClosedRange<Int64>, next: Int64)
        case matches(NumberList, done: Int)
    }

    struct Place {
        var tally: StructureTally
        var rest: Rest?
        var lastTold: UInt64 = 0

        var progress: Double? {
            switch rest {
            case nil: nil
            case .numbers(let range, let next): Double(next - range.lowerBound) / Double(max(1, range.count))
            case .matches(let numbers, let done): Double(done) / Double(max(1, numbers.count))
            }
        }
    }

    private(set) var places: [StructureNode: Place] = [:]
    /// The places, the one that was asked for last at the end.
    private var order: [StructureNode] = []
    private var isCancelled = false

    var isEmpty: Bool { places.isEmpty }
    var hasWork: Bool { nextNode != nil }

    /// The place to go on with: the one that was asked for last.
    var nextNode: StructureNode? {
        isCancelled ? nil : order.last { places[$0]?.rest != nil }
    }

    /// Asks for a place; returns whether it is a new one.
    mutating func ask(_ node: StructureNode, _ rest: () -> Rest?) -> Bool {
        isCancelled = false
        order.removeAll { $0 == node }
        order.append(node)
        guard places[node] == nil else { return false }
        if order.count > Self.most { places[order.removeFirst()] = nil }
        places[node] = Place(tally: StructureTally(site: node.site, segments: node.segments), rest: rest())
        return true
    }

    mutating func change<Result>(_ node: StructureNode, _ body: (inout Place) throws -> Result) rethrows -> Result? {
        // Out of the dictionary while it changes, so that nothing of it is copied.
        guard var place = places.removeValue(forKey: node) else { return nil }
        defer { places[node] = place }
        return try body(&place)
    }

    /// Counts no further until something is asked for.
    mutating func cancel() { isCancelled = true }

    /// Counts exchanges that belong to the list since the places were asked for.
    mutating func add(_ numbers: [Int64], _ reader: SessionReader) throws {
        guard !numbers.isEmpty else { return }
        let numbers = numbers.first ?? 0 <= numbers.last ?? 0 ? numbers : numbers.reversed()
        for node in order {
            try change(node) { place in
                // A place that counts a range upward may still come to them.
                let own = numbers.filter { !place.willCome(to: $0) }
                var done = 0
                while done < own.count { done += max(1, try reader.count(of: own[done...], into: &place.tally)) }
            }
        }
    }

    /// Counts exchanges anew that were in flight when they were counted.
    mutating func recount(_ numbers: [Int64], _ reader: SessionReader) throws {
        guard !numbers.isEmpty else { return }
        for node in order {
            try change(node) { place in
                let own = numbers.filter { place.tally.remove($0) }
                if !own.isEmpty { _ = try reader.count(of: own[...], into: &place.tally) }
            }
        }
    }

    /// Forgets an exchange that does not belong to the list any more.
    mutating func remove(_ number: Int64) {
        for node in order { _ = change(node) { $0.tally.remove(number) } }
    }
}

extension StructureCounting.Place {
    fileprivate func willCome(to number: Int64) -> Bool {
        if case .numbers(let range, let next) = rest { return next <= number && number <= range.upperBound }
        return false
    }
}

extension DeskWorker {
    /// Begins to count a place, or tells what is counted.
    func loadStructure(_ node: StructureNode) throws {
        if isBehind { try catchUp() }
        let (matches, bounds) = list.value.withLock { ($0.matches, $0.bounds) }
        let highest = highest
        let isNew = structures.ask(node) {
            if let matches { return matches.count > 0 ? .matches(matches, done: 0) : nil }
            return bounds.map { .numbers($0.lowerBound...max($0.lowerBound, highest), next: $0.lowerBound) }
        }
        if !isNew || structures.places[node]?.rest == nil { tell(node) }
    }

    /// Counts some more of the place that was asked for last.
    func stepStructures() throws {
        guard let node = structures.nextNode else { return }
        let begin = DispatchTime.now().uptimeNanoseconds
        let pauses = { self.pauses(since: begin) }
        let isDone = try structures.change(node) { place in
            switch place.rest {
            case nil: return true
            case .numbers(let range, let next):
                let rest = try reader.count(in: next...range.upperBound, into: &place.tally, until: pauses)
                place.rest = rest.map { .numbers(range, next: $0) }
            case .matches(let numbers, var done):
                let end = min(numbers.count, done + 20_000)
                let part = (done..<end).map { numbers[$0] }
                done += try reader.count(of: part[...], into: &place.tally, until: pauses)
                place.rest = done < numbers.count ? .matches(numbers, done: done) : nil
            }
            if place.rest == nil {
                pending.note(inFlight: Array(place.tally.openIDs), missing: [])
                return true
            }
            return DispatchTime.now().uptimeNanoseconds - place.lastTold > 150_000_000
        }
        if isDone == true { tell(node) }
    }

    private func tell(_ node: StructureNode) {
        let level = structures.change(node) { place in
            place.lastTold = DispatchTime.now().uptimeNanoseconds
            return StructureLevel(
                node: node,
                generation: generation,
                children: place.tally.children.map { child in
                    let site = node.site ?? child.name
                    let segments = node.site == nil ? [] : node.segments + [child.name]
                    return StructureChild(
                        name: child.name,
                        node: StructureNode(site: site, segments: segments),
                        isLeaf: child.isLeaf,
                        newest: ExchangeID(child.newest),
                        count: child.counts.count,
                        errors: child.counts.errors,
                        inFlight: child.counts.inFlight
                    )
                },
                more: place.tally.others,
                progress: place.progress
            )
        }
        if let level { deliver(.structure(level)) }
    }
}

package import HTTPModel
import Recording
import Synchronization

struct StructureCounter {
    private static let mostChildren = 5_000
    private static let mostPlaces = 64

    private struct Place {
        /// Exchanges that have ended, by child.
        var settled: [String: StructureGroup] = [:]
        var others: Int64 = 0
        var followed = FollowedNumbers()
        var newest: [Int64: ExchangeRecord] = [:]

        mutating func add(_ groups: [StructureGroup]) {
            for group in groups {
                guard settled.count < StructureCounter.mostChildren || settled[group.name] != nil else {
                    others += group.count
                    continue
                }
                if settled[group.name]?.add(group) == nil { settled[group.name] = group }
            }
        }
    }

    private let reader: SessionReader
    private let list: SharedList
    private let deliver: @Sendable (QueryEvent) -> Void
    private var generation = 0
    private var places: [StructureNode: Place] = [:]
    private let pace = Pace()

    init(reader: SessionReader, list: SharedList, deliver: @escaping @Sendable (QueryEvent) -> Void) {
        (self.reader, self.list, self.deliver) = (reader, list, deliver)
    }

    /// Counts a node, or only the exchanges since its last count, and delivers the result.
    mutating func load(_ node: StructureNode, generation: Int, _ cancellation: Cancellation) {
        guard list.value.withLock({ $0.generation }) == generation else { return }
        if generation != self.generation || places.count >= Self.mostPlaces { places = [:] }
        self.generation = generation
        do {
            try count(node, cancellation)
        } catch {
            places[node] = nil
            if !(error is CancellationError) { deliver(.failed(queryWords(error))) }
        }
    }

    private mutating func count(_ node: StructureNode, _ cancellation: Cancellation) throws {
        let (filter, isRestricted) = list.value.withLock { ($0.filter, $0.isRestricted) }
        let url = node.siteURL
        guard node.site == nil || url != nil else { return tell(node, Place(), []) }
        func groups(_ rows: ExchangeRows, inFlight: Bool, _ filter: Filter) throws -> [StructureGroup] {
            try reader.structure(of: url, segments: node.segments, rows: rows, matching: filter, inFlight: inFlight) {
                _ in !cancellation.isCancelled
            }
        }
        var place = places[node] ?? Place()
        if filter.needs != .record || isRestricted {
            // The pass has stored the matches; searching all bodies again would take as long as the pass.
            let matches = list.value.withLock { $0.matches }
            place.add(try groups(.numbers(matches), inFlight: false, .everything))
            return tell(node, place, try groups(.numbers(matches), inFlight: true, .everything))
        }
        var followed = place.followed
        try followed.addEnded(reader, for: filter, cancellation) { rows in
            guard case .range(let block, let others) = rows else {
                return place.add(try groups(rows, inFlight: false, filter))
            }
            // SQLite sorts the rows to group them, which is fastest in small ranges.
            for start in stride(from: block.lowerBound, through: block.upperBound, by: 8_192) {
                let rows = start...min(block.upperBound, start + 8_191)
                place.add(try groups(.range(rows, except: others), inFlight: false, filter))
            }
        } tell: { progress in
            if pace.isDue { tell(node, place, [], progress: progress) }
        }
        place.followed = followed
        places[node] = place
        let inFlight = place.followed.inFlight
        tell(node, place, inFlight.isEmpty ? [] : try groups(.numbers(inFlight), inFlight: true, filter))
    }

    /// The newest exchange of each leaf; only exchanges that are not known to have ended are read from the session.
    private func newest(_ place: Place) -> [Int64: ExchangeRecord] {
        let wanted = Set(place.settled.values.filter { $0.further == 0 }.map(\.newest))
        var newest = place.newest.filter { wanted.contains($0.key) && $0.value.state != .inFlight }
        // A row that cannot be read leaves its columns empty.
        let read = (try? reader.records(wanted.subtracting(newest.keys))) ?? []
        for case let record? in read { newest[record.id.number] = record }
        return newest
    }

    private mutating func tell(
        _ node: StructureNode,
        _ place: Place,
        _ inFlight: [StructureGroup],
        progress: Double? = nil
    ) {
        let open = Dictionary(uniqueKeysWithValues: inFlight.map { ($0.name, Int($0.count)) })
        var all = place
        all.add(inFlight)
        let newest = progress == nil ? newest(all) : [:]
        places[node]?.newest = newest
        let children = all.settled.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let level = StructureLevel(
            node: node,
            generation: generation,
            children: children.map { child in
                let segments = node.site == nil ? [] : node.segments + [child.name]
                return StructureChild(
                    name: child.name,
                    node: StructureNode(site: node.site ?? child.name, segments: segments),
                    isLeaf: child.further == 0,
                    newest: ExchangeID(child.newest),
                    record: newest[child.newest],
                    count: Int(child.count),
                    errors: Int(child.errors),
                    inFlight: open[child.name] ?? 0
                )
            },
            more: Int(all.others),
            progress: progress
        )
        deliver(.structure(level))
    }
}

package struct StructureNode: Hashable, Sendable {
    /// `scheme://host`, with the port if it is not the scheme's default; `nil` for the root.
    package var site: String?
    /// The segments of the path; a segment is empty if two slashes meet, or if the path ends with a slash.
    package var segments: [String]

    package init(site: String? = nil, segments: [String] = []) {
        self.site = site
        self.segments = segments
    }
}

extension StructureNode {
    var siteURL: RequestURL? {
        guard let site, let slashes = site.firstRange(of: "://") else { return nil }
        let scheme = String(site[..<slashes.lowerBound])
        var host = site[slashes.upperBound...]
        var port = RequestURL.defaultPort(of: scheme) ?? 0
        if let colon = host.lastIndex(of: ":"), host.last != "]", let written = Int(host[host.index(after: colon)...]) {
            (host, port) = (host[..<colon], written)
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return RequestURL(scheme: scheme, host: String(host), port: port, path: "")
    }

    /// The node's URL, for a site without a path; `nil` for the root.
    var url: RequestURL? {
        var url = siteURL
        url?.path = segments.map { "/" + $0 }.joined()
        return url
    }
}

package struct StructureLevel: Sendable, Hashable {
    package var node: StructureNode
    package var generation: Int
    package var children: [StructureChild]
    /// The number of exchanges at and below children that are not listed because there are too many.
    package var more = 0
    /// The progress of the count, from 0 to 1; `nil` once the count is done.
    package var progress: Double?
}

package struct StructureChild: Sendable, Hashable {
    package var name: String
    package var node: StructureNode
    package var isLeaf: Bool
    /// The newest exchange at or below the child, by its start.
    package var newest: ExchangeID
    package var record: ExchangeRecord?
    package var count: Int
    /// The exchanges that failed, or have an HTTP status of at least 400 or a gRPC status other than OK.
    package var errors = 0
    package var inFlight = 0
}

import GRDB
import HTTPModel

/// What a node of the structure counts about the exchanges below it.
package struct StructureCounts: Sendable, Hashable {
    /// Exchanges.
    package var count = 0
    /// Those that failed, or were answered with a status from 400 on or a gRPC status other than OK.
    package var errors = 0
    /// Those of which something is still to come.
    package var inFlight = 0

    /// Counts nothing.
    package init() {}

    mutating func add(_ other: StructureCounts, times sign: Int) {
        count += sign * other.count
        errors += sign * other.errors
        inFlight += sign * other.inFlight
    }
}

/// Counts exchanges below one place of the structure, by what comes next: all sites, or the segments after a path.
///
/// Exchanges may be told in any order and are counted once. Of those in flight is kept what they were counted as, so that
/// they can be counted anew; they are few.
package struct StructureTally: Sendable {
    /// One child of the place.
    package struct Child: Sendable, Hashable {
        /// The site, as `scheme://host` with its port where it is not the scheme's own; or the segment of the path.
        package var name: String
        /// Whether no exchange goes on below it.
        package var isLeaf: Bool
        package var counts: StructureCounts
        /// The exchange that began last.
        package var newest: Int64
    }

    /// The most children that are told apart; exchanges of further ones are counted in ``others``.
    package static let mostChildren = 5_000

    /// The site; `nil` for the place above all sites.
    package let site: String?
    /// The segments of the path down to the place.
    package let segments: [String]
    /// Exchanges below children that are not told apart.
    package private(set) var others = 0

    private var names = TextPool()
    private var counts: [StructureCounts] = []
    private var isBranch: [Bool] = []
    private var newest: [Int64] = []
    private var open: [Int64: (child: Int, counts: StructureCounts)] = [:]

    static let columns: Set<FilterColumn> = [
        .scheme, .host, .port, .path, .status, .failure, .grpcStatus,
    ]

    private let siteBytes: [UInt8]
    private let pathBytes: [UInt8]
    /// The scheme and the host of the site, to sort rows out before the whole site is put together.
    private let hostBytes: [UInt8]

    /// Prepares to count below a place.
    package init(site: String?, segments: [String] = []) {
        self.site = site
        self.segments = segments
        siteBytes = Array((site ?? "").utf8)
        pathBytes = segments.flatMap { [UInt8(ascii: "/")] + Array($0.utf8) }
        var host = Substring(site ?? "")
        if let slashes = host.firstRange(of: "://") { host = host[slashes.upperBound...] }
        hostBytes =
            host.hasPrefix("[")
            ? Array(host.dropFirst().prefix { $0 != "]" }.utf8)
            : Array(host.prefix { $0 != ":" }.utf8)
    }

    /// The children by name; those that count nothing any more are left out.
    package var children: [Child] {
        let all = counts.indices.filter { counts[$0].count > 0 }.map {
            Child(name: names.text($0), isLeaf: !isBranch[$0], counts: counts[$0], newest: newest[$0])
        }
        return all.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The exchanges that were in flight when they were counted.
    package var openIDs: some Sequence<Int64> { open.keys }

    /// Forgets what an exchange in flight was counted as; returns whether it was counted as such.
    @discardableResult
    package mutating func remove(_ id: Int64) -> Bool {
        guard let was = open.removeValue(forKey: id) else { return false }
        if was.child < StructureTally.mostChildren {
            counts[was.child].add(was.counts, times: -1)
        } else {
            others -= 1
        }
        return true
    }

    fileprivate mutating func add(_ row: LeanRow) {
        let id = row.id
        remove(id)
        guard let child = child(of: row) else { return }
        var its = StructureCounts()
        its.count = 1
        let isError = row.number(.status) ?? 0 >= 400 || row.number(.grpcStatus) ?? 0 > 0 || row.has(.failure)
        its.errors = isError ? 1 : 0
        its.inFlight = row.isInFlight ? 1 : 0
        if row.isInFlight { open[id] = (child, its) }
        guard child < Self.mostChildren else {
            others += 1
            return
        }
        counts[child].add(its, times: 1)
        newest[child] = max(newest[child], id)
    }

    /// The number of the child that a row belongs to, ``mostChildren`` for one not told apart; `nil` for none.
    private mutating func child(of row: LeanRow) -> Int? {
        if site != nil {
            let host = row.bytes(.host)
            guard host.count == hostBytes.count, host.elementsEqual(hostBytes) else { return nil }
        }
        let path = row.bytes(.path)
        guard site == nil || !path.isEmpty else { return nil }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: row.siteCapacity) { buffer -> Int? in
            let rowSite = row.writeSite(into: buffer)
            guard site != nil else { return number(of: rowSite, goesOn: path.count > 0) }
            guard rowSite.elementsEqual(siteBytes), path.count >= pathBytes.count, path.starts(with: pathBytes) else {
                return nil
            }
            var rest = path[pathBytes.count...]
            if rest.first == UInt8(ascii: "/") {
                rest = rest.dropFirst()
            } else if !pathBytes.isEmpty {
                // The path ends here, or its segment is longer than the place's.
                return nil
            }
            let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
            return number(of: UnsafeBufferPointer(rebasing: rest[..<end]), goesOn: end < rest.endIndex)
        }
    }

    private mutating func number(of name: UnsafeBufferPointer<UInt8>, goesOn: Bool) -> Int {
        guard let number = names.number(of: name, most: Self.mostChildren) else { return Self.mostChildren }
        if number == counts.count {
            counts.append(StructureCounts())
            isBranch.append(false)
            newest.append(0)
        }
        if goesOn { isBranch[number] = true }
        return number
    }
}

extension LeanRow {
    /// Room for what ``writeSite(into:)`` writes.
    fileprivate var siteCapacity: Int { bytes(.scheme).count + bytes(.host).count + 32 }

    /// Writes `scheme://host`, with the port where it is not the scheme's own.
    fileprivate func writeSite(into buffer: UnsafeMutableBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var count = 0
        func put(_ byte: UInt8) {
            buffer.initializeElement(at: count, to: byte)
            count += 1
        }
        let scheme = bytes(.scheme)
        for byte in scheme { put(byte) }
        for byte: UInt8 in [0x3A, 0x2F, 0x2F] { put(byte) }
        let host = bytes(.host)
        let isAddress = host.contains(UInt8(ascii: ":"))
        if isAddress { put(UInt8(ascii: "[")) }
        for byte in host { put(byte) }
        if isAddress { put(UInt8(ascii: "]")) }
        let port = number(.port) ?? 0
        let isDefault =
            port == 443 && scheme.elementsEqual("https".utf8) || port == 80 && scheme.elementsEqual("http".utf8)
            || port == 443 && scheme.elementsEqual("wss".utf8) || port == 80 && scheme.elementsEqual("ws".utf8)
        if !isDefault {
            put(UInt8(ascii: ":"))
            for byte in String(port).utf8 { put(byte) }
        }
        return UnsafeBufferPointer(rebasing: buffer[..<count])
    }
}

extension SessionReader {
    /// Counts a range of exchanges, upward, as far as the caller lets it.
    ///
    /// - Returns: the number to go on with; `nil` where nothing is left.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func count(
        in ids: ClosedRange<Int64>,
        into tally: inout StructureTally,
        until shouldPause: () -> Bool = { false }
    ) throws -> Int64? {
        let columns = LeanColumns(StructureTally.columns)
        var next: Int64?
        try read { database in
            var rows = 0
            try visit(columns, in: ids, order: .oldestFirst, database) { row in
                tally.add(row)
                rows += 1
                guard rows & 0xFF == 0, row.id < ids.upperBound, shouldPause() else { return true }
                next = row.id + 1
                return false
            }
        }
        return next
    }

    /// Counts some exchanges, as far as the caller lets it.
    ///
    /// - Returns: how many of the numbers are done.
    /// - Throws: ``SessionError`` where the session cannot be read.
    package func count(
        of ids: ArraySlice<Int64>,
        into tally: inout StructureTally,
        until shouldPause: () -> Bool = { false }
    ) throws -> Int {
        let columns = LeanColumns(StructureTally.columns)
        var done = 0
        try read { database in
            try visit(columns, of: ids, database) { id, row in
                if let row { tally.add(row) } else { tally.remove(id) }
                done += 1
                return done & 0xFF != 0 || !shouldPause()
            }
        }
        return done
    }
}

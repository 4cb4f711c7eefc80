package import HTTPModel
import Synchronization

/// Counts exchanges in total, by host, by endpoint if requested, and over time. Its memory does not grow with the
/// number of exchanges.
package struct SessionStatistics: Sendable, Hashable {
    package struct Totals: Sendable, Hashable {
        package private(set) var count: Int64 = 0
        /// Exchanges that failed, have a status of 400 or more, or have a gRPC status other than OK.
        package private(set) var errors: Int64 = 0
        /// As received.
        package private(set) var requestBytes: Int64 = 0
        /// As received.
        package private(set) var responseBytes: Int64 = 0
        /// Of exchanges that have ended.
        package private(set) var times = TimeHistogram()
        package private(set) var slowest: Slowest?

        package struct Slowest: Sendable, Hashable {
            package var id: ExchangeID
            package var time: Int64
        }

        /// As received.
        package var bytes: Int64 { requestBytes.addingClamped(responseBytes) }

        /// The percentile of the times in microseconds, at most 3.2 % off; `part` is from 0 to 1; `nil` if no exchange
        /// has ended.
        package func percentile(_ part: Double) -> Int64? {
            times.percentile(part).map { min($0, slowest?.time ?? $0) }
        }

        package init() {}
    }

    /// Requests with the same method, host and path shape.
    package struct Endpoint: Sendable, Hashable {
        package var method: String
        package var host: String
        /// As returned by `PathShape`.
        package var path: String

        package init(method: String, host: String, path: String) {
            (self.method, self.host, self.path) = (method, host, PathShape.of(path))
        }
    }

    /// The maximum number of hosts with their own row; exchanges with other hosts are counted together.
    package static let mostHosts = 1_000
    /// The same for endpoints.
    package static let mostEndpoints = 5_000

    /// Totals by key; exchanges whose key has no row are counted together.
    private struct Rows<Key: Hashable & Sendable>: Sendable, Hashable {
        var totals: [Key: Totals] = [:]
        var others = Totals()

        mutating func add(_ entry: Entry, to key: Key, _ hasRow: (_ count: Int) -> Bool) {
            if totals[key]?.add(entry) != nil { return }
            if hasRow(totals.count) { totals[key, default: Totals()].add(entry) } else { others.add(entry) }
        }

        mutating func add(_ rows: Rows, most: Int) {
            others.add(rows.others)
            for (key, more) in rows.totals {
                if totals.count < most || totals[key] != nil {
                    totals[key, default: Totals()].add(more)
                } else {
                    others.add(more)
                }
            }
        }
    }

    package private(set) var all = Totals()
    private var byHost = Rows<String>()
    private var byEndpoint = Rows<Endpoint>()
    package private(set) var timeline = Timeline()
    package var hosts: [String: Totals] { byHost.totals }
    package var others: Totals { byHost.others }
    /// Empty unless requested.
    package var endpoints: [Endpoint: Totals] { byEndpoint.totals }
    package var otherEndpoints: Totals { byEndpoint.others }
    package let countsEndpoints: Bool

    package init(countsEndpoints: Bool = false) { self.countsEndpoints = countsEndpoints }
}

extension SessionStatistics {
    package struct Entry: Sendable {
        package var id: ExchangeID
        package var startedAt: Int64
        package var host: String
        package var result: ResultClass
        package var isError: Bool
        package var requestBytes: Int64
        package var responseBytes: Int64
        /// In microseconds; `nil` in flight.
        package var time: Int64?
        package var endpoint: Endpoint?

        package init(_ record: ExchangeRecord) {
            id = record.id
            startedAt = record.startedAt
            host = record.url.host
            let hasFailed = record.hasFailed || (record.grpc?.status ?? 0) > 0
            result = ResultClass(status: Int64(record.status), hasFailed: hasFailed)
            isError = record.isError
            requestBytes = record.sizes.requestBody
            responseBytes = record.sizes.responseBody
            time = record.timings.total
            endpoint = Endpoint(method: record.method, host: record.url.host, path: record.url.path)
        }

        init(_ row: inout RowReader, hasEndpoint: Bool) throws {
            id = ExchangeID(try row.number(in: RecordedRange.numbers))
            startedAt = try row.number(in: RecordedRange.moments)
            host = try row.text()
            result = ResultClass(status: try row.number(), hasFailed: try row.number() != 0)
            isError = try row.number() != 0
            requestBytes = try row.number()
            responseBytes = try row.number()
            time = try row.optionalNumber()
            if hasEndpoint { endpoint = Endpoint(method: try row.text(), host: host, path: try row.text()) }
        }

        static func columns(hasEndpoint: Bool) -> String {
            """
            e.id, e.started_at, e.host, e.status, (\(SQLCondition.failed) OR coalesce(e.grpc_status, 0) > 0), \
            \(SQLCondition.error), \
            e.request_body_size, e.response_body_size, e.total\(hasEndpoint ? ", e.method, e.path" : "")
            """
        }
    }

    package mutating func add(_ entry: Entry, rows: StatisticsRows? = nil) {
        all.add(entry)
        byHost.add(entry, to: entry.host) { rows?.have(host: entry.host) ?? ($0 < Self.mostHosts) }
        if countsEndpoints, let endpoint = entry.endpoint {
            byEndpoint.add(entry, to: endpoint) { rows?.have(endpoint) ?? ($0 < Self.mostEndpoints) }
        }
        timeline.add(entry.result, at: entry.startedAt)
    }

    package mutating func add(_ other: SessionStatistics) {
        all.add(other.all)
        byHost.add(other.byHost, most: Self.mostHosts)
        if countsEndpoints { byEndpoint.add(other.byEndpoint, most: Self.mostEndpoints) }
        timeline.add(other.timeline)
    }
}

/// Shared by threads that count parts of one session: the first hosts and endpoints that any thread meets get a row. So
/// a row counts all exchanges of its host or endpoint.
package final class StatisticsRows: Sendable {
    private let hosts = Mutex(Set<String>())
    private let endpoints = Mutex(Set<SessionStatistics.Endpoint>())

    package init() {}

    func have(host: String) -> Bool { hosts.withLock { $0.take(host, most: SessionStatistics.mostHosts) } }

    func have(_ endpoint: SessionStatistics.Endpoint) -> Bool {
        endpoints.withLock { $0.take(endpoint, most: SessionStatistics.mostEndpoints) }
    }
}

extension Set {
    /// Whether the element is in the set; adds it while there is room.
    fileprivate mutating func take(_ element: Element, most: Int) -> Bool {
        guard count < most else { return contains(element) }
        insert(element)
        return true
    }
}

extension SessionStatistics.Totals {
    fileprivate mutating func add(_ entry: SessionStatistics.Entry) {
        count &+= 1
        errors &+= entry.isError ? 1 : 0
        requestBytes = requestBytes.addingClamped(entry.requestBytes)
        responseBytes = responseBytes.addingClamped(entry.responseBytes)
        guard let time = entry.time else { return }
        times.add(time)
        if time > slowest?.time ?? -1 { slowest = Slowest(id: entry.id, time: time) }
    }

    fileprivate mutating func add(_ other: Self) {
        count &+= other.count
        errors &+= other.errors
        requestBytes = requestBytes.addingClamped(other.requestBytes)
        responseBytes = responseBytes.addingClamped(other.responseBytes)
        times.add(other.times)
        if let other = other.slowest, other.time > slowest?.time ?? -1 { slowest = other }
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}

// MARK: - Times

/// Counts times in classes that are at most a sixteenth wide, so that a percentile is at most 3.2 % off.
package struct TimeHistogram: Sendable, Hashable {
    /// One count for each class, up to the highest class that has a time.
    private var counts: [UInt32] = []
    package private(set) var count: Int64 = 0

    package init() {}

    mutating func add(_ time: Int64) {
        let index = Self.index(of: time)
        if index >= counts.count { counts += repeatElement(0, count: index + 1 - counts.count) }
        counts[index] &+= 1
        count &+= 1
    }

    mutating func add(_ other: TimeHistogram) {
        if other.counts.count > counts.count {
            counts += repeatElement(0, count: other.counts.count - counts.count)
        }
        for (index, number) in other.counts.enumerated() { counts[index] &+= number }
        count &+= other.count
    }

    /// In microseconds; `part` is from 0 to 1; `nil` without times.
    package func percentile(_ part: Double) -> Int64? {
        guard count > 0 else { return nil }
        let wanted = max(1, Int64((part * Double(count)).rounded(.up)))
        var seen: Int64 = 0
        for (index, number) in counts.enumerated() where number > 0 {
            seen += Int64(number)
            if seen >= wanted { return Self.middle(of: index) }
        }
        return nil
    }

    /// Each time below 32 has its own class; from 32 on, each power of two has 16 classes.
    private static func index(of time: Int64) -> Int {
        let time = max(0, time)
        guard time >= 32 else { return Int(time) }
        let exponent = 63 - time.leadingZeroBitCount
        return 32 + (exponent - 5) * 16 + Int(time >> Int64(exponent - 4)) - 16
    }

    private static func middle(of index: Int) -> Int64 {
        guard index >= 32 else { return Int64(index) }
        let (octave, part) = (index - 32).quotientAndRemainder(dividingBy: 16)
        let width = Int64(1) << Int64(octave + 1)
        return Int64(part + 16) * width + width / 2
    }
}

// MARK: - Over time

package enum ResultClass: Int, CaseIterable, Sendable, Hashable {
    /// A status from 100 to 299.
    case success
    case redirect, clientError, serverError
    /// No complete answer, or a gRPC status other than OK.
    case failed
    /// In flight.
    case open

    init(status: Int64, hasFailed: Bool) {
        self =
            hasFailed
            ? .failed
            : status < 100
                ? .open
                : status < 300 ? .success : status < 400 ? .redirect : status < 500 ? .clientError : .serverError
    }
}

/// When exchanges began, and with which results.
package struct Timeline: Sendable, Hashable {
    /// The exchanges of a span of time by their ``ResultClass``.
    package struct Counts: Sendable, Hashable {
        private var numbers = SIMD8<UInt32>()

        package init() {}

        package subscript(result: ResultClass) -> Int { Int(numbers[result.rawValue]) }
        package var total: Int { ResultClass.allCases.reduce(0) { $0 + self[$1] } }

        fileprivate mutating func add(_ result: ResultClass) { numbers[result.rawValue] &+= 1 }
        fileprivate mutating func add(_ other: Counts) { numbers &+= other.numbers }
    }

    package struct Bucket: Sendable, Hashable {
        /// In microseconds since 1970.
        package var span: Range<Int64>
        package var counts = Counts()
    }

    /// The maximum number of steps; if there are more, pairs of steps are joined.
    private static let most = 4_096

    /// In microseconds.
    private var step: Int64 = 1_000
    /// By the number of the step since 1970.
    private var steps: [Int64: Counts] = [:]
    private var first = Int64.max
    private var last = Int64.min

    package init() {}

    /// `nil` without exchanges.
    package var span: ClosedRange<Int64>? { first <= last ? first...last : nil }

    fileprivate mutating func add(_ result: ResultClass, at moment: Int64) {
        first = min(first, moment)
        last = max(last, moment)
        steps[moment / step, default: Counts()].add(result)
        if steps.count > Self.most { coarsen() }
    }

    fileprivate mutating func add(_ other: Timeline) {
        first = min(first, other.first)
        last = max(last, other.last)
        while step < other.step { coarsen() }
        for (number, counts) in other.steps { steps[number * other.step / step, default: Counts()].add(counts) }
        while steps.count > Self.most { coarsen() }
    }

    private mutating func coarsen() {
        step *= 2
        var joined: [Int64: Counts] = [:]
        for (number, counts) in steps { joined[number / 2, default: Counts()].add(counts) }
        steps = joined
    }

    /// At most `count` buckets of equal, round length from the first exchange to the last; with `latest`, only for the
    /// last `latest` microseconds.
    package func buckets(_ count: Int, latest: Int64? = nil) -> [Bucket] {
        guard count > 0, let span else { return [] }
        let start = latest.map { max(span.lowerBound, span.upperBound - $0) } ?? span.lowerBound
        let wanted = max(step, (span.upperBound - start) / Int64(count) + 1)
        var length = Self.lengths.first { $0 >= wanted } ?? wanted
        // A start between two round times needs one more bucket.
        while span.upperBound / length - start / length >= Int64(count) {
            length = Self.lengths.first { $0 > length } ?? length * 2
        }
        let begin = start / length
        let number = Int(span.upperBound / length - begin) + 1
        var buckets = (0..<number).map { index in
            Bucket(span: (begin + Int64(index)) * length..<(begin + Int64(index) + 1) * length)
        }
        for (number, counts) in steps {
            let index = number * step / length - begin
            if index >= 0, index < buckets.count { buckets[Int(index)].counts.add(counts) }
        }
        return buckets
    }

    /// Round lengths in microseconds, from a millisecond to a year: 1, 2 and 5 times each power of ten up to 10 s, then
    /// lengths of clocks and calendars.
    private static let lengths: [Int64] = {
        let small = [1, 10, 100, 1_000].flatMap { ten in [1, 2, 5].map { ten * $0 * 1_000 } }
        let seconds: [Int64] = [
            10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
            2_592_000, 31_536_000,
        ]
        return small.map(Int64.init) + seconds.map { $0 * 1_000_000 }
    }()
}

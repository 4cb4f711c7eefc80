import HTTPModel
import Support
import Synchronization
import Testing

@testable import Recording

@Suite("Statistics of a session")
struct StatisticsTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static func record(_ number: Int64, _ random: inout SplitMix) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: .http,
            startedAt: 1_795_000_000_000_000 + number * 40_000,
            method: "GET",
            url: RequestURL(
                scheme: "https",
                host: ["a.example", "b.example", "c.example"][random.number(below: 3)],
                port: 443,
                path: "/"
            ),
            clientConnection: ConnectionID(1)
        )
        record.state = number % 50 == 0 ? .inFlight : .complete
        record.status = record.state == .inFlight ? 0 : [200, 204, 302, 404, 500][random.number(below: 5)]
        if number % 20 == 3 {
            record.state = .failed
            record.status = 502
            record.failure = ExchangeFailure(.connect, "no")
        }
        if record.status == 200, number % 3 == 0 { record.grpc = GRPCOutcome(status: Int(number % 2) * 14) }
        record.sizes.requestBody = Int64(random.number(below: 1_000))
        record.sizes.responseBody = Int64(random.number(below: 100_000))
        record.timings.total = record.state == .inFlight ? nil : Int64(random.number(below: 2_000_000))
        return record
    }

    private func recorded(_ count: Int64) throws -> (SessionReader, [ExchangeRecord], Feed) {
        var random = SplitMix(5)
        let feed = try Feed(path: scratch.session)
        var records: [ExchangeRecord] = []
        for number in 1...count {
            let record = Self.record(number, &random)
            records.append(record)
            var opening = record
            opening.state = .inFlight
            feed.submit([.opened(opening, ExchangeMessages())])
            if record.state != .inFlight { feed.submit([.finished(record, ExchangeMessages())]) }
        }
        feed.recorder.flush()
        return (try SessionReader(path: scratch.session), records, feed)
    }

    private static func percentile(_ times: [Int64], _ part: Double) -> Int64 {
        times.sorted()[max(0, Int((part * Double(times.count)).rounded(.up)) - 1)]
    }

    @Test("count, add up and order times for each host as arithmetic does, percentiles to 5 %")
    func hosts() throws {
        let (reader, records, feed) = try recorded(3_000)
        defer { feed.recorder.close() }
        let statistics = try reader.statistics(matching: .everything)
        #expect(statistics.all.count == 3_000)
        for (host, members) in Dictionary(grouping: records, by: \.url.host) {
            let totals = try #require(statistics.hosts[host])
            #expect(totals.count == Int64(members.count))
            #expect(totals.errors == Int64(members.filter(\.isError).count))
            #expect(totals.bytes == members.reduce(0) { $0 + $1.sizes.requestBody + $1.sizes.responseBody })
            let times = members.compactMap(\.timings.total)
            #expect(totals.slowest?.time == times.max())
            for part in [0.5, 0.95] {
                let exact = Double(Self.percentile(times, part))
                let found = Double(try #require(totals.times.percentile(part)))
                #expect(abs(found - exact) <= exact * 0.05, "\(host) \(part): \(found) for \(exact)")
            }
        }
        let some = try reader.statistics(matching: try Filter("host:a.example status:404"))
        #expect(some.hosts.keys.sorted() == ["a.example"])
        #expect(some.all.count == Int64(records.filter { $0.url.host == "a.example" && $0.status == 404 }.count))
    }

    @Test("are the same by several threads, and whole with more hosts than have rows; what ends one ends all")
    func threads() throws {
        let (reader, _, feed) = try recorded(3_000)
        defer { feed.recorder.close() }
        for filter in [Filter.everything, try Filter("status:404")] {
            let one = try reader.statistics(matching: filter, countsEndpoints: true, shortestPart: 1 << 40)
            let progress = Mutex((blocks: 0, counted: Int64(0), part: 0.0))
            let several = try reader.statistics(matching: filter, countsEndpoints: true, shortestPart: 100) {
                counted,
                part in
                progress.withLock { $0 = ($0.blocks + 1, max($0.counted, counted), max($0.part, part)) }
            }
            #expect(several == one)
            let end = progress.withLock { $0 }
            #expect(end.blocks > 1 && end.counted == one.all.count && end.part == 1)
        }
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try reader.statistics(matching: .everything, shortestPart: 100) { _, _ in throw Stop() }
        }
        for number in Int64(3_001)...5_500 {
            var record = Samples.record(number)
            record.url.host = "h\(number * 7 % 1_250).example"
            feed(.opened(record, ExchangeMessages()))
        }
        feed.recorder.flush()
        let one = try reader.statistics(matching: .everything, shortestPart: 1 << 40)
        let several = try reader.statistics(matching: .everything, shortestPart: 100)
        // Which hosts have a row is not the same, but each row is whole.
        #expect(several.hosts.count == SessionStatistics.mostHosts && several.all == one.all)
        #expect(several.hosts.allSatisfy { host, totals in one.hosts[host].map { $0 == totals } ?? true })
        #expect(several.hosts.values.reduce(several.others.count) { $0 + $1.count } == several.all.count)
        #expect(several.others.count > 0)
    }

    @Test("count by endpoint where that is asked for: what differs in identifiers alone is one, in bounded memory")
    func endpoints() throws {
        let feed = try Feed(path: scratch.session)
        for number in Int64(1)...30 {
            var record = Samples.record(number)
            record.url.path = number % 3 == 0 ? "/v1/items/\(number)/lines" : "/v1/items/\(number)"
            record.method = number % 10 == 0 ? "DELETE" : "GET"
            feed(.opened(record, ExchangeMessages()))
            record.state = .complete
            record.status = number == 7 ? 404 : 200
            (record.sizes.requestBody, record.sizes.responseBody) = (number, 100 * number)
            record.timings.total = number * 1_000
            feed(.finished(record, ExchangeMessages()))
        }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let statistics = try reader.statistics(matching: .everything, countsEndpoints: true)
        func totals(_ method: String, _ path: String) throws -> SessionStatistics.Totals {
            try #require(statistics.endpoints[.init(method: method, host: "api.example.com", path: path)])
        }
        #expect(statistics.endpoints.count == 4)
        let items = try totals("GET", "/v1/items/99")
        let numbers = (Int64(1)...30).filter { $0 % 3 != 0 && $0 % 10 != 0 }
        #expect((items.count, items.errors) == (Int64(numbers.count), 1))
        #expect((items.requestBytes, items.responseBytes) == (numbers.reduce(0, +), 100 * numbers.reduce(0, +)))
        #expect(items.bytes == 101 * numbers.reduce(0, +))
        #expect(items.slowest?.id.number == 29)
        #expect(try totals("DELETE", "/v1/items/1/lines").count == 1)
        #expect(try reader.statistics(matching: .everything).endpoints.isEmpty)
        var (whole, first, second) = (
            SessionStatistics(countsEndpoints: true), SessionStatistics(countsEndpoints: true),
            SessionStatistics(countsEndpoints: true)
        )
        for number in Int64(1)...(Int64(SessionStatistics.mostEndpoints) + 10) {
            var record = Samples.record(number, state: .complete)
            record.url.host = "h\(number).example"
            whole.add(.init(record))
            if number % 2 == 0 { first.add(.init(record)) } else { second.add(.init(record)) }
        }
        #expect(whole.endpoints.count == SessionStatistics.mostEndpoints && whole.otherEndpoints.count == 10)
        #expect(whole.otherEndpoints.count + whole.endpoints.values.reduce(0) { $0 + $1.count } == whole.all.count)
        first.add(second)
        #expect(first.otherEndpoints.count + first.endpoints.values.reduce(0) { $0 + $1.count } == whole.all.count)
    }

    @Test("put every exchange into the bucket of its beginning and the class of its result")
    func timeline() throws {
        let (reader, records, feed) = try recorded(2_000)
        defer { feed.recorder.close() }
        let timeline = try reader.statistics(matching: .everything).timeline
        for count in [1, 7, 60, 200] {
            let buckets = timeline.buckets(count)
            #expect(buckets.count <= count && !buckets.isEmpty)
            for bucket in buckets {
                let members = records.filter { bucket.span.contains($0.startedAt) }
                #expect(bucket.counts.total == members.count)
                #expect(bucket.counts[.failed] == members.count { $0.failure != nil || $0.grpc?.status ?? 0 > 0 })
                #expect(bucket.counts[.clientError] == members.filter { $0.status == 404 && $0.failure == nil }.count)
                #expect(bucket.counts[.open] == members.filter { $0.state == .inFlight }.count)
            }
            #expect(buckets.reduce(0) { $0 + $1.counts.total } == 2_000)
        }
        let latest = timeline.buckets(60, latest: 10_000_000)
        let length = try #require(latest.first.map { $0.span.upperBound - $0.span.lowerBound })
        #expect(length <= 500_000)
        #expect(latest.reduce(0) { $0 + $1.counts.total } < 300)
    }

    @Test("need no more memory for a long span of time, and are the same joined from parts")
    func bounded() {
        var (whole, first, second) = (SessionStatistics(), SessionStatistics(), SessionStatistics())
        var random = SplitMix(9)
        for number in Int64(1)...20_000 {
            var record = Self.record(number, &random)
            record.startedAt = Int64(random.number(below: 1 << 50))
            record.url.host = "host\(random.number(below: 1_500))"
            whole.add(.init(record))
            if number % 3 == 0 { first.add(.init(record)) } else { second.add(.init(record)) }
        }
        #expect(whole.hosts.count == SessionStatistics.mostHosts)
        #expect(whole.others.count + whole.hosts.values.reduce(0) { $0 + $1.count } == 20_000)
        first.add(second)
        #expect(first.all == whole.all)
        #expect(first.timeline.span == whole.timeline.span)
        #expect(first.timeline.buckets(40).reduce(0) { $0 + $1.counts.total } == 20_000)
    }
}

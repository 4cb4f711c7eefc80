import Testing

@testable import Clients

@Suite("Times of answers")
struct RepeatTimesTests {
    @Test("have exact percentiles by the nearest rank, in whatever order they came")
    func percentiles() throws {
        var times = RepeatTimes()
        #expect(times.summary == nil && times.buckets().isEmpty)
        for number in (1...5_000).reversed() { times.add(Int64(number)) }
        let summary = try #require(times.summary)
        #expect((summary.least, summary.most) == (1, 5_000))
        #expect((summary.p50, summary.p95, summary.p99) == (2_500, 4_750, 4_950))
        let two = try #require(RepeatTimes([9, 3]).summary)
        #expect((two.p50, two.p95, two.p99) == (3, 9, 9))
        var joined = RepeatTimes([5, 1])
        joined.add(RepeatTimes([3]))
        #expect(joined.sorted == [1, 3, 5] && joined.count == 3)
    }

    @Test("are counted in buckets of one round length that lack none of them")
    func buckets() throws {
        let times = RepeatTimes((0..<1_000).map { 1_000 + Int64($0) * 10 })
        let buckets = times.buckets()
        #expect(buckets.reduce(0) { $0 + $1.count } == 1_000 && buckets.count <= 12)
        #expect(buckets.first?.from == 1_000 && Set(buckets.map { $0.to - $0.from }) == [1_000])
        for (bucket, next) in zip(buckets, buckets.dropFirst()) { #expect(bucket.to == next.from) }
        #expect(RepeatTimes([70]).buckets() == [RepeatTimes.Bucket(from: 0, to: 100, count: 1)])
    }

    @Test("that are much longer than all others are together in the last bucket")
    func tail() throws {
        let times = RepeatTimes((0..<200).map { 1_000 + Int64($0) } + [9_000_000])
        let buckets = times.buckets(12)
        #expect(buckets.count == 12 && buckets.last?.count == 1 && buckets.last?.to == 9_000_001)
        #expect(buckets.dropLast().reduce(0) { $0 + $1.count } == 200)
        #expect(buckets.first?.to == 1_100)
    }
}

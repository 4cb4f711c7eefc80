import Foundation
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import Recording

@Suite("A session that is kept below a size")
struct SessionLimitTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func feed(_ largest: Int64, onRemark: (@Sendable (RecorderRemark) -> Void)? = nil) throws -> Feed {
        var configuration = RecorderConfiguration(path: scratch.session)
        (configuration.largestSession, configuration.largestSessionText) = (largest, "4mb")
        return Feed(try Recorder(configuration, onRemark: onRemark))
    }

    @Test("Exchanges that a store needs go last, the oldest first, and are told")
    func needed() throws {
        let removed = Mutex<[Int64]>([])
        var configuration = RecorderConfiguration(path: scratch.session)
        (configuration.largestSession, configuration.largestSessionText) = (1_500_000, "1.5mb")
        configuration.isNeeded = { $0 <= 200 }
        configuration.onRemoved = { numbers in removed.withLock { $0 += numbers } }
        let feed = try Feed(configuration)
        for id in 1...400 {
            feed.submit(Samples.exchange(Int64(id), messages: Samples.realisticMessages))
            if id % 20 == 0 { feed.recorder.flush() }
        }
        for id in 401...3_000 {
            feed.submit(Samples.exchange(Int64(id), messages: Samples.realisticMessages))
            if id % 20 == 0 { feed.recorder.flush() }
        }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let kept = Set(try reader.numbers(matching: .everything))
        #expect(kept.isSuperset(of: 1...200) && kept.count < 3_000)
        #expect(Set(removed.withLock { $0 }) == Set(1...3_000).subtracting(kept))
    }

    private func size() throws -> Int64 {
        try FileManager.default.attributesOfItem(atPath: scratch.session)[.size] as? Int64 ?? 0
    }

    @Test("The oldest bodies go first, heads and sizes stay, and the file never has more than the size")
    func bodies() throws {
        let remarks = Mutex<[RecorderRemark]>([])
        let feed = try feed(4_000_000, onRemark: { remark in remarks.withLock { $0.append(remark) } })
        let count: Int64 = 200
        var largest: Int64 = 0
        for id in 1...count {
            var bodies = [(BodySide.responseReceived, Samples.bytes(100_000, seed: UInt64(id)))]
            if id % 2 == 0 { bodies.append((.requestReceived, Samples.bytes(700, seed: UInt64(id)))) }
            feed.submit(Samples.exchange(id, bodies: bodies, messages: Samples.realisticMessages))
            if id % 5 == 0 {
                feed.recorder.flush()
                largest = max(largest, try size())
            }
        }
        let summary = feed.recorder.close()
        largest = max(largest, try size())
        #expect(largest <= 4_000_000, "\(largest)")
        #expect(summary.error == nil && summary.removedExchanges == 0)
        #expect(remarks.withLock { $0 } == [.dropping(scratch.session, largest: 4_000_000)])
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == count)
        #expect(try reader.summary().responseBodyBytes == count * 100_000)
        var dropped = 0
        for id in 1...count {
            let exchange = try #require(try reader.exchange(ExchangeID(id)))
            let body = try reader.body(of: ExchangeID(id), side: .responseReceived, limit: 1 << 20)
            #expect(exchange.record.sizes.responseBody == 100_000)
            #expect(exchange.messages.responseHead == Samples.realisticMessages.responseHead)
            guard exchange.record.flags.contains(.bodiesDropped) else {
                #expect(body == Samples.bytes(100_000, seed: UInt64(id)))
                continue
            }
            dropped += 1
            #expect(id == dropped, "the oldest go first")
            #expect(body.readableBytes == 0)
            #expect(try reader.bodySize(of: ExchangeID(id), side: .requestReceived) == nil)
            let flags: ExchangeRecord.Flags =
                id % 2 == 0 ? [.requestBodyIncomplete, .responseBodyIncomplete] : .responseBodyIncomplete
            #expect(exchange.record.flags.subtracting(.bodiesDropped) == flags)
            let note = "the body was dropped to keep the session below 4mb"
            #expect(exchange.messages.trace.map(\.text) == [note])
        }
        // What fits stays: nothing more is dropped than has to be.
        #expect(dropped == summary.droppedBodies && (160...180).contains(dropped), "\(dropped)")
    }

    @Test("What short bodies leave is used again, so that heads stay as long as they fit")
    func shortBodies() throws {
        let feed = try feed(4_000_000)
        let count: Int64 = 1_500
        for id in 1...count {
            let body = Samples.bytes(4_000, seed: UInt64(id))
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, body)], messages: Samples.realisticMessages))
            if id % 50 == 0 { feed.recorder.flush() }
        }
        let summary = feed.recorder.close()
        #expect(try size() <= 4_000_000)
        #expect(summary.removedExchanges == 0 && summary.droppedBodies < 1_400, "\(summary)")
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == count)
        let first = try #require(try reader.exchange(ExchangeID(1)))
        #expect(first.messages.responseHead == Samples.realisticMessages.responseHead)
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
    }

    @Test("Where heads alone are too much the oldest exchanges go, and the counters with them")
    func exchanges() throws {
        let feed = try feed(1_000_000)
        for id in 1...2_000 as ClosedRange<Int64> {
            let body = Samples.bytes(300, seed: UInt64(id))
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, body)], messages: Samples.realisticMessages))
            if id % 100 == 0 { feed.recorder.flush() }
        }
        let summary = feed.recorder.close()
        #expect(try size() <= 1_000_000)
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
        let reader = try SessionReader(path: scratch.session)
        let numbers = try reader.numbers(matching: .everything)
        #expect(summary.removedExchanges == 2_000 - numbers.count && summary.removedExchanges > 500)
        #expect(numbers == Array((2_001 - Int64(numbers.count))...2_000))
        #expect(try reader.count() == Int64(numbers.count))
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM payload") == "\(numbers.count)")
        #expect(try reader.summary().responseBodyBytes == Int64(numbers.count) * 300)
    }

    @Test("A body that is larger than all is dropped while it comes, and the exchange says so at its end")
    func open() throws {
        let feed = try feed(1_000_000)
        let body = Samples.bytes(3_000_000, seed: 1)
        let long = Samples.exchange(1, bodies: [(.responseReceived, body)])
        feed.submit(Array(long.dropLast()))
        feed.submit(Samples.exchange(2, bodies: [(.responseReceived, Samples.bytes(5_000, seed: 2))]))
        feed.recorder.flush()
        feed.submit(Array(long.suffix(1)))
        feed.submit(Samples.exchange(3, bodies: [(.responseReceived, Samples.bytes(5_000, seed: 3))]))
        #expect(feed.recorder.close().error == nil)
        #expect(try size() <= 1_000_000)
        let reader = try SessionReader(path: scratch.session)
        let exchange = try #require(try reader.exchange(ExchangeID(1)))
        #expect(exchange.record.state == .complete && exchange.record.sizes.responseBody == 3_000_000)
        #expect(exchange.record.flags == [.bodiesDropped, .responseBodyIncomplete])
        #expect(exchange.messages.trace.count == 1)
        #expect(try reader.bodySize(of: ExchangeID(1), side: .responseReceived) == nil)
        let last = try reader.body(of: ExchangeID(3), side: .responseReceived, limit: 1 << 20)
        #expect(last == Samples.bytes(5_000, seed: 3))
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
    }

    @Test(
        "A body that never fits goes alone: what came before it keeps heads and bodies",
        arguments: [(3_600_000, true), (3_600_000, false), (9_000_000, true), (9_000_000, false)]
    )
    func neverFits(length: Int, isSlow: Bool) throws {
        let feed = try feed(4_000_000)
        let count: Int64 = 200
        for id in 1...count {
            let body = Samples.bytes(1_000, seed: UInt64(id))
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, body)], messages: Samples.realisticMessages))
        }
        let large = Samples.exchange(count + 1, bodies: [(.responseReceived, Samples.bytes(length, seed: 1))])
        for start in stride(from: 0, to: large.count, by: 20) {
            feed.submit(Array(large[start..<min(start + 20, large.count)]))
            if isSlow { feed.recorder.flush() }
        }
        let summary = feed.recorder.close()
        #expect(summary.error == nil && summary.droppedBodies == 1 && summary.removedExchanges == 0, "\(summary)")
        #expect(try size() <= 4_000_000)
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.numbers(matching: .everything) == Array(1...count + 1))
        for id in 1...count {
            let body = try reader.body(of: ExchangeID(id), side: .responseReceived, limit: 1 << 20)
            #expect(body == Samples.bytes(1_000, seed: UInt64(id)))
        }
        let last = try #require(try reader.exchange(ExchangeID(count + 1)))
        #expect(last.record.flags == [.bodiesDropped, .responseBodyIncomplete])
        #expect(last.record.sizes.responseBody == Int64(length))
    }

    @Test("Several large bodies at once go before all others, the largest first")
    func severalAtOnce() throws {
        let feed = try feed(4_000_000)
        let count: Int64 = 20
        for id in 1...count {
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(5_000, seed: UInt64(id)))]))
        }
        let large = (1...4).map {
            Samples.exchange(count + $0, bodies: [(.responseReceived, Samples.bytes(3_000_000, seed: 1))])
        }
        for start in stride(from: 0, to: large[0].count, by: 4) {
            for events in large { feed.submit(Array(events[start..<min(start + 4, events.count)])) }
            feed.recorder.flush()
        }
        let summary = feed.recorder.close()
        #expect(summary.error == nil && summary.removedExchanges == 0)
        #expect((2...4).contains(summary.droppedBodies), "\(summary)")
        #expect(try size() <= 4_000_000)
        let reader = try SessionReader(path: scratch.session)
        for id in 1...count {
            let body = try reader.body(of: ExchangeID(id), side: .responseReceived, limit: 1 << 20)
            #expect(body == Samples.bytes(5_000, seed: UInt64(id)))
        }
    }

    @Test("Of several bodies that are still coming the largest goes, and a smaller one stays")
    func largestGoes() throws {
        let feed = try feed(4_000_000)
        let bytes = Samples.bytes(300_000, seed: 7)
        let small = Samples.exchange(1, bodies: [(.responseReceived, bytes)])
        feed.submit(Array(small.dropLast()))
        feed.recorder.flush()
        let large = Samples.exchange(2, bodies: [(.responseReceived, Samples.bytes(9_000_000, seed: 1))])
        for start in stride(from: 0, to: large.count, by: 10) {
            feed.submit(Array(large[start..<min(start + 10, large.count)]))
            feed.recorder.flush()
        }
        feed.submit(Array(small.suffix(1)))
        let summary = feed.recorder.close()
        #expect(summary.error == nil && summary.droppedBodies == 1, "\(summary)")
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.body(of: ExchangeID(1), side: .responseReceived, limit: 1 << 20) == bytes)
        #expect(try reader.exchange(ExchangeID(2))?.record.flags.contains(.bodiesDropped) == true)
    }

    @Test("A body that is too large pushes out the oldest bodies only until it takes half, and no exchange")
    func pushesOutFew() throws {
        let feed = try feed(4_000_000)
        for id in 1...10 as ClosedRange<Int64> {
            feed.submit(Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(200_000, seed: UInt64(id)))]))
        }
        let large = Samples.exchange(11, bodies: [(.responseReceived, Samples.bytes(9_000_000, seed: 1))])
        for start in stride(from: 0, to: large.count, by: 10) {
            feed.submit(Array(large[start..<min(start + 10, large.count)]))
            feed.recorder.flush()
        }
        let summary = feed.recorder.close()
        #expect(summary.removedExchanges == 0)
        let reader = try SessionReader(path: scratch.session)
        let dropped = try (1...11).filter { id in
            try reader.exchange(ExchangeID(id))?.record.flags.contains(.bodiesDropped) == true
        }
        #expect(dropped.count == summary.droppedBodies && dropped.last == 11, "\(dropped)")
        let oldest = Int64(dropped.count) - 1
        #expect(dropped.dropLast() == Array(1...max(1, oldest)).prefix(Int(oldest)) && oldest <= 8, "\(dropped)")
    }

    @Test("The body of one that was in flight when its turn came goes before those that came after it")
    func late() throws {
        let feed = try feed(2_000_000)
        let long = Samples.exchange(1, bodies: [(.responseReceived, Samples.bytes(100_000, seed: 1))])
        feed.submit(Array(long.dropLast()))
        func fill(_ numbers: ClosedRange<Int64>) {
            for id in numbers {
                feed.submit(Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(100_000, seed: 2))]))
                feed.recorder.flush()
            }
        }
        fill(2...40)
        feed.submit(Array(long.suffix(1)))
        fill(41...45)
        #expect(feed.recorder.close().error == nil)
        let reader = try SessionReader(path: scratch.session)
        let dropped = try (1...45).filter { id in
            try reader.exchange(ExchangeID(id))?.record.flags.contains(.bodiesDropped) == true
        }
        #expect(dropped == Array(1...Int64(dropped.count)) && dropped.count > 25, "\(dropped)")
    }

    @Test("A session that is continued goes on where bodies were dropped before")
    func continued() throws {
        for run in 0..<2 as Range<Int64> {
            let feed = try feed(2_000_000)
            for id in (run * 50 + 1)...(run * 50 + 50) {
                feed.submit(Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(100_000, seed: 1))]))
            }
            feed.recorder.close()
            #expect(try size() <= 2_000_000)
        }
        let left = "SELECT count(*), min(id) FROM exchange WHERE flags & 32768 = 0"
        let words = try sqlite(scratch.session, left).split(separator: "|").compactMap { Int($0) }
        #expect(words.count == 2 && words[0] > 8 && words[1] == 101 - words[0], "\(words)")
    }
}

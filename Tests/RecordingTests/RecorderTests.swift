import Dispatch
import Files
import Foundation
import GRDB
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import Recording

@Suite("The recorder")
struct RecorderTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    @Test("Credit that is used up is reported, and comes back")
    func credit() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.credit = 100_000
        let recorder = try Recorder(configuration)
        let back = DispatchSemaphore(value: 0)
        let calls = Atomic(0)
        let producer = recorder.makeProducer {
            calls.add(1, ordering: .relaxed)
            back.signal()
        }
        let body = Samples.bytes(120_000, seed: 1)
        #expect(producer.submit([.opened(Samples.record(1), ExchangeMessages())], cost: 512))
        var refusals = 0
        for _ in 0..<50 where !producer.submit([.body(ExchangeID(1), .responseReceived, body)], cost: 120_064) {
            refusals += 1
            back.wait()
        }
        #expect(refusals == 50)
        #expect(calls.load(ordering: .relaxed) == refusals)
        _ = producer.submit([.finished(Samples.record(1, state: .complete), ExchangeMessages())], cost: 512)
        #expect(recorder.close().droppedBytes == 0)
        let size = try SessionReader(path: scratch.session).bodySize(of: ExchangeID(1), side: .responseReceived)
        #expect(size == Int64(50 * 120_000))
    }

    @Test("A lossy recorder cuts bodies, marks the exchange, and never refuses")
    func lossy() throws {
        var configuration = RecorderConfiguration(path: scratch.session, mode: .lossy)
        configuration.credit = 1_000
        let seen = Mutex<[ExchangeRecord]>([])
        let recorder = try Recorder(
            configuration,
            onFinished: { exchanges in seen.withLock { $0 += exchanges.map(\.record) } }
        )
        let producer = recorder.makeProducer {}
        let id = ExchangeID(1)
        let big = Samples.bytes(5_000, seed: 1)
        func submit(_ event: RecordEvent) -> Bool { producer.submit([event], cost: event.cost) }
        #expect(submit(.opened(Samples.record(1), ExchangeMessages())))
        recorder.flush()
        #expect(submit(.body(id, .requestReceived, ByteBuffer(string: "kept"))))
        recorder.flush()
        #expect(submit(.body(id, .responseReceived, ByteBuffer(string: "begin"))))
        recorder.flush()
        #expect(submit(.body(id, .responseReceived, big)))
        recorder.flush()
        // What follows a gap would be misleading.
        #expect(submit(.body(id, .responseReceived, ByteBuffer(string: "end"))))
        #expect(submit(.finished(Samples.record(1, state: .complete), ExchangeMessages())))
        #expect(recorder.close().droppedBytes == 5_003)

        let reader = try SessionReader(path: scratch.session)
        let record = try #require(try reader.record(id))
        #expect(record.flags == .responseBodyIncomplete)
        #expect(seen.withLock { $0 } == [record])
        #expect(try reader.body(of: id, side: .responseReceived, limit: 99) == ByteBuffer(string: "begin"))
        #expect(try reader.body(of: id, side: .requestReceived, limit: 99) == ByteBuffer(string: "kept"))
        #expect(try reader.runs().map(\.droppedBytes) == [5_003])
        #expect(try reader.runs().map(\.mode) == [.lossy])
    }

    @Test("Without a file the observer still hears of every exchange")
    func observerOnly() throws {
        let seen = Mutex<[ExchangeID]>([])
        let recorder = try Recorder(
            RecorderConfiguration(path: nil),
            onFinished: { exchanges in seen.withLock { $0 += exchanges.map(\.record.id) } }
        )
        let feed = Feed(recorder)
        #expect(recorder.nextExchangeID == 1)
        for id in 1...50 {
            feed.submit(Samples.exchange(Int64(id), bodies: [(.responseReceived, ByteBuffer(string: "x"))]))
        }
        let summary = recorder.close()
        #expect(seen.withLock { $0 } == (1...50).map { ExchangeID($0) })
        #expect(summary.exchanges == 50)
        #expect(summary.bodyBytes == 50)
        #expect(summary.notRecorded == 0)
        #expect(summary.path == nil)
    }

    @Test("Several loops at once lose nothing, whatever the order in which exchanges end")
    func severalProducers() async throws {
        let feed = try Feed(path: scratch.session)
        let before = feed.recorder.revision
        await withTaskGroup(of: Void.self) { group in
            for producer in 0..<4 {
                group.addTask {
                    let feed = Feed(feed.recorder)
                    for id in stride(from: Int64(producer) + 1, through: 4_000, by: 4) {
                        var events = Samples.exchange(id, bodies: [(.responseReceived, Samples.bytes(900, seed: 1))])
                        let last = events.removeLast()
                        feed.submit(events)
                        feed(last)
                    }
                }
            }
        }
        feed.recorder.flush()
        #expect(feed.recorder.revision > before)
        #expect(feed.recorder.close().exchanges == 4_000)
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == 4_000)
        #expect(try reader.records(limit: 5_000).allSatisfy { $0.state == .complete })
        #expect(try reader.summary().responseBodyBytes == 4_000 * 900)
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
    }

    @Test("Closing twice gives the same summary; what comes after is not taken; an abandoned recorder ends by itself")
    func closing() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        let summary = feed.recorder.close()
        #expect(summary == feed.recorder.close())
        feed.submit(Samples.exchange(2))
        feed.recorder.flush()
        #expect(try SessionReader(path: scratch.session).count() == 1)
        #expect(summary.path == scratch.session)
    }

    @Test("A full disk stops the recording, not the traffic, and is told once", arguments: [true, false])
    func fullDisk(isTraffic: Bool) throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        (configuration.pageLimit, configuration.isTraffic) = (20, isTraffic)
        let failures = Mutex<[SessionError]>([])
        let seen = Atomic(0)
        let recorder = try Recorder(
            configuration,
            onFinished: { seen.add($0.count, ordering: .relaxed) },
            onFailure: { error in failures.withLock { $0.append(error) } }
        )
        let feed = Feed(recorder)
        feed.submit(Samples.exchange(1))
        recorder.flush()
        let body = Samples.bytes(100_000, seed: 1)
        for id in 2...100 { feed.submit(Samples.exchange(Int64(id), bodies: [(.responseReceived, body)])) }
        let summary = recorder.close()
        #expect(failures.withLock { $0.map(\.code) } == [.writeFailed])
        let message = try #require(summary.error?.message)
        #expect(message.contains("the disk is full"))
        #expect(message.hasSuffix(" Traffic goes on unrecorded.") == isTraffic, "\(message)")
        #expect(summary.exchanges == 100)
        #expect(seen.load(ordering: .relaxed) == 100)
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == Int64(100 - summary.notRecorded))
        #expect(try reader.record(ExchangeID(1)) != nil)
        #expect(summary.notRecorded > 0)
        #expect(try sqlite(scratch.session, "PRAGMA integrity_check") == "ok")
    }

    @Test("Another program that holds the session for two seconds costs no exchange")
    func lockedForAWhile() throws {
        let failures = Mutex<[SessionError]>([])
        let configuration = RecorderConfiguration(path: scratch.session)
        let recorder = try Recorder(configuration, onFailure: { error in failures.withLock { $0.append(error) } })
        let feed = Feed(recorder)
        feed.submit(Samples.exchange(1))
        recorder.flush()
        let other = try DatabaseQueue(path: scratch.session)
        try other.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            for id in 2...20 { feed.submit(Samples.exchange(Int64(id))) }
            // The time that the other program takes.
            Thread.sleep(forTimeInterval: 2)
            try database.execute(sql: "ROLLBACK")
        }
        try other.close()
        let summary = recorder.close()
        #expect(failures.withLock { $0.map(\.message) } == [])
        #expect(summary.notRecorded == 0)
        #expect(try SessionReader(path: scratch.session).count() == 20)
        let busy = SessionError.writing("a", DatabaseError(resultCode: .SQLITE_BUSY))
        #expect(busy.message.contains("another program is writing to it"))
    }

    @Test("20,000 exchanges of 1 KiB take at most 2.4 KB each")
    func size() throws {
        let feed = try Feed(path: scratch.session)
        let body = Samples.bytes(1_024, seed: 3)
        for id in 1...20_000 {
            feed.submit(
                Samples.exchange(
                    Int64(id),
                    bodies: [(.responseReceived, body)],
                    messages: Samples.realisticMessages
                )
            )
        }
        feed.recorder.close()
        let size = try #require(FileFacts(path: scratch.session)?.size) / 20_000
        #expect(size <= 2_400, "\(size) bytes per exchange")
    }
}

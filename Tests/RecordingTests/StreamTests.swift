import Content
import Dispatch
import Files
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Streams")
struct StreamTests {
    let scratch: Scratch
    let id = ExchangeID(1)

    init() throws {
        scratch = try Scratch()
    }

    private func arrivals(_ count: Int64) -> [Arrival] {
        (0..<count).map { Arrival(offset: $0 * 10, at: 1_795_000_000_000_000 + $0 * 7) }
    }

    private func events(_ arrivals: [Arrival], _ side: BodySide, of id: ExchangeID) -> [RecordEvent] {
        let part = ByteBuffer(string: "0123456789")
        return arrivals.flatMap { arrival -> [RecordEvent] in
            [.arrival(id, side, offset: arrival.offset, at: arrival.at), .body(id, side, part)]
        }
    }

    @Test("When bytes arrived reads back by offset, for each side, whole and in pages")
    func roundTrip() throws {
        let feed = try Feed(path: scratch.session)
        let sent = arrivals(3)
        let received = arrivals(1_000)
        feed(.opened(Samples.record(1), ExchangeMessages()), .opened(Samples.record(2), ExchangeMessages()))
        feed.submit(events(received, .responseReceived, of: id) + events(sent, .requestReceived, of: id))
        feed.submit(events(sent, .responseReceived, of: ExchangeID(2)))
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        #expect(feed.recorder.close().error == nil)

        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.arrivals(of: id, side: .responseReceived) == received)
        #expect(try reader.arrivals(of: id, side: .requestReceived) == sent)
        #expect(try reader.arrivals(of: ExchangeID(2), side: .responseReceived) == sent)
        #expect(try reader.arrivals(of: ExchangeID(2), side: .requestReceived).isEmpty)
        #expect(try reader.arrivals(of: ExchangeID(3), side: .responseReceived).isEmpty)

        // A page begins with what brought the byte that is asked for.
        for (offset, first) in [(Int64(0), 0), (-5, 0), (9, 0), (10, 1), (5_555, 555), (1 << 40, 999)] {
            for limit in [1, 7, 5_000] {
                let page = try reader.arrivals(of: id, side: .responseReceived, from: offset, limit: limit)
                #expect(page == Array(received[first...].prefix(limit)), "from \(offset), at most \(limit)")
            }
        }
        #expect(try reader.arrivals(of: id, side: .responseReceived, from: 0, limit: -1).isEmpty)
    }

    @Test("A sent side has the arrivals of the received one only where no stage changed the body")
    func sentSides() throws {
        let feed = try Feed(path: scratch.session)
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.submit(events(arrivals(2), .requestReceived, of: id) + events(arrivals(2), .responseReceived, of: id))
        feed(.body(id, .responseSent, ByteBuffer(string: "another")))
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.arrivals(of: id, side: .requestSent) == arrivals(2))
        #expect(try reader.arrivals(of: id, side: .responseSent).isEmpty)
    }

    @Test("Events of an open stream are to be read within 100 ms, each with its arrival and the counts")
    func visibleWhileOpen() throws {
        let feed = try Feed(path: scratch.session)
        let reader = try SessionReader(path: scratch.session)
        var record = Samples.record(1)
        feed(.opened(record, ExchangeMessages()))
        feed.recorder.flush()
        var delays: [UInt64] = []
        for number in Int64(1)...21 {
            let part = ByteBuffer(string: "data: \(number)\n\n")
            let start = DispatchTime.now().uptimeNanoseconds
            let arrival = Arrival(offset: record.sizes.responseBody, at: record.startedAt + number)
            record.sizes.responseBody += Int64(part.readableBytes)
            record.tally.fromServer = number
            feed(
                .arrival(id, .responseReceived, offset: arrival.offset, at: arrival.at),
                .body(id, .responseReceived, part),
                .progress(id, record.tally, record.sizes)
            )
            // Visible when the recorder's thread has looked again by itself; the test only waits for it.
            while try reader.bodySize(of: id, side: .responseReceived) != record.sizes.responseBody {}
            delays.append(DispatchTime.now().uptimeNanoseconds - start)
            #expect(try reader.arrivals(of: id, side: .responseReceived).last == arrival)
            #expect(try reader.record(id) == record)
        }
        // Stalls of a busy machine are none of the recorder's; one that is late by itself is late each time.
        #expect(delays.sorted()[delays.count / 4] < 100_000_000, "\(delays.map { $0 / 1_000_000 }) ms")
        feed.recorder.close()
    }

    @Test("A stream that dribbles becomes rows of 4 KiB, whole at any time", arguments: [1, 50, 3_000, 5_000])
    func dribble(part: Int) throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.tailMilliseconds = 0
        let feed = try Feed(configuration)
        let body = Samples.bytes(part * 500, seed: 1)
        feed(.opened(Samples.record(1), ExchangeMessages()))
        let reader = try SessionReader(path: scratch.session)
        for number in 0..<500 {
            let bytes = try #require(body.getSlice(at: number * part, length: part))
            let end = (number + 1) * part
            feed(
                .arrival(id, .responseReceived, offset: Int64(end - part), at: 1),
                .body(id, .responseReceived, bytes)
            )
            feed.recorder.flush()
            #expect(try reader.bodySize(of: id, side: .responseReceived) == Int64(end))
            if number % 50 == 0 {
                let read = try reader.body(of: id, side: .responseReceived, limit: .max)
                #expect(read == body.getSlice(at: 0, length: end))
            }
        }
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let rest = try SessionReader(path: scratch.session)
        #expect(try rest.body(of: id, side: .responseReceived, limit: .max) == body)
        let rows = try #require(Int(try sqlite(scratch.session, "SELECT count(*) FROM chunk")))
        #expect(rows <= body.readableBytes / max(part, Schema.streamChunk) + 1)
        let size = try #require(FileFacts(path: scratch.session)?.size)
        #expect(size < 466_000 + 2 * body.readableBytes, "\(size) bytes of file")
    }

    @Test("After a flush, everything that came of open exchanges is to be read")
    func flush() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.tailMilliseconds = 600_000
        let feed = try Feed(configuration)
        let reader = try SessionReader(path: scratch.session)
        feed(.opened(Samples.record(1), ExchangeMessages()), .opened(Samples.record(2), ExchangeMessages()))
        for number in Int64(1)...50 {
            feed(.body(id, .requestReceived, ByteBuffer(string: "0123456789")))
            feed.submit(events([Arrival(offset: 10 * number - 10, at: number)], .responseReceived, of: ExchangeID(2)))
            feed.recorder.flush()
            #expect(try reader.bodySize(of: id, side: .requestReceived) == 10 * number)
            #expect(try reader.bodySize(of: ExchangeID(2), side: .responseReceived) == 10 * number)
            #expect(try reader.arrivals(of: ExchangeID(2), side: .responseReceived).count == Int(number))
        }
        feed.recorder.close()
    }

    @Test("A body that is no stream is not cut into small rows while it takes its time")
    func slowBody() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.tailMilliseconds = 600_000
        let feed = try Feed(configuration)
        feed(.opened(Samples.record(1), ExchangeMessages()), .opened(Samples.record(2), ExchangeMessages()))
        let part = Samples.bytes(1_000, seed: 1)
        feed(.body(id, .responseReceived, part))
        feed.submit(events(arrivals(1), .responseReceived, of: ExchangeID(2)))
        let reader = try SessionReader(path: scratch.session)
        while try reader.bodySize(of: ExchangeID(2), side: .responseReceived) == nil {}
        #expect(try reader.bodySize(of: id, side: .responseReceived) == nil)
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        #expect(try sqlite(scratch.session, "SELECT count(*) FROM chunk WHERE exchange = 1") == "0")
        #expect(try SessionReader(path: scratch.session).body(of: id, side: .responseReceived, limit: 9_999) == part)
    }

    @Test("Counts reach the row of an open exchange, whatever else is told of it in the same moment")
    func progress() throws {
        let feed = try Feed(path: scratch.session)
        let reader = try SessionReader(path: scratch.session)
        func progress(_ number: Int64) -> RecordEvent {
            var tally = MessageCounts()
            (tally.fromClient, tally.fromServer) = (number, 2 * number)
            var sizes = Sizes()
            (sizes.requestHead, sizes.requestBody, sizes.requestWire) = (number + 1, number + 2, number + 3)
            (sizes.responseHead, sizes.responseBody, sizes.responseWire) = (number + 4, number + 5, number + 6)
            return .progress(id, tally, sizes)
        }
        func expect(_ status: Int, _ number: Int64, at location: SourceLocation = #_sourceLocation) throws {
            feed.recorder.flush()
            let record = try #require(try reader.record(id))
            guard case .progress(_, let tally, let sizes) = progress(number) else { return }
            #expect(record.status == status, sourceLocation: location)
            #expect(record.tally == tally, sourceLocation: location)
            #expect(record.sizes == sizes, sourceLocation: location)
            #expect(record.state == .inFlight && record.url == Samples.record(1).url, sourceLocation: location)
        }
        func updated(_ status: Int) -> RecordEvent {
            var record = Samples.record(1)
            record.status = status
            return .updated(record, RoundTripTests.fullMessages)
        }
        // An exchange that nobody has heard of, or that is over, has no row to write.
        feed(progress(9))
        feed(.opened(Samples.record(1), ExchangeMessages()), progress(1))
        try expect(0, 1)
        feed(progress(2), progress(3))
        try expect(0, 3)
        feed(updated(201), progress(4))
        try expect(201, 4)
        feed(progress(5), updated(202))
        try expect(202, 5)
        // Made before the counts, told after them.
        feed(updated(203))
        try expect(203, 5)
        feed(progress(6), updated(204), progress(7))
        try expect(204, 7)
        #expect(try reader.exchange(id)?.messages == RoundTripTests.fullMessages)

        let ended = Samples.record(1, state: .complete)
        feed(progress(8), .finished(ended, ExchangeMessages()), progress(9))
        feed.recorder.flush()
        #expect(try reader.record(id) == ended)
        #expect(try reader.count() == 1)
        feed.recorder.close()
    }

    @Test("What was counted and had arrived is there when the recorder ends first")
    func interrupted() throws {
        let feed = try Feed(path: scratch.session)
        var tally = MessageCounts()
        tally.fromServer = 5
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.submit(events(arrivals(5), .responseReceived, of: id) + [.progress(id, tally, Sizes())])
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.record(id)?.state == .interrupted)
        #expect(try reader.record(id)?.tally == tally)
        #expect(try reader.arrivals(of: id, side: .responseReceived) == arrivals(5))
        #expect(try reader.bodySize(of: id, side: .responseReceived) == 50)
    }

    @Test("A lossy recorder tells no arrival of what it dropped")
    func lossy() throws {
        var configuration = RecorderConfiguration(path: scratch.session, mode: .lossy)
        configuration.credit = 10_000
        let feed = try Feed(configuration)
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.submit(events(arrivals(1), .responseReceived, of: id))
        feed.recorder.flush()
        feed(
            .arrival(id, .responseReceived, offset: 10, at: 5),
            .body(id, .responseReceived, Samples.bytes(50_000, seed: 1))
        )
        feed(.arrival(id, .responseReceived, offset: 50_010, at: 6))
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.arrivals(of: id, side: .responseReceived) == arrivals(1))
        #expect(try reader.bodySize(of: id, side: .responseReceived) == 10)
    }

    @Test(
        "Damaged arrivals are errors that name the place",
        arguments: [
            "UPDATE arrival SET at = 'noon'", "UPDATE arrival SET at = 9223372036854775807",
            "UPDATE arrival SET offset = 'x'",
        ]
    )
    func damaged(sql: String) throws {
        let feed = try Feed(path: scratch.session)
        feed(.opened(Samples.record(1), ExchangeMessages()))
        feed.submit(events(arrivals(1), .responseReceived, of: id))
        feed.recorder.close()
        _ = try sqlite(scratch.session, sql)
        let reader = try SessionReader(path: scratch.session)
        let error = sessionError { try reader.arrivals(of: id, side: .responseReceived) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("arrival of exchange 1") == true)
    }
}

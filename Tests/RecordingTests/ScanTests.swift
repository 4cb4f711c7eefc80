import Content
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("A pass over a session")
struct ScanTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Records what differs in every column, with gaps between the numbers.
    private func varied() throws -> (SessionReader, [ExchangeRecord], Feed) {
        var records: [ExchangeRecord] = []
        for number in Int64(1)...400 where number % 7 != 0 {
            var record = Samples.record(number, state: number % 5 == 0 ? .inFlight : .complete)
            record.kind = ExchangeRecord.Kind.allCases[Int(number) % ExchangeRecord.Kind.allCases.count]
            record.method = ["GET", "POST", ""][Int(number % 3)]
            record.url.scheme = ["http", "https", "tunnel", "ws"][Int(number % 4)]
            record.url.host = ["a.example", "::1", "b.example"][Int(number % 3)]
            record.url.port = [80, 443, 8_080][Int(number % 3)]
            record.url.path = ["/", "*", "", "/x/\(number)"][Int(number % 4)]
            record.url.query = number % 2 == 0 ? nil : number % 3 == 0 ? "" : "q=\(number)"
            record.status = [0, 200, 404, 500][Int(number % 4)]
            record.clientVersion = number % 2 == 0 ? .http2 : .http11
            record.upstreamVersion = number % 3 == 0 ? nil : .http10
            record.mediaType = ["", "application/json", "application/grpc+proto", "text/html"][Int(number % 4)]
            record.sizes.responseBody = number * 10
            record.timings.total = number % 6 == 0 ? nil : number * 1_000
            record.tally.fromServer = number % 10
            record.flags = ExchangeRecord.Flags(rawValue: UInt32(number) & 0x1FFF)
            if number % 8 == 0 {
                record.state = .failed
                record.failure = ExchangeFailure(number % 16 == 0 ? .dns : .reset, "gone")
            }
            if number % 9 == 0 { record.grpc = GRPCOutcome(status: Int(number % 3)) }
            records.append(record)
        }
        let feed = try Feed(path: scratch.session)
        feed.submit(
            records.flatMap { record -> [RecordEvent] in
                let opened = RecordEvent.opened(record, ExchangeMessages())
                return record.state == .inFlight ? [opened] : [opened, .finished(record, ExchangeMessages())]
            }
        )
        feed.recorder.flush()
        // The recorder goes along: what is in flight is interrupted when it ends.
        return (try SessionReader(path: scratch.session), records, feed)
    }

    @Test("finds exactly what the filter finds in the records")
    func exactly() throws {
        let (reader, records, feed) = try varied()
        defer { feed.recorder.close() }
        let properties = Filter.properties.map { "is:\($0.name)" }
        let filters =
            properties + [
                "", "host:a*", "host:b.example method:get", "url:https://[::1]:8080/x/*", "x/3", "path:/x/*",
                "query:q=",
                "scheme:tunnel", "port:80", "status:4xx,5xx", "status:0", "type:json", "type:text/*", "size:>1kb",
                "time:>100ms", "!time:>1ms", "messages:>5", "id:10..20", "version:h2", "version:1.0", "grpc:*",
                "grpc:>0", "since:2026-11-18T11:06:40.000100Z", "error or id:3", "!(method:get or status:200)",
            ]
        for text in filters {
            let filter = try Filter(text)
            let expected = records.filter { filter.decides($0) == true }.map(\.id.number)
            var scan = ExchangeScan(filter)
            #expect(try reader.step(&scan, in: 1...400, order: .oldestFirst).matches == expected, "\(text)")
            #expect(try reader.step(&scan, in: 1...400).matches == expected.reversed(), "\(text)")
            let some = Array(stride(from: Int64(1), through: 400, by: 3))
            let expectedOfSome = expected.filter(some.contains)
            #expect(try reader.step(&scan, of: some[...]).matches == expectedOfSome, "\(text)")
            #expect(try reader.step(&scan, of: some.reversed()[...]).matches == expectedOfSome.reversed(), "\(text)")
            let far: [Int64] = [400, 1, 9_000, 200]
            #expect(try Set(reader.step(&scan, of: far[...]).matches) == Set(expected).intersection(far), "\(text)")
        }
    }

    @Test("can be made in steps of any length, and tells numbers without a row and what is in flight")
    func steps() throws {
        let (reader, records, feed) = try varied()
        defer { feed.recorder.close() }
        let known = Set(records.map(\.id.number))
        for (order, text) in [
            (SessionReader.Order.oldestFirst, "status:200"), (.newestFirst, "status:200"),
            // With messages it goes down in blocks.
            (.oldestFirst, "status:200 !header:x-never"), (.newestFirst, "status:200 !header:x-never"),
        ] {
            var scan = ExchangeScan(try Filter(text))
            scan.blockRows = 37
            var range: ClosedRange<Int64>? = 1...410
            var whole = ScanStep()
            while let ids = range {
                let step = try reader.step(&scan, in: ids, order: order, limit: 3)
                #expect(step.matches.count <= 3)
                whole.matches += step.matches
                whole.missing += step.missing
                whole.inFlight += step.inFlight
                whole.looked += step.looked
                range = step.next.map { order == .oldestFirst ? $0...410 : 1...$0 }
            }
            #expect(whole.matches.sorted() == records.filter { $0.status == 200 }.map(\.id.number))
            #expect(Set(whole.missing) == Set(1...410).subtracting(known))
            #expect(whole.missing.count == 410 - known.count)
            #expect(Set(whole.inFlight) == Set(records.filter { $0.state == .inFlight }.map(\.id.number)))
            #expect(whole.looked == 410)
        }
        var scan = ExchangeScan(.everything)
        let paused = try reader.step(&scan, in: 1...400, order: .oldestFirst, until: { true })
        #expect(paused.matches.count == 256)
        #expect(paused.next != nil)
        #expect(try reader.step(&scan, in: Int64.min...Int64.max).looked == RecordedRange.numbers.upperBound)
        var withMessages = ExchangeScan(try Filter("!header:x-never"))
        #expect(try reader.step(&withMessages, in: Int64.min...Int64.max).looked == RecordedRange.numbers.upperBound)
        #expect(try reader.step(&scan, in: 500...600).missing == Array(500...600))
    }

    @Test("looks into messages and bodies where the filter asks for them")
    func messages() throws {
        let feed = try Feed(path: scratch.session)
        var messages = ExchangeMessages()
        messages.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX-Cache: hit\r\nContent-Encoding: gzip\r\n\r\n")
        let body = try ContentEncoder.encode(ByteBuffer(string: "a needle in hay"), coding: .gzip)
        feed.submit(Samples.exchange(1, bodies: [(.responseReceived, body)], messages: messages))
        feed.submit(Samples.exchange(2, bodies: [(.responseReceived, ByteBuffer(string: "hay"))]))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        for (text, expected) in [("header:x-cache", [1]), ("body:hay", [1, 2]), ("body:needle", [1])]
            as [(String, [Int64])]
        {
            var scan = ExchangeScan(try Filter(text))
            #expect(try reader.step(&scan, in: 1...2, order: .oldestFirst).matches == expected, "\(text)")
            let filter = try Filter(text)
            let passing = try reader.records(limit: 9).filter { try reader.matches(filter, $0) }
            #expect(passing.map(\.id.number) == expected, "\(text)")
        }
    }

    @Test("knows the lowest and the highest number, and of an empty session none")
    func bounds() throws {
        let feed = try Feed(path: scratch.session)
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.bounds() == nil)
        feed.submit(Samples.exchange(5) + Samples.exchange(9))
        feed.recorder.flush()
        #expect(try reader.bounds() == 5...9)
        #expect(try reader.records([9, 7, 5]).map { $0?.id.number } == [9, nil, 5])
    }
}

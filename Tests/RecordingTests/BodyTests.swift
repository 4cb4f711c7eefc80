import HTTPModel
import NIOCore
import Recording
import Support
import Testing

@Suite("Bodies")
struct BodyTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    static let sizes = [0, 1, 4_096, 4_097, 262_143, 262_144, 262_145, 3 << 20]

    @Test("Bodies of every size read back on every side, whole and in ranges", arguments: sizes, [1_000_000, 16_384])
    func everySize(size: Int, part: Int) throws {
        let feed = try Feed(path: scratch.session)
        let bodies = BodySide.allCases.map { ($0, Samples.bytes(size, seed: UInt64($0.rawValue) + 1)) }
        feed.submit(Samples.exchange(1, bodies: bodies, part: part))
        feed.recorder.close()

        let reader = try SessionReader(path: scratch.session)
        for (side, body) in bodies {
            #expect(try reader.bodySize(of: ExchangeID(1), side: side) == Int64(size))
            #expect(try reader.body(of: ExchangeID(1), side: side, limit: size + 1) == body)
            #expect(try reader.body(of: ExchangeID(1), side: side, offset: Int64(size), limit: 1).readableBytes == 0)
            for (offset, limit) in [(0, 1), (size / 2, 100), (size - 1, 5), (65_530, 12), (4_095, 65_540)]
            where offset >= 0 && offset < size {
                let expected = body.getSlice(at: offset, length: min(limit, size - offset))
                #expect(try reader.body(of: ExchangeID(1), side: side, offset: Int64(offset), limit: limit) == expected)
            }
        }
        #expect(try reader.body(of: ExchangeID(1), side: .requestSent, offset: -1, limit: 1).readableBytes == 0)
        #expect(try reader.body(of: ExchangeID(1), side: .requestSent, offset: 0, limit: -1).readableBytes == 0)
    }

    @Test("Bodies that come byte by byte and interleaved read back whole")
    func interleaved() throws {
        let feed = try Feed(path: scratch.session)
        let bodies = (1...3).map { Samples.bytes(70_000, seed: $0) }
        for id in 1...3 { feed(.opened(Samples.record(Int64(id)), ExchangeMessages())) }
        var generator = SplitMix(11)
        var offsets = [0, 0, 0]
        while let index = offsets.indices.filter({ offsets[$0] < 70_000 }).randomElement(using: &generator) {
            let length = min(Int.random(in: 1...3_000, using: &generator), 70_000 - offsets[index])
            let part = try #require(bodies[index].getSlice(at: offsets[index], length: length))
            feed(.body(ExchangeID(Int64(index + 1)), .responseReceived, part))
            offsets[index] += length
            if length % 9 == 0 { feed.recorder.flush() }
        }
        for id in 1...3 { feed(.finished(Samples.record(Int64(id), state: .complete), ExchangeMessages())) }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        for id in 1...3 {
            let read = try reader.body(of: ExchangeID(Int64(id)), side: .responseReceived, limit: 1 << 20)
            #expect(read == bodies[id - 1])
        }
    }

    @Test("A sent side that no stage changed reads the received one; an emptied one reads empty")
    func sentSides() throws {
        let feed = try Feed(path: scratch.session)
        let body = Samples.bytes(5_000, seed: 5)
        feed.submit(
            Samples.exchange(
                1,
                bodies: [(.requestReceived, body), (.responseReceived, body), (.responseSent, ByteBuffer())]
            )
        )
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let id = ExchangeID(1)
        #expect(try reader.body(of: id, side: .requestSent, limit: 9_999) == body)
        #expect(try reader.bodySize(of: id, side: .requestSent) == nil)
        #expect(try reader.body(of: id, side: .responseSent, limit: 9_999).readableBytes == 0)
        #expect(try reader.bodySize(of: id, side: .responseSent) == 0)
        #expect(try reader.body(of: ExchangeID(2), side: .responseSent, limit: 9_999).readableBytes == 0)
    }

    @Test("A small body of an exchange that stays open becomes visible while it is open")
    func openStream() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.tailMilliseconds = 0
        let feed = try Feed(configuration)
        let reader = try SessionReader(path: scratch.session)
        let id = ExchangeID(1)
        feed(.opened(Samples.record(1), ExchangeMessages()), .body(id, .responseReceived, ByteBuffer(string: "one ")))
        // Visible when the recorder's thread has looked again by itself; the test only waits for it.
        var seen = ByteBuffer()
        while seen.readableBytes == 0 { seen = try reader.body(of: id, side: .responseReceived, limit: 100) }
        #expect(seen == ByteBuffer(string: "one "))
        #expect(try reader.record(id)?.state == .inFlight)

        feed(.body(id, .responseReceived, ByteBuffer(string: "two ")))
        while seen.readableBytes < 8 { seen = try reader.body(of: id, side: .responseReceived, limit: 100) }
        feed(.body(id, .responseReceived, ByteBuffer(string: "three")))
        feed(.finished(Samples.record(1, state: .complete), ExchangeMessages()))
        feed.recorder.close()
        let whole = try SessionReader(path: scratch.session).body(of: id, side: .responseReceived, limit: 100)
        #expect(whole == ByteBuffer(string: "one two three"))
    }
}

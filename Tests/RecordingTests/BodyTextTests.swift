import Content
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("Text in bodies")
struct BodyTextTests {
    @Test("is found where a plain search finds it, however the body is cut")
    func likePlainSearch() throws {
        var seed: UInt64 = 42
        func random(_ limit: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % UInt64(limit))
        }
        for _ in 0..<2_000 {
            let body = (0..<random(60)).map { _ in [UInt8(97), 98, 65, 66][random(4)] }
            let needle = String(decoding: (0..<random(5) + 1).map { _ in UInt8(97 + random(2)) }, as: UTF8.self)
            for ignoresCase in [false, true] {
                let text = try #require(BodyText(needle, ignoringCase: ignoresCase))
                let own = String(decoding: body, as: UTF8.self)
                let hay = Array((ignoresCase ? own.lowercased() : own).utf8)
                let expected = (0..<hay.count).first { hay[$0...].starts(with: needle.utf8) }
                var search = BodySearch(text)
                var found: Int64?
                var rest = body[...]
                while !rest.isEmpty, found == nil {
                    let piece = Array(rest.prefix(random(7) + 1))
                    rest = rest.dropFirst(piece.count)
                    found = piece.withUnsafeBytes { search.feed($0) }
                }
                #expect(found == expected.map(Int64.init), "\(needle) in \(own)")
            }
        }
        #expect(BodyText("") == nil)
        #expect(BodyText(String(repeating: "x", count: BodyText.maximumLength + 1)) == nil)
    }

    @Test("is found on every side, across chunks, and where content codings are undone")
    func sides() throws {
        let scratch = try Scratch()
        let feed = try Feed(path: scratch.session)
        var long = Samples.bytes(65_530, seed: 3)
        long.writeString("Needle here")
        long.writeImmutableBuffer(Samples.bytes(70_000, seed: 4))
        var coded = ExchangeMessages()
        coded.responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nCONTENT-ENCODING: gzip\r\n\r\n")
        let hay = ByteBuffer(repeating: UInt8(ascii: "h"), count: 100_000)
        var spaced = Samples.bytes(50_000, seed: 5)
        spaced.writeString("needle")
        spaced.writeImmutableBuffer(hay)
        let changed = Samples.exchange(
            1,
            bodies: [
                (.requestReceived, ByteBuffer(string: "a needle")), (.requestSent, long),
                (.responseReceived, ByteBuffer(string: "none")), (.responseSent, ByteBuffer(string: "NEEDLE")),
            ]
        )
        feed.submit(
            changed.map { event in
                guard case .finished(var record, let messages) = event else { return event }
                record.flags = [.requestBodyChanged, .responseBodyChanged]
                return .finished(record, messages)
            }
        )
        let gzip = try ContentEncoder.encode(spaced, coding: .gzip)
        feed.submit(Samples.exchange(2, bodies: [(.responseReceived, gzip)], messages: coded))
        feed.submit(Samples.exchange(3, bodies: [(.responseReceived, ByteBuffer(string: "needle"))], messages: coded))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let needle = try #require(BodyText("needle"))
        #expect(
            try reader.hits(of: needle, in: ExchangeID(1)).map { [Int64($0.side.rawValue), $0.offset] } == [
                [0, 2], [3, 0], [1, 65_530],
            ]
        )
        #expect(
            try reader.hits(of: needle, in: ExchangeID(2))
                == [BodyHit(side: .responseReceived, offset: 50_000, isDecoded: true)]
        )
        #expect(try reader.hits(of: needle, in: ExchangeID(3)).isEmpty)
        #expect(try reader.hits(of: needle, in: ExchangeID(4)).isEmpty)
        let exact = try #require(BodyText("needle", ignoringCase: false))
        #expect(try reader.hits(of: exact, in: ExchangeID(1)).map(\.side) == [.requestReceived])
    }
}

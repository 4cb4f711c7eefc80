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
                let text = BodyText(Glob(containing: needle, ignoringCase: ignoresCase))
                let own = String(decoding: body, as: UTF8.self)
                let hay = ignoresCase ? own.lowercased() : own
                var search = BodySearch(.text(text))
                var isFound = false
                var rest = body[...]
                while !rest.isEmpty, !isFound {
                    let piece = Array(rest.prefix(random(7) + 1))
                    rest = rest.dropFirst(piece.count)
                    isFound = piece.withUnsafeBytes { search.finds($0) }
                }
                #expect(isFound == hay.contains(needle), "\(needle) in \(own)")
            }
        }
    }

    @Test(
        "is found in the charset that a body has, in letters of either case",
        arguments: [
            ("iso-8859-1", "hello gr\u{F6}\u{DF}e", "GR\u{D6}\u{DF}E"),
            ("windows-1251", "\u{41F}\u{440}\u{438}\u{432}\u{435}\u{442}", "\u{43F}\u{440}\u{418}\u{432}"),
            ("gbk", "\u{4F60}\u{597D}\u{4E16}\u{754C}", "\u{597D}\u{4E16}"),
            ("shift_jis", "\u{3053}\u{3093}\u{306B}\u{3061}\u{306F}", "\u{3093}\u{306B}"),
            ("utf-16le", "hello gr\u{F6}\u{DF}e", "hello"), ("utf-16be", "Hello gr\u{F6}\u{DF}e", "hELLO GR\u{D6}"),
            ("utf-8", "hello gr\u{F6}\u{DF}e", "GR\u{D6}\u{DF}"),
            ("utf-8", "\u{41F}\u{440}\u{438}", "\u{43F}\u{420}\u{418}"),
        ]
    )
    func charsets(charset: String, text: String, needle: String) throws {
        let bytes = try #require(TextEncoder.exactly(text, as: Charset(charset)))
        let head = Array("HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=\(charset)\r\n\r\n".utf8)
        func isFound(_ needle: String, _ head: [UInt8], piece: Int, expression: Bool = false) throws -> Bool {
            try head.withUnsafeBytes { head in
                let question: BodyQuestion =
                    expression
                    ? .expression(try FilterExpression(needle, ignoringCase: true))
                    : .text(BodyText(Glob(containing: needle, ignoringCase: true)))
                var search = BodySearch(question, head: head)
                var rest = Array(bytes.readableBytesView)[...]
                while !rest.isEmpty {
                    let part = Array(rest.prefix(piece))
                    rest = rest.dropFirst(piece)
                    if part.withUnsafeBytes({ search.finds($0) }) { return true }
                }
                return search.findsAtEnd(of: 1)
            }
        }
        #expect(try isFound(needle, head, piece: 1 << 16) && isFound(needle, head, piece: 9))
        #expect(try isFound(String(text.suffix(2)), head, piece: 1 << 16, expression: true))
        #expect(try !isFound("\(needle)x", head, piece: 1 << 16))
        // Latin text is told by its look, too.
        if charset == "iso-8859-1" { #expect(try isFound(needle, [], piece: 1 << 16)) }
    }

    @Test("mixes no bytes of two cases")
    func mixed() {
        // U+044F is D1 8F, U+042F D0 AF, U+046F D1 AF.
        let text = BodyText(Glob(containing: "\u{44F}", ignoringCase: true))
        for (other, isFound) in [("\u{44F}", true), ("\u{42F}", true), ("\u{46F}", false), ("\u{46F}\u{42F}", true)] {
            #expect(Array(other.utf8).withUnsafeBytes { text.isFound(in: $0) } == isFound)
        }
    }

    @Test("is found in what does not have its coding, however the body is cut", arguments: 1...12)
    func uncoded(piece: Int) {
        for (coding, text) in [("gzip", "a needle"), ("zstd", "a needle"), ("br, gzip", "\u{1}\u{2}needle")] {
            var search = BodySearch(.text(BodyText(Glob(containing: "needle", ignoringCase: false))), coding: coding)
            var isFound = false
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty, !isFound {
                let part = Array(rest.prefix(piece))
                rest = rest.dropFirst(piece)
                isFound = part.withUnsafeBytes { search.finds($0) }
            }
            #expect(isFound, "\(coding)")
        }
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
        let other = try ContentEncoder.encode(ByteBuffer(string: "other"), coding: .gzip)
        feed.submit(Samples.exchange(4, bodies: [(.responseReceived, other)], messages: coded))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        func found(_ filter: String) throws -> [Int64] { try reader.numbers(matching: Filter(filter)) }
        // The third does not have the coding that its head names.
        #expect(try found("body:needle") == [1, 2, 3])
        #expect(try found("reqbody:NEEDLE") == [1])
        #expect(try found("resbody:needle") == [1, 2, 3])
        #expect(try found("reqbody:\"needle here\"") == [1])
        #expect(try found("resbody:\"needlehhh\"") == [2])
        #expect(try found("body:needles").isEmpty)
        #expect(try found("!body:needle") == [4])
    }

    @Test("is not searched for beyond a gap in a damaged session")
    func gap() throws {
        let scratch = try Scratch()
        let feed = try Feed(path: scratch.session)
        var long = ByteBuffer(repeating: UInt8(ascii: "."), count: 3 * Schema.chunkLength)
        long.setString("needle", at: 2 * Schema.chunkLength - 3)
        feed.submit(Samples.exchange(1, bodies: [(.responseReceived, long)]))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.numbers(matching: Filter("body:needle")) == [1])
        _ = try sqlite(scratch.session, "DELETE FROM chunk WHERE offset = \(Schema.chunkLength)")
        #expect(try reader.numbers(matching: Filter("body:needle")).isEmpty)
    }
}

import HTTPModel
import NIOCore
import Support
import Testing
import Wire

/// Framing on the way out.
@Suite struct HTTP1EncoderTests {
    @Test(
        "a chunk's size is hexadecimal, without leading zeros",
        arguments: [1, 9, 10, 15, 16, 255, 256, 4_096, 65_537]
    )
    func chunkSizes(count: Int) {
        let part = ByteBuffer(repeating: 0x61, count: count)
        var output = ByteBuffer()
        HTTP1Encoder.writePart(part, framing: .chunked, into: &output)
        let expected = String(count, radix: 16) + "\r\n" + String(repeating: "a", count: count) + "\r\n"
        #expect(String(buffer: output) == expected)
        #expect(
            HTTP1Encoder.partPrefix(count: count, framing: .chunked).map { String(buffer: $0) } == String(
                count,
                radix: 16
            ) + "\r\n"
        )
    }

    @Test("an empty part writes nothing, so that it does not end the body")
    func emptyPart() {
        var output = ByteBuffer()
        HTTP1Encoder.writePart(ByteBuffer(), framing: .chunked, into: &output)
        #expect(output.readableBytes == 0)
    }

    @Test("only chunked puts something around parts", arguments: [BodyFraming.none, .length(3), .untilClose])
    func unframed(framing: BodyFraming) {
        var output = ByteBuffer()
        HTTP1Encoder.writePart(ByteBuffer(string: "abc"), framing: framing, into: &output)
        HTTP1Encoder.writeEnd(framing: framing, into: &output)
        #expect(String(buffer: output) == "abc")
        #expect(HTTP1Encoder.partPrefix(count: 3, framing: framing) == nil)
        #expect(HTTP1Encoder.partSuffix(framing: framing) == nil)
        #expect(HTTP1Encoder.end(framing: framing) == nil)
    }

    @Test("what is encoded is what the parser reads back, trailers included, over random parts")
    func roundTrip() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for _ in 0..<50 {
            var output = ByteBuffer()
            HTTP1Encoder.writeHead(
                RequestHead(method: "POST", target: "/", fields: [("Transfer-Encoding", "chunked")]),
                into: &output
            )
            var body: [UInt8] = []
            for _ in 0..<Int.random(in: 0...5, using: &random) {
                let part = (0..<Int.random(in: 0...5_000, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                body += part
                if Bool.random(using: &random), !part.isEmpty {
                    output.writeImmutableBuffer(
                        HTTP1Encoder.partPrefix(count: part.count, framing: .chunked) ?? ByteBuffer()
                    )
                    output.writeBytes(part)
                    output.writeImmutableBuffer(HTTP1Encoder.partSuffix(framing: .chunked) ?? ByteBuffer())
                } else {
                    HTTP1Encoder.writePart(ByteBuffer(bytes: part), framing: .chunked, into: &output)
                }
            }
            var trailers = FieldSection()
            if Bool.random(using: &random) { trailers.append("X-Sum", "1") }
            output.writeImmutableBuffer(HTTP1Encoder.end(framing: .chunked, trailers: trailers) ?? ByteBuffer())

            var parser = HTTP1RequestParser()
            let size = output.readableBytes
            parser.receive(output)
            var read: [UInt8] = []
            var ended: String?
            while let event = try parser.next() {
                switch event {
                case .head(_, let framing): #expect(framing == .chunked)
                case .part(let part): read += Array(part.readableBytesView)
                case .end(let found): ended = found?.description ?? ""
                }
            }
            #expect(read == body, "seed \(seed)")
            #expect(ended == trailers.description, "seed \(seed)")
            #expect(parser.wireSize.head + Int(parser.wireSize.body) == size, "seed \(seed)")
        }
    }
}

/// Framing fields on the way out.
@Suite struct SentFramingTests {
    private func lines(_ fields: FieldSection) -> [String] {
        fields.map { "\($0.name): \($0.value)" }
    }

    private func settled(
        _ fields: [(String, String)],
        _ framing: BodyFraming,
        status: Int = 200,
        to method: String = "GET"
    ) -> [String] {
        var head = ResponseHead(status: status, fields: fields)
        SentFraming.settle(&head, as: framing, requestMethod: method)
        return lines(head.fields)
    }

    @Test("fields that say the right thing stay as they are, and the head stays unchanged")
    func untouched() throws {
        for (field, body, framing) in [
            ("CONTENT-length:  003", "abc", BodyFraming.length(3)),
            ("transfer-encoding:CHUNKED", "0\r\n\r\n", .chunked),
            ("Content-Length: 0", "", .length(0)), ("X: y", "", .none), ("Content-Length: 0", "", .none),
        ] {
            let text = "POST / HTTP/1.1\r\n\(field)\r\nLast: 1\r\n\r\n"
            var parser = HTTP1RequestParser()
            parser.receive(ByteBuffer(string: text + body))
            guard case .head(var head, _)? = try parser.next() else { continue }
            #expect(SentFraming.settle(&head, as: framing) == framing)
            #expect(!head.isChanged, "\(field)")
            #expect(String(buffer: head.serialized()) == text)
        }
    }

    @Test("a length is set in place")
    func lengthInPlace() {
        #expect(settled([("content-length", "5"), ("X", "1")], .length(7)) == ["content-length: 7", "X: 1"])
    }

    @Test("a length that was given twice is given once")
    func repeatedLength() {
        #expect(settled([("Content-Length", "5"), ("Content-length", "5")], .length(5)) == ["Content-Length: 5"])
        #expect(settled([("Content-Length", "5, 5")], .length(5)) == ["Content-Length: 5"])
    }

    @Test("a change of framing never leaves both fields")
    func change() {
        #expect(settled([("Content-Length", "5"), ("X", "1")], .chunked) == ["X: 1", "Transfer-Encoding: chunked"])
        #expect(settled([("Transfer-Encoding", "chunked"), ("X", "1")], .length(2)) == ["X: 1", "Content-Length: 2"])
        #expect(settled([("Transfer-Encoding", "gzip, chunked")], .chunked) == ["Transfer-Encoding: chunked"])
        #expect(settled([("Transfer-Encoding", "chunked"), ("Content-Length", "1")], .untilClose) == [])
    }

    @Test("an empty response says so, where it would otherwise last until the connection ends")
    func emptyResponse() {
        #expect(settled([], .none) == ["Content-Length: 0"])
        #expect(settled([], .none, status: 204) == [])
        #expect(settled([], .none, status: 304) == [])
        #expect(settled([], .none, to: "HEAD") == [])
    }

    @Test("responses without a body by nature may say what it would be, but never in two ways")
    func bodyless() {
        #expect(settled([("Content-Length", "500")], .none, to: "HEAD") == ["Content-Length: 500"])
        #expect(settled([("Content-Length", "500")], .none, status: 304) == ["Content-Length: 500"])
        #expect(
            settled([("Content-Length", "5"), ("Transfer-Encoding", "chunked")], .none, to: "HEAD")
                == ["Transfer-Encoding: chunked"]
        )
    }

    @Test("1xx, 204 and a 2xx to CONNECT have no framing but a length of zero")
    func noFraming() {
        #expect(settled([("Content-Length", "7")], .none, status: 204) == [])
        #expect(settled([("Content-Length", "0")], .none, status: 204) == ["Content-Length: 0"])
        #expect(settled([("Transfer-Encoding", "chunked")], .none, status: 101) == [])
        #expect(settled([("Content-Length", "7")], .none, to: "CONNECT") == [])
    }

    @Test("a request never lasts until the connection ends")
    func request() {
        var head = RequestHead(method: "POST", target: "/", fields: [("Content-Length", "4")])
        #expect(SentFraming.settle(&head, as: .untilClose) == .chunked)
        #expect(lines(head.fields) == ["Transfer-Encoding: chunked"])
        #expect(SentFraming.settle(&head, as: .none) == .none)
        #expect(lines(head.fields) == [])
    }
}

import Content
import NIOCore
import Support
import Testing

@Suite("Server-sent events and lines of JSON")
struct EventStreamTests {
    private func events(_ text: String, limit: Int = 4096) -> [StreamedMessage] {
        ServerSentEventReader(dataLimit: limit).messages(Array(text.utf8))
    }

    @Test("the examples of the standard (WHATWG HTML §9.2.6)")
    func published() {
        let stock = events("data: YHOO\ndata: +2\ndata: 10\n\n")
        #expect(stock.map(\.summary) == ["message YHOO\n+2\n10"])
        let second = events(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event")
        #expect(second.map(\.summary) == ["message first event", "message second event", "message  third event…"])
        #expect(second.map { $0.event?.id } == ["1", "", nil])
        let third = events("data\n\ndata\ndata\n\ndata:")
        #expect(third.map(\.summary) == ["message ", "message \n", "message …"])
        #expect(events("data:test\n\ndata: test\n\n").map(\.text) == ["test", "test"])
        let named = events("event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n")
        #expect(named.map(\.summary) == ["add 73857293", "remove 2153"])
    }

    @Test("fields, comments and line ends of every kind")
    func fields() {
        let text =
            "\u{FEFF}:hi\rid: 7\r\nretry: 250\nretry: x\nevent: a\revent: b\r\ndata: 1\r\rid: a\0b\ndata: 2\n\n:\nid: 9\n\n"
        let reader = ServerSentEventReader()
        let messages = reader.messages(Array(text.utf8))
        #expect(messages.map(\.summary) == ["b 1", "message 2"])
        #expect(messages[0].event?.id == "7")
        #expect(messages[0].event?.retry == 250)
        #expect(messages[1].event?.id == nil)
        #expect(reader.commentCount == 2)
        #expect(StreamCounter.Format.serverSentEvents.count([Array(text.utf8)]) == 2)
        #expect(events("event: x\n\nid: 1\n\n").isEmpty)
        #expect(events("\u{FEFF}data: x\n\n\u{FEFF}data: y\n\n").map(\.text) == ["x"])
    }

    @Test("long data is cut, and its size is whole")
    func long() {
        let text = "data: \(String(repeating: "é", count: 5000))\ndata: more\n\ndata: x\n\n"
        let messages = events(text, limit: 101)
        #expect(messages.first?.text == String(repeating: "é", count: 50))
        #expect(messages.first?.size == 10_005)
        #expect(messages.first?.leftOut == 9_904)
        #expect(messages.last?.text == "x")
        let joined = events("data: abc\ndata: def\n\n", limit: 4)
        #expect(joined.first?.text == "abc\n")
        #expect(joined.first?.size == 7)
        #expect(
            events("event: \(String(repeating: "n", count: 5000))\ndata: x\n\n").first?.event?.type.utf8.count == 1027
        )
    }

    @Test("where events stand in the stream")
    func ranges() {
        let messages = events(":c\n\ndata: a\n\n\r\nid: 1\r\ndata: b\r\n\r\n")
        #expect(messages.map(\.range) == [4..<13, 15..<32])
    }

    @Test("how the bytes are cut changes neither events nor counts")
    func splits() {
        let seed: UInt64 = 0x510C_E005
        print("seed \(seed)")
        var generator = SplitMix(seed)
        let parts = ["data", "data: x", "data:yé", "id: 3", "event: e", "retry: 5", ":c", "dat: a", "datax: b", "", ""]
        let ends = ["\n", "\r", "\r\n"]
        var text = "\u{FEFF}"
        for _ in 0..<300 {
            text += (parts.randomElement(using: &generator) ?? "") + (ends.randomElement(using: &generator) ?? "")
        }
        let bytes = Array((text + "data: end\n\n").utf8)
        let reference = ServerSentEventReader().messages(bytes)
        #expect(reference.count > 10)
        for pieces in bytes.splittings(seed: seed) {
            let found = ServerSentEventReader().messages(pieces)
            // The end of CR LF CR LF is seen with its LF or without, as the bytes come.
            #expect(found.map(\.summary) == reference.map(\.summary))
            #expect(StreamCounter.Format.serverSentEvents.count(pieces) == Int64(reference.count))
        }
    }

    @Test("lines are read without blanks, and a last one without a line feed is not whole")
    func lines() {
        let bytes = Array("{\"a\":1}\r\n\n  \n [2] \t\n\"x\ty\"\n{\"cut\":".utf8)
        for pieces in bytes.splittings(seed: 5) {
            let messages = JSONLineReader().messages(pieces)
            #expect(messages.map(\.summary) == ["line {\"a\":1}", "line [2]", "line \"x\ty\"", "line {\"cut\":…"])
            #expect(messages.map(\.size) == [7, 3, 5, 7])
            #expect(messages[0].range == 0..<9)
            #expect(messages[1].range.upperBound == 20)
            #expect(StreamCounter.Format.jsonLines.count(pieces) == 3)
            #expect(StreamCounter.Format.jsonLines.count(pieces, finishing: true) == 4)
        }
        #expect(JSONLineReader(textLimit: 3).messages(Array("[1,2,3]\n".utf8)).first?.text == "[1,")
        #expect(JSONLineReader(textLimit: 3).messages(Array("[1,2,3]\n".utf8)).first?.size == 7)
    }

    @Test("the texts of a JSON text sequence may hold line feeds (RFC 7464)")
    func sequence() {
        let bytes = Array(
            "\u{1E}{\"a\":\n \"}\\\"\u{7D}\"}\n\u{1E}\u{1E}12\n\u{1E}[1,\n2\u{1E}\"\u{2028}\"\n\u{1E}true".utf8
        )
        for pieces in bytes.splittings(seed: 6) {
            let messages = JSONLineReader().messages(pieces)
            #expect(
                messages.map(\.summary) == [
                    "line {\"a\":\n \"}\\\"}\"}", "line 12", "line [1,\n2…", "line \"\u{2028}\"", "line true…",
                ]
            )
            #expect(StreamCounter.Format.jsonLines.count(pieces) == 4)
        }
    }

    @Test("media types name their formats")
    func mediaTypes() {
        let formats: [(String, StreamCounter.Format?)] = [
            ("text/event-stream", .serverSentEvents), ("application/x-ndjson", .jsonLines),
            ("application/ndjson", .jsonLines), ("application/jsonl", .jsonLines), ("application/json-seq", .jsonLines),
            ("application/stream+json", .jsonLines), ("application/grpc", .grpc), ("application/grpc+proto", .grpc),
            ("application/grpc-web", .grpcWeb), ("application/grpc-web+json", .grpcWeb),
            ("application/grpc-web-text", .grpcWebText), ("application/grpc-web-text+proto", .grpcWebText),
            ("application/json", nil), ("text/html", nil), ("", nil), ("application/grpcx", nil),
        ]
        for (type, format) in formats { #expect(StreamCounter.Format(mediaType: type) == format, "\(type)") }
    }

    @Test("gRPC messages are counted, and grpc-web's trailers kept", arguments: [false, true])
    func grpc(_ asText: Bool) {
        let message: [UInt8] = [0, 0, 0, 0, 3, 1, 2, 3] + [1, 0, 0, 0, 0]
        let trailers = Array("grpc-status: 0\r\n".utf8)
        let web = message + message + [0x80, 0, 0, 0, UInt8(trailers.count)] + trailers
        let bytes = asText ? base64(Array(web.prefix(10))) + base64(Array(web.dropFirst(10))) : web
        for pieces in bytes.splittings(seed: 7) {
            var counter = StreamCounter(asText ? .grpcWebText : .grpcWeb)
            for piece in pieces { counter.feed(ByteBuffer(bytes: piece)) }
            #expect(counter.count == 4)
            #expect(counter.trailers == ByteBuffer(bytes: trailers))
        }
        #expect(StreamCounter.Format.grpc.count([message]) == 2)
        #expect(StreamCounter.Format.grpc.count([message + [0x80, 0, 0, 0, 0] + message]) == 2)
        #expect(StreamCounter.Format.grpcWebText.count([Array("AAAA*AAA".utf8)]) == 0)
        // Two messages, then something that is no base64: what came before it counts, however it is cut.
        let broken = base64([0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0]) + Array("AA*A".utf8)
        for pieces in broken.splittings(seed: 8) { #expect(StreamCounter.Format.grpcWebText.count(pieces) == 2) }
        var long = StreamCounter(.grpcWeb)
        long.feed(ByteBuffer(bytes: [0x80, 0, 1, 0, 0] + [UInt8](repeating: 65, count: 65_536)))
        #expect(long.trailers == nil)
    }

    private func base64(_ bytes: [UInt8]) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var output: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = Array(bytes[start..<min(start + 3, bytes.count)])
            let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for index in 0..<4 {
                output.append(index <= group.count ? alphabet[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "="))
            }
        }
        return output
    }

    @Test("random bytes crash no counter and no reader")
    func hostile() {
        let seed: UInt64 = 0x510C_E005
        print("seed \(seed)")
        var generator = SplitMix(seed)
        for _ in 0..<300 {
            let bytes = (0..<300).map { _ in
                Bool.random(using: &generator)
                    ? UInt8.random(in: 0...255, using: &generator)
                    : Array("data:\n\r\u{1E}{}[]\"\\ ".utf8).randomElement(using: &generator) ?? 0
            }
            for format in StreamCounter.Format.allCases {
                let whole = format.count([bytes], finishing: true)
                #expect(format.count(bytes.map { [$0] }, finishing: true) == whole)
            }
            _ = ServerSentEventReader(dataLimit: 8).messages(bytes)
            let lines = JSONLineReader(textLimit: 8).messages(bytes)
            #expect(StreamCounter.Format.jsonLines.count([bytes], finishing: true) == Int64(lines.count))
        }
    }
}

import HTTPModel
import NIOCore
import Testing
import Wire

/// One way to break the rules, and what the peer is told for it.
struct Malformed: CustomTestStringConvertible, Sendable {
    var name: String
    var bytes: ByteBuffer
    var verdict: String
    var role = HTTP2Session.Role.server

    var testDescription: String { name }

    /// A client that breaks the rules after a proper beginning.
    static func client(_ name: String, _ verdict: String, _ build: (inout HTTP2Frames) -> Void) -> Malformed {
        Malformed(name: name, bytes: HTTP2Frames.client(build), verdict: verdict)
    }

    /// A server that breaks them; requests on the streams 1 and 3 were made before.
    static func server(_ name: String, _ verdict: String, _ build: (inout HTTP2Frames) -> Void) -> Malformed {
        Malformed(name: name, bytes: HTTP2Frames.server(build), verdict: verdict, role: .client)
    }

    /// A request whose fields are wrong; the stream is reset and the connection lives on.
    static func head(_ name: String, _ fields: [(String, String)]) -> Malformed {
        client(name, "rst 1 PROTOCOL_ERROR") { $0.head(fields) }
    }
}

@Suite("HTTP/2 against the rules")
struct HTTP2MalformedTests {
    static let connection: [Malformed] = [
        Malformed(
            name: "no preface",
            bytes: ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n      "),
            verdict: "goaway PROTOCOL_ERROR"
        ),
        Malformed(
            name: "SETTINGS does not come first",
            bytes: {
                var frames = HTTP2Frames()
                frames.add(.ping, Array(repeating: 0, count: 8))
                return ByteBuffer(string: HTTP2Frames.preface + String(buffer: frames.bytes))
            }(),
            verdict: "goaway PROTOCOL_ERROR"
        ),
        .client("frame over 16384 bytes", "goaway FRAME_SIZE_ERROR") {
            $0.request(isEnd: false)
            $0.add(.data, on: 1, Array(repeating: 0, count: 16385))
        },
        .client("unknown frame over 16384 bytes", "goaway FRAME_SIZE_ERROR") {
            $0.add(.unknown, Array(repeating: 0, count: 16385))
        },
        .client("DATA on stream 0", "goaway PROTOCOL_ERROR") { $0.data("x", on: 0) },
        .client("DATA on an idle stream", "goaway PROTOCOL_ERROR") { $0.data("x", on: 5) },
        .client("DATA after END_STREAM", "goaway STREAM_CLOSED") {
            $0.request()
            $0.data("x")
        },
        .client("DATA with more padding than payload", "goaway PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.add(.data, flags: HTTP2Frames.padded, on: 1, [5, 0, 0])
        },
        .client("DATA with room for no padding length", "goaway PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.add(.data, flags: HTTP2Frames.padded, on: 1, [])
        },
        .client("HEADERS on stream 0", "goaway PROTOCOL_ERROR") { $0.request(on: 0) },
        .client("HEADERS on an even stream", "goaway PROTOCOL_ERROR") { $0.request(on: 2) },
        .client("HEADERS on a stream that was passed over", "goaway PROTOCOL_ERROR") {
            $0.request(on: 5)
            $0.request(on: 3)
        },
        .client("HEADERS after END_STREAM", "goaway STREAM_CLOSED") {
            $0.request()
            $0.request()
        },
        .client("HEADERS after RST_STREAM", "goaway STREAM_CLOSED") {
            $0.request(isEnd: false)
            $0.add(.resetStream, on: 1, big(UInt32(8)))
            $0.request()
        },
        .client("DATA after RST_STREAM", "goaway STREAM_CLOSED") {
            $0.request(isEnd: false)
            $0.add(.resetStream, on: 1, big(UInt32(8)))
            $0.data("x")
        },
        .client("HEADERS that depends on itself", "goaway PROTOCOL_ERROR") {
            let flags = HTTP2Frames.priority | HTTP2Frames.endHeaders | HTTP2Frames.endStream
            $0.add(.headers, flags: flags, on: 1, big(UInt32(1)) + [16] + block(HTTP2Frames.pseudo))
        },
        .client("HEADERS with more padding than payload", "goaway PROTOCOL_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.padded | HTTP2Frames.endHeaders, on: 1, [200, 0, 0])
        },
        .client("HEADERS too short for its priority", "goaway FRAME_SIZE_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.priority | HTTP2Frames.endHeaders, on: 1, [0, 0])
        },
        .client("HPACK index out of the table", "goaway COMPRESSION_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.endHeaders, on: 1, [0xFF, 0xFF, 0x7F])
        },
        .client("HPACK index 0", "goaway COMPRESSION_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.endHeaders, on: 1, [0x80])
        },
        .client("HPACK literal cut off", "goaway COMPRESSION_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.endHeaders, on: 1, [0x00, 0x05, 0x61])
        },
        .client("HPACK table larger than announced", "goaway COMPRESSION_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.endHeaders, on: 1, [0x3F, 0xE2, 0x1F] + block(HTTP2Frames.pseudo))
        },
        .client("HPACK padding of Huffman code wrong", "goaway COMPRESSION_ERROR") {
            $0.add(.headers, flags: HTTP2Frames.endHeaders, on: 1, [0x00, 0x81, 0x00, 0x00])
        },
        .client("PRIORITY on stream 0", "goaway PROTOCOL_ERROR") { $0.add(.priority, [0, 0, 0, 1, 0]) },
        .client("PRIORITY of a wrong length", "goaway FRAME_SIZE_ERROR") { $0.add(.priority, on: 1, [0, 0, 0, 1]) },
        .client("PRIORITY on itself", "goaway PROTOCOL_ERROR") { $0.add(.priority, on: 1, [0, 0, 0, 1, 0]) },
        .client("RST_STREAM on stream 0", "goaway PROTOCOL_ERROR") { $0.add(.resetStream, big(UInt32(8))) },
        .client("RST_STREAM on an idle stream", "goaway PROTOCOL_ERROR") {
            $0.add(.resetStream, on: 1, big(UInt32(8)))
        },
        .client("RST_STREAM of a wrong length", "goaway FRAME_SIZE_ERROR") {
            $0.request(isEnd: false)
            $0.add(.resetStream, on: 1, [0, 0, 8])
        },
        .client("SETTINGS on a stream", "goaway PROTOCOL_ERROR") { $0.add(.settings, on: 1) },
        .client("SETTINGS of a wrong length", "goaway FRAME_SIZE_ERROR") { $0.add(.settings, [0, 1, 0]) },
        .client("SETTINGS acknowledgement with a payload", "goaway FRAME_SIZE_ERROR") {
            $0.add(.settings, flags: HTTP2Frames.acknowledgement, [0, 1, 0, 0, 0, 0])
        },
        .client("SETTINGS acknowledgement of nothing", "goaway PROTOCOL_ERROR") {
            $0.add(.settings, flags: HTTP2Frames.acknowledgement)
        },
        .client("SETTINGS_ENABLE_PUSH of 2", "goaway PROTOCOL_ERROR") { $0.settings([(2, 2)]) },
        .client("SETTINGS_INITIAL_WINDOW_SIZE over 2^31-1", "goaway FLOW_CONTROL_ERROR") {
            $0.settings([(4, 0x8000_0000)])
        },
        .client("SETTINGS_MAX_FRAME_SIZE too small", "goaway PROTOCOL_ERROR") { $0.settings([(5, 16383)]) },
        .client("SETTINGS_MAX_FRAME_SIZE too large", "goaway PROTOCOL_ERROR") { $0.settings([(5, 1 << 24)]) },
        .client("SETTINGS_ENABLE_CONNECT_PROTOCOL of 2", "goaway PROTOCOL_ERROR") { $0.settings([(8, 2)]) },
        .client("SETTINGS with more than 32 entries", "goaway ENHANCE_YOUR_CALM") {
            $0.settings(Array(repeating: (3, 100), count: 33))
        },
        .client("PUSH_PROMISE from a client", "goaway PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.add(.pushPromise, flags: HTTP2Frames.endHeaders, on: 1, big(UInt32(2)) + block(HTTP2Frames.pseudo))
        },
        .client("PING on a stream", "goaway PROTOCOL_ERROR") { $0.add(.ping, on: 1, Array(repeating: 0, count: 8)) },
        .client("PING of a wrong length", "goaway FRAME_SIZE_ERROR") { $0.add(.ping, [0, 0, 0, 0]) },
        .client("GOAWAY on a stream", "goaway PROTOCOL_ERROR") {
            $0.add(.goAway, on: 1, Array(repeating: 0, count: 8))
        },
        .client("GOAWAY of a wrong length", "goaway FRAME_SIZE_ERROR") { $0.add(.goAway, [0, 0, 0, 0]) },
        .client("WINDOW_UPDATE of a wrong length", "goaway FRAME_SIZE_ERROR") { $0.add(.windowUpdate, [0, 0, 1]) },
        .client("WINDOW_UPDATE of 0 on the connection", "goaway PROTOCOL_ERROR") {
            $0.add(.windowUpdate, big(UInt32(0)))
        },
        .client("WINDOW_UPDATE of 0 on a stream", "goaway PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.add(.windowUpdate, on: 1, big(UInt32(0)))
        },
        .client("WINDOW_UPDATE on an idle stream", "goaway PROTOCOL_ERROR") {
            $0.add(.windowUpdate, on: 1, big(UInt32(1)))
        },
        .client("WINDOW_UPDATE that overflows the connection's", "goaway FLOW_CONTROL_ERROR") {
            $0.add(.windowUpdate, big(UInt32(0x7FFF_FFFF)))
        },
        .client("CONTINUATION of nothing", "goaway PROTOCOL_ERROR") {
            $0.add(.continuation, flags: HTTP2Frames.endHeaders, on: 1, block(HTTP2Frames.pseudo))
        },
        .client("another frame within a head", "goaway PROTOCOL_ERROR") {
            $0.add(.headers, on: 1, block(HTTP2Frames.pseudo))
            $0.add(.ping, Array(repeating: 0, count: 8))
        },
        .client("an unknown frame within a head", "goaway PROTOCOL_ERROR") {
            $0.add(.headers, on: 1, block(HTTP2Frames.pseudo))
            $0.add(.unknown, [1])
        },
        .client("CONTINUATION of another stream's head", "goaway PROTOCOL_ERROR") {
            $0.add(.headers, on: 1, block(HTTP2Frames.pseudo))
            $0.add(.continuation, flags: HTTP2Frames.endHeaders, on: 3, block([("x", "y")]))
        },
        .server("SETTINGS_ENABLE_PUSH of 1 from a server", "goaway PROTOCOL_ERROR") { $0.settings([(2, 1)]) },
        .server("PUSH_PROMISE though push is off", "goaway PROTOCOL_ERROR") {
            $0.add(.pushPromise, flags: HTTP2Frames.endHeaders, on: 1, big(UInt32(2)) + block(HTTP2Frames.pseudo))
        },
        .server("HEADERS on a stream that the client did not open", "goaway PROTOCOL_ERROR") {
            $0.head(on: 7, HTTP2Frames.response)
        },
        .server("HEADERS on an even stream", "goaway PROTOCOL_ERROR") { $0.head(on: 2, HTTP2Frames.response) },
        .server("DATA before HEADERS", "goaway PROTOCOL_ERROR") { $0.data("x") },
        .server("DATA on a stream that the client did not open", "goaway PROTOCOL_ERROR") { $0.data("x", on: 7) },
    ]

    static let stream: [Malformed] = [
        .client("DATA past the stream's window", "rst 1 FLOW_CONTROL_ERROR") {
            $0.request(isEnd: false)
            for _ in 0...2 { $0.add(.data, on: 1, Array(repeating: 0, count: 4000)) }
        },
        .client("WINDOW_UPDATE that overflows a stream's", "rst 1 FLOW_CONTROL_ERROR") {
            $0.request(isEnd: false)
            $0.add(.windowUpdate, on: 1, big(UInt32(0x7FFF_FFFF)))
        },
        // RFC 9113 §6.9.2 would end the connection; nghttp2 resets the stream.
        .client("SETTINGS_INITIAL_WINDOW_SIZE that overflows a stream's", "rst 1 FLOW_CONTROL_ERROR") {
            $0.request()
            $0.add(.windowUpdate, on: 1, big(UInt32(0x7FFF_0000)))
            $0.settings([(4, 0x7FFF_FFFF)])
        },
        .client("body shorter than announced", "rst 1 PROTOCOL_ERROR") {
            $0.request([("content-length", "3")], isEnd: false)
            $0.data("ab", isEnd: true)
        },
        .client("body longer than announced", "rst 1 PROTOCOL_ERROR") {
            $0.request([("content-length", "3")], isEnd: false)
            $0.data("abcd", isEnd: true)
        },
        .client("no body though one was announced", "rst 1 PROTOCOL_ERROR") { $0.request([("content-length", "3")]) },
        .client("trailers that do not end the stream", "rst 1 PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.head([("x", "y")], isEnd: false)
        },
        .client("trailers with a pseudo-header", "rst 1 PROTOCOL_ERROR") {
            $0.request(isEnd: false)
            $0.head([(":path", "/")])
        },
        .head("upper-case name", HTTP2Frames.pseudo + [("X-A", "b")]),
        .head("name that is no token", HTTP2Frames.pseudo + [("x y", "b")]),
        .head("empty name", HTTP2Frames.pseudo + [("", "b")]),
        .head("NUL in a value", HTTP2Frames.pseudo + [("x", "a\0b")]),
        .head("line end in a value", HTTP2Frames.pseudo + [("x", "a\r\nb: c")]),
        .head("connection", HTTP2Frames.pseudo + [("connection", "close")]),
        .head("keep-alive", HTTP2Frames.pseudo + [("keep-alive", "1")]),
        .head("proxy-connection", HTTP2Frames.pseudo + [("proxy-connection", "close")]),
        .head("transfer-encoding", HTTP2Frames.pseudo + [("transfer-encoding", "chunked")]),
        .head("upgrade", HTTP2Frames.pseudo + [("upgrade", "h2c")]),
        .head("te that is not trailers", HTTP2Frames.pseudo + [("te", "gzip")]),
        .head("two content-lengths", HTTP2Frames.pseudo + [("content-length", "0"), ("content-length", "0")]),
        .head("content-length with a space", HTTP2Frames.pseudo + [("content-length", " 0")]),
        .head("content-length that is no number", HTTP2Frames.pseudo + [("content-length", "x")]),
        .head("pseudo-header after a field", [("x", "y")] + HTTP2Frames.pseudo),
        .head("unknown pseudo-header", HTTP2Frames.pseudo + [(":x", "y")]),
        .head("pseudo-header of responses", HTTP2Frames.pseudo + [(":status", "200")]),
        .head("pseudo-header twice", HTTP2Frames.pseudo + [(":path", "/")]),
        .head("no :method", Array(HTTP2Frames.pseudo.dropFirst())),
        .head("no :path", HTTP2Frames.pseudo.dropLast()),
        .head("no :scheme", HTTP2Frames.pseudo.filter { $0.0 != ":scheme" }),
        .head("no authority and no host", HTTP2Frames.pseudo.filter { $0.0 != ":authority" }),
        .head("empty :path", HTTP2Frames.pseudo.dropLast() + [(":path", "")]),
        .head(":path without a slash", HTTP2Frames.pseudo.dropLast() + [(":path", "a")]),
        .head(":path with a space", HTTP2Frames.pseudo.dropLast() + [(":path", "/ HTTP/1.1")]),
        .head(":method with a space", [(":method", "GET /x")] + HTTP2Frames.pseudo.dropFirst()),
        .head(":authority with a space", HTTP2Frames.pseudo.filter { $0.0 != ":authority" } + [(":authority", "a b")]),
        .head("host that differs from the authority", HTTP2Frames.pseudo + [("host", "b.example")]),
        .head("CONNECT with a path", [(":method", "CONNECT"), (":authority", "a:443"), (":path", "/")]),
        .head("CONNECT without an authority", [(":method", "CONNECT")]),
        .head(":protocol without CONNECT", HTTP2Frames.pseudo + [(":protocol", "websocket")]),
        .server("response without :status", "rst 1 PROTOCOL_ERROR") { $0.head([("x", "y")]) },
        .server("101", "rst 1 PROTOCOL_ERROR") { $0.head([(":status", "101")]) },
        .server("status that is no number", "rst 1 PROTOCOL_ERROR") { $0.head([(":status", "2x0")]) },
        .server("interim response that ends the stream", "rst 1 PROTOCOL_ERROR") { $0.head([(":status", "103")]) },
        .server("response with a pseudo-header of requests", "rst 1 PROTOCOL_ERROR") {
            $0.head(HTTP2Frames.response + [(":path", "/")])
        },
        .server("response with connection", "rst 1 PROTOCOL_ERROR") {
            $0.head(HTTP2Frames.response + [("connection", "close")])
        },
        .server("response with a line end in a value", "rst 1 PROTOCOL_ERROR") {
            $0.head(HTTP2Frames.response + [("x", "a\nb")])
        },
        .server("body longer than the response announced", "rst 1 PROTOCOL_ERROR") {
            $0.head(HTTP2Frames.response + [("content-length", "1")], isEnd: false)
            $0.data("abc", isEnd: true)
        },
    ]

    static func session(_ role: HTTP2Session.Role) throws -> HTTP2Session {
        var settings = HTTP2Settings()
        settings.initialWindow = 10_000
        let session = HTTP2Session(role, settings: settings)
        if role == .client {
            for path in ["/a", "/b"] {
                let head = RequestHead(method: "GET", target: path, fields: [("host", "a.example")])
                _ = try session.sendRequest(head, scheme: "https", isEnd: true)
            }
        }
        while session.nextOutput() != nil {}
        return session
    }

    @Test(
        "What breaks the connection ends it with the code of RFC 9113, however its bytes are cut",
        arguments: connection
    )
    func breaksConnection(_ malformed: Malformed) throws {
        let seed: UInt64 = 0x510C_E005
        let session = try HTTP2MalformedTests.session(malformed.role)
        let outcome = HTTP2Outcome(of: malformed.bytes, to: session, .whole)
        #expect(outcome.verdicts.last == malformed.verdict, "\(outcome)")
        #expect(outcome.events.contains { $0.hasPrefix("failed") }, "\(outcome)")
        #expect(session.isOver && session.openStreamCount == 0)
        for feeding in [Feeding.randomly, .byteByByte] {
            let session = try HTTP2MalformedTests.session(malformed.role)
            let cut = HTTP2Outcome(of: malformed.bytes, to: session, feeding, seed: seed)
            #expect(cut.eventsByStream == outcome.eventsByStream, "\(feeding), seed \(seed)")
            #expect(cut.verdicts == outcome.verdicts, "\(feeding), seed \(seed)")
        }
    }

    @Test("What breaks a stream resets that one only, however its bytes are cut", arguments: stream)
    func breaksStream(_ malformed: Malformed) throws {
        let seed: UInt64 = 0x510C_E005
        var bytes = malformed.bytes
        // The connection goes on: HPACK's state is right, and another stream works.
        var further = HTTP2Frames()
        if malformed.role == .server {
            further.request(on: 3)
        } else {
            further.head(on: 3, HTTP2Frames.response)
        }
        bytes.writeImmutableBuffer(further.bytes)
        let session = try HTTP2MalformedTests.session(malformed.role)
        let outcome = HTTP2Outcome(of: bytes, to: session, .whole)
        #expect(outcome.verdicts == [malformed.verdict], "\(outcome)")
        #expect(outcome.events.contains("1 closed") && outcome.events.contains("3 end"), "\(outcome)")
        let reports = outcome.events.filter { $0.hasPrefix("1 malformed 400") || $0.hasPrefix("1 reset") }
        #expect(reports.count == 1, "\(outcome)")
        #expect(!session.isOver)
        for feeding in [Feeding.randomly, .byteByByte] {
            let session = try HTTP2MalformedTests.session(malformed.role)
            let cut = HTTP2Outcome(of: bytes, to: session, feeding, seed: seed)
            #expect(cut.eventsByStream == outcome.eventsByStream, "\(feeding), seed \(seed)")
            #expect(cut.verdicts == outcome.verdicts, "\(feeding), seed \(seed)")
        }
    }

    @Test("A refused head says which field is wrong, and shows what came before it")
    func explanation() {
        let session = HTTP2Session(.server)
        let bytes = HTTP2Frames.client { $0.request([("a", "b"), ("X-Upper", "c"), ("d", "e")]) }
        session.receive(bytes, now: .uptimeNanoseconds(1))
        var explanations: [String] = []
        while let event = session.nextEvent() {
            if case .malformedRequest(_, 400, let explanation, let head) = event {
                explanations.append(explanation)
                #expect(String(buffer: head) == "POST / HTTP/2\r\nhost: a.example\r\na: b\r\n")
            }
        }
        #expect(explanations == ["The field “X-Upper” is not allowed in HTTP/2, or has an invalid value."])
    }
}

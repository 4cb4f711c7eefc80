import Content
import Description
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

/// A call made by hand, with the arrivals of its bytes.
private final class Call: ExchangeSource {
    static let start: Int64 = 1_700_000_000_000_000

    var recorded: RecordedExchange
    private var bodies: [BodySide: ByteBuffer] = [:]
    private var arrivals: [BodySide: [Arrival]] = [:]

    init(
        _ mediaType: String = "application/grpc",
        response: String = "",
        trailers: String = "grpc-status: 0\r\n"
    ) throws {
        let url = try #require(RequestURL("http://api.example.com/echo.v1.Echo/Talk"))
        var record = ExchangeRecord(
            id: ExchangeID(7),
            kind: .http,
            startedAt: Call.start,
            method: "POST",
            url: url,
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(
            string: "POST /echo.v1.Echo/Talk HTTP/2\r\ncontent-type: \(mediaType)\r\ngrpc-encoding: gzip\r\n\r\n"
        )
        messages.responseHead = ByteBuffer(
            string: "HTTP/2 200\r\ncontent-type: \(mediaType)\r\ngrpc-encoding: gzip\r\n\(response)\r\n"
        )
        if !trailers.isEmpty { messages.responseTrailers = ByteBuffer(string: trailers) }
        recorded = RecordedExchange(record: record, messages: messages)
    }

    /// Adds bytes to a body, which arrive so many milliseconds after the start; without a time they leave none.
    @discardableResult
    func add(_ side: BodySide, _ bytes: [UInt8], at milliseconds: Int64? = nil) -> Call {
        let offset = Int64(bodies[side]?.readableBytes ?? 0)
        bodies[side, default: ByteBuffer()].writeBytes(bytes)
        if let milliseconds {
            arrivals[side, default: []].append(Arrival(offset: offset, at: Call.start + milliseconds * 1000))
        }
        return self
    }

    func exchange(_ id: ExchangeID) -> RecordedExchange? { id == recorded.record.id ? recorded : nil }

    func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer {
        guard let body = bodies[side], offset < body.readableBytes else { return ByteBuffer() }
        return body.getSlice(at: Int(offset), length: min(limit, body.readableBytes - Int(offset))) ?? ByteBuffer()
    }

    func arrivals(of id: ExchangeID, side: BodySide, from offset: Int64, limit: Int) -> [Arrival] {
        (arrivals[side] ?? []).page(from: offset, limit: limit)
    }

    func report(_ descriptors: DescriptorSet? = nil) throws -> GRPCReport {
        try #require(try GRPCReport(recorded, source: self, descriptors: descriptors))
    }
}

@Suite("gRPC in reports")
struct GRPCReportTests {
    /// `echo.proto`: `service Echo { rpc Talk (stream Note) returns (stream Note); }` in the package `echo.v1`, with
    /// `message Note { string text = 1; int64 count = 2; }`.
    private static let descriptors = """
        CoEBCgplY2hvLnByb3RvEgdlY2hvLnYxIjAKBE5vdGUSEgoEdGV4dBgBIAEoCVIEdGV4dBIUCgVjb3VudBgCIAEoA1IFY291bnQy\
        MAoERWNobxIoCgRUYWxrEg0uZWNoby52MS5Ob3RlGg0uZWNoby52MS5Ob3RlKAEwAWIGcHJvdG8z
        """

    private func echo() throws -> DescriptorSet {
        try DescriptorSet(ByteBuffer(bytes: try #require(Data(base64Encoded: Self.descriptors))))
    }

    private static func frame(_ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [flags] + withUnsafeBytes(of: UInt32(payload.count).bigEndian, Array.init) + payload
    }

    /// A `Note`.
    private static func note(_ text: String, _ count: UInt8) -> [UInt8] {
        [0x0A, UInt8(text.utf8.count)] + Array(text.utf8) + [0x10, count]
    }

    @Test("A call of one message each way is shown with names and types")
    func showsUnaryCall() throws {
        let call = try Call()
        call.add(.requestReceived, Self.frame(Self.note("hi", 2)), at: 1)
        call.add(.responseReceived, Self.frame(Self.note("ho", 4)), at: 12)
        let report = try call.report(echo())
        #expect(report.title == "gRPC messages (1 from the client, 1 from the server, the first after 1.0 ms)")
        #expect(
            report.lines == [
                "method        echo.v1.Echo/Talk",
                "read as       stream echo.v1.Note → stream echo.v1.Note",
                "    0.001 s  →                 6 B  message 1",
                "             {",
                #"               "text": "hi","#,
                #"               "count": "2""#,
                "             }",
                "    0.012 s  ←                 6 B  message 2",
                "             {",
                #"               "text": "ho","#,
                #"               "count": "4""#,
                "             }",
                "grpc-status   0 OK",
            ]
        )
    }

    @Test("Without descriptors fields have numbers, and the report says how to name them")
    func showsNumbers() throws {
        let call = try Call().add(.requestReceived, Self.frame(Self.note("hi", 2)) + Self.frame([]))
        let lines = try call.report().lines
        #expect(
            lines[1]
                == "read as       numbered fields; a descriptor file names them: --proto-descriptor FILE, in the console descriptor FILE"
        )
        #expect(
            lines[2...6] == [
                "          -  →                 6 B  message 1", #"             1: "hi""#, "             2: 2",
                "          -  →                 0 B  message 2", "             (no fields)",
            ]
        )
    }

    @Test("A method that the descriptors do not have is read by numbers, with the reason")
    func explainsUnknownMethod() throws {
        let call = try Call().add(.requestReceived, Self.frame(Self.note("hi", 2)))
        call.recorded.record.url.path = "/other.Service/Get"
        let lines = try call.report(echo()).lines
        #expect(
            lines[1]
                == "read as       numbered fields; the descriptor set has no service other.Service; it has echo.v1.Echo"
        )
        #expect(lines.contains("             2: 2"))
    }

    @Test("The messages of both directions stand in the order in which they arrived, with gaps")
    func interleaves() throws {
        let call = try Call()
        let first = Self.frame(Self.note("a", 1))
        call.add(.requestReceived, first, at: 1).add(.requestReceived, first, at: 30)
        // The second answer comes in two pieces; its time is that of the second.
        call.add(.responseReceived, first + first.prefix(4), at: 10).add(
            .responseReceived,
            Array(first.dropFirst(4)),
            at: 1950
        )
        let lines = try call.report(echo()).lines.filter { $0.contains("message ") }
        #expect(
            lines == [
                "    0.001 s  →                 5 B  message 1", "    0.010 s  ←                 5 B  message 2",
                "    0.030 s  →   +29.0 ms      5 B  message 3", "    1.950 s  ←     +1.9 s      5 B  message 4",
            ]
        )
    }

    @Test("Compressed messages are decompressed, with both sizes")
    func decompresses() throws {
        let text = String(repeating: "again ", count: 20)
        let packed = try ContentEncoder.encode(ByteBuffer(bytes: Self.note(text, 1)), codings: [.gzip])
        let call = try Call().add(.responseReceived, Self.frame(Array(packed.readableBytesView), flags: 1))
        let lines = try call.report(echo()).lines
        #expect(lines.contains { $0.hasSuffix("message 1  [gzip, 124 B decoded]") })
        #expect(lines.contains("               \"text\": \"\(text)\","))
        call.recorded.messages.responseHead = ByteBuffer(
            string: "HTTP/2 200\r\ncontent-type: application/grpc\r\ngrpc-encoding: snappy\r\n\r\n"
        )
        let unknown = try call.report(echo()).lines
        #expect(unknown.contains("             (the content coding 'snappy' is unknown)"))
    }

    @Test("The bytes of a call that grpcio made are read: deflate from the client, gzip from the server")
    func readsRealCall() throws {
        let call = try Call(trailers: "grpc-status: 10\r\ngrpc-message: tr%C3%A8s%0Abad 100%25\r\n")
        call.recorded.messages.requestHead = ByteBuffer(
            string: "POST / HTTP/2\r\ncontent-type: application/grpc\r\ngrpc-encoding: deflate\r\n\r\n"
        )
        let client = "AQAAABR4nOOSzUjNyclXwEEKMAIAvecLHQAAAAAHCgNieWUQAg=="
        let server = """
            AQAAACofiwgAAAAAAAAD4zrCkpGak5OvgIMclRyVJEJS4D8MMAIA8fn2ZlICAAABAAAAIB+LCAAAAAAAAAPjskmqTCUbCfz7DwWMAOVn\
            zpBJAAAA
            """
        call.add(.requestReceived, Array(try #require(Data(base64Encoded: client))))
        call.add(.responseReceived, Array(try #require(Data(base64Encoded: server))))
        let lines = try call.report(echo()).lines
        #expect(
            lines[2..<10] == [
                "          -  →                20 B  message 1  [deflate, 33 B decoded]",
                "             {",
                #"               "text": "hello hello hello hello hello","#,
                #"               "count": "1""#,
                "             }",
                "          -  →                 7 B  message 2",
                "             {",
                #"               "text": "bye","#,
            ]
        )
        #expect(lines.contains("               \"text\": \"\(String(repeating: "bye", count: 20))\","))
        #expect(lines.filter { $0.contains("\"count\": \"-") }.count == 2)
        #expect(lines.suffix(2) == ["grpc-status   10 ABORTED", "grpc-message  très^Jbad 100%"])
    }

    @Test("gRPC-Web in base64 is read, and its trailers give the outcome")
    func readsWebText() throws {
        let body =
            Self.frame(Self.note("hi", 2))
            + Self.frame(Array("grpc-status:5\r\ngrpc-message:no%20such\r\n".utf8), flags: 0x80)
        let call = try Call("application/grpc-web-text+proto", trailers: "")
        call.add(.responseReceived, Array(Data(body).base64EncodedString().utf8), at: 5)
        let lines = try call.report(echo()).lines
        #expect(lines.contains("    0.005 s  ←                 6 B  message 1"))
        #expect(lines.suffix(2) == ["grpc-status   5 NOT_FOUND", "grpc-message  no such"])
    }

    @Test("Bodies with content coding keep their times")
    func readsContentCoding() throws {
        let body = Self.frame(Self.note("a", 1)) + Self.frame(Self.note("b", 2))
        let coded = try ContentEncoder.encode(ByteBuffer(bytes: body), codings: [.gzip])
        let call = try Call("application/grpc-web", response: "content-encoding: gzip\r\n")
        call.add(.responseReceived, Array(coded.readableBytesView), at: 8)
        let lines = try call.report(echo()).lines
        #expect(lines.filter { $0.hasPrefix("    0.008 s  ←") }.count == 2)
        #expect(lines.contains(#"               "text": "b","#))
    }

    @Test("A call in flight shows what is there by now")
    func showsCallInFlight() throws {
        let call = try Call(trailers: "")
        call.recorded.record.state = .inFlight
        call.add(.responseReceived, Self.frame(Self.note("a", 1)), at: 3)
        call.add(.responseReceived, Array(Self.frame(Self.note("later", 2)).prefix(9)), at: 20)
        let report = try call.report()
        #expect(report.title == "gRPC messages (0 from the client, 1 from the server, so far, the first after 3.0 ms)")
        #expect(
            report.lines.suffix(4) == [
                "    0.020 s  ←   +17.0 ms      9 B  message 2  [4 of 9 bytes so far]", #"             1: "la""#,
                "             (only the first 4 B are read)", "grpc-status   not there yet",
            ]
        )
        call.recorded.record.state = .failed
        let lines = try call.report().lines
        #expect(lines.contains { $0.hasSuffix("message 2  [4 of 9 bytes, its end is missing]") })
        #expect(lines.last == "grpc-status   none: the call ended without one")
    }

    @Test("What is no gRPC is told with its place; a body that never was is left to others")
    func tellsMalformed() throws {
        let call = try Call()
        call.add(.requestReceived, Self.frame(Self.note("a", 1)) + Array("oops".utf8))
        call.add(.responseReceived, Array("<html>Bad gateway</html>".utf8))
        let report = try call.report()
        #expect(report.formats.fromClient == .grpc && report.formats.fromServer == nil)
        #expect(
            report.lines.contains(
                "What follows from the client cannot be read: the flags of a message are 0x6f, not 0x00 or 0x01, at byte 10."
            )
        )
        let other = try Call("text/html")
        #expect(try GRPCReport(other.recorded, source: other) == nil)
    }

    @Test("Of a long stream the first and last messages are shown, in order")
    func showsEndsOfLongStreams() throws {
        let call = try Call()
        for number in 0..<5000 {
            call.add(.responseReceived, Self.frame([0x08] + Self.varint(number)), at: Int64(number))
        }
        let report = try call.report()
        #expect(report.title.contains("5000 from the server"))
        let shown = report.lines.filter { $0.contains("B  message ") }
        #expect(shown.count == 100)
        #expect(shown.first == "    0.000 s  ←                 2 B  message 1")
        #expect(shown[50] == "    4.950 s  ←    +1.0 ms      3 B  message 4951")
        #expect(shown.last == "    4.999 s  ←    +1.0 ms      3 B  message 5000")
        #expect(report.lines.contains("… 4900 more; `sluice show SESSION 7 --message N` prints each"))
    }

    private static func varint(_ number: Int) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 0x7F | 0x80), UInt8(number >> 7)]
    }

    @Test("Long messages are cut, and together they are bounded")
    func boundsContent() throws {
        let call = try Call()
        let long = Self.frame([0x0A, 0xF0, 0xA2, 0x04] + Array(repeating: UInt8(ascii: "x"), count: 70_000))
        for _ in 0..<20 { call.add(.responseReceived, long) }
        let lines = try call.report(echo()).lines
        #expect(lines.contains("             (only the first 65.5 KB are read)"))
        #expect(lines.filter { $0.hasSuffix("[not shown, as so many others are long]") }.count == 12)
        #expect(
            lines.contains {
                $0.hasPrefix(#"               "text": "xxx"#) && $0.hasSuffix("// the first 4096 of 65532 bytes")
            }
        )
        #expect(lines.reduce(0) { $0 + $1.utf8.count } < 100_000)
    }

    @Test("JSON messages are laid out, other forms shown as text where they are")
    func showsOtherForms() throws {
        let json = try Call("application/grpc+json").add(.requestReceived, Self.frame(Array(#"{"a":1}"#.utf8)))
        #expect(try json.report().lines.contains(#"               "a": 1"#))
        let other = try Call("application/grpc+custom").add(.requestReceived, Self.frame(Array("plain\u{1B}[31m".utf8)))
        #expect(try other.report().lines.contains("             plain^[[31m"))
    }

    @Test("The details of an error are read")
    func readsDetails() throws {
        let status = Data([0x08, 0x05, 0x12, 0x02, 0x6E, 0x6F]).base64EncodedString().filter { $0 != "=" }
        let call = try Call(
            trailers: "grpc-status: 5\r\ngrpc-message: %1B%5B31m\r\ngrpc-status-details-bin: \(status)\r\n"
        )
        let lines = try call.report().lines
        #expect(
            lines.suffix(5) == [
                "grpc-status   5 NOT_FOUND", "grpc-message  ^[[31m", "details       google.rpc.Status, 6 B",
                "              1: 5  # or -3 as sint", #"              2: "no""#,
            ]
        )
    }

    @Test("The report of an exchange has the messages in place of the bodies, and other bodies as they are")
    func standsInExchangeReport() throws {
        let call = try Call().add(.requestReceived, Self.frame(Self.note("hi", 2)))
        let text = ExchangeReport.text(call.recorded, source: call, descriptors: try echo())
        #expect(
            text.contains("\ngRPC messages (1 from the client, 0 from the server)\n  method        echo.v1.Echo/Talk\n")
        )
        #expect(text.contains("        \"text\": \"hi\","))
        #expect(!text.contains("Body  application/grpc"))
        call.add(.responseReceived, Array("Bad gateway".utf8))
        let failed = ExchangeReport.text(call.recorded, source: call)
        #expect(failed.contains("Body  application/grpc; 11 B\n  Bad gateway\n"))
        #expect(failed.contains("    1: \"hi\""))
    }

    @Test("A body cut anywhere is shown without a crash")
    func survivesTruncation() throws {
        let body = Self.frame(Self.note("hi", 2)) + Self.frame(Self.note("ho", 3))
        for count in 0...body.count {
            let call = try Call().add(.responseReceived, Array(body.prefix(count)), at: 1)
            let lines = try call.report(echo()).lines
            #expect(lines.last == "grpc-status   0 OK")
            #expect(
                lines.filter { $0.contains(" B  message ") }.count == (count >= 16 ? 2 : count >= 5 ? 1 : 0),
                "\(count)"
            )
        }
    }
}

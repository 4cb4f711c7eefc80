import Content
import HTTPModel
import NIOCore
import Testing

@testable import Formats

@Suite("Flow files of mitmproxy are read")
struct MitmproxyReaderTests {
    @Test(
        "Files that mitmproxy wrote, and one of an older format, have the same six exchanges",
        arguments: [
            "mitmproxy-11.0.2.flows", "mitmproxy-10.1.6.flows", "mitmproxy-9.0.1.flows", "built-format-7.flows",
        ]
    )
    func files(name: String) throws {
        let fixture = try ArchiveFixture(name)
        #expect(fixture.error == nil && fixture.losses.isEmpty, "\(fixture.error ?? "") \(fixture.losses)")
        let records = fixture.records.map(\.record)
        #expect(
            records.map { "\($0.method) \($0.url.pathAndQuery) \($0.status)" } == [
                "GET /bytes?a=1&b=%20 200", "GET /gzip 200", "POST /orders 201", "GET /missing 404", "GET /refused 0",
                "GET /chat 101",
            ]
        )
        guard records.count == 6 else { return }
        #expect(records[0].url.host == "127.0.0.1" && records[0].url.port == 39_181)
        #expect(
            records[0].serverAddress == "127.0.0.1:39181" && records[0].clientAddress?.hasPrefix("127.0.0.1:") == true
        )
        #expect((records[0].timings.total ?? 0) > 0 && (records[0].timings.wait ?? -1) >= 0)
        #expect(records[0].startedAt > 1_700_000_000_000_000)
        #expect(fixture.records[0].bodies[.responseReceived] == ByteBuffer(bytes: 0...255))
        let head = String(buffer: try #require(fixture.records[0].messages.requestHead))
        #expect(head.contains("X-Token: abc\r\n"))
        // As it came, with its content coding.
        #expect(fixture.records[1].bodies[.responseReceived]?.readableBytesView.starts(with: [0x1F, 0x8B]) == true)
        #expect(fixture.decoded(1, .responseReceived) == #"{"colour":"green","n":[1,2,3]}"#)
        #expect(fixture.body(2, .requestReceived) == #"{"item":"lock"}"#)
        #expect(records[4].state == .failed && records[4].failure != nil)
        // Both sides wrote at once, so that only the last one is sure.
        let opcodes = fixture.entries[5].messages.map(\.opcode)
        #expect(records[5].kind == .webSocket && opcodes.sorted() == [1, 1, 2, 8] && opcodes.last == 8)
        #expect(fixture.entries[5].messages.contains { $0.bytes == ByteBuffer(bytes: [0, 1, 2]) && !$0.isSent })
        #expect(fixture.entries[5].messages.contains { $0.bytes == ByteBuffer(string: "abc") && $0.isSent })
    }

    @Test("A file with TLS: the versions of both legs, what the handshake came to, a remark, an empty ALPN as none")
    func tls() throws {
        let fixture = try ArchiveFixture("mitmproxy-11.0.2-tls.flows")
        #expect(fixture.error == nil && fixture.losses.isEmpty && fixture.records.count == 8)
        #expect(fixture.records.prefix(3).map(\.record.clientVersion) == [.http2, .http2, .http11])
        let tls = fixture.entries.map(\.tls)
        #expect(tls.prefix(4).allSatisfy { $0?.protocolVersion == "TLSv1.3" && $0?.serverName == "localhost" })
        #expect(tls.prefix(4).allSatisfy { $0?.applicationProtocol == nil })
        #expect(tls.dropFirst(4).allSatisfy { $0 == nil })
        #expect(fixture.records[0].record.extras.annotation.comment == "grün gepackt")
    }

    @Test("Pieces of any length, and a cut at any byte: no crash, what was whole before is there")
    func cut() throws {
        let bytes = try ArchiveFixture.bytes("mitmproxy-11.0.2.flows")
        #expect(ArchiveFixture(bytes: bytes, piece: 13).records.count == 6)
        // The first flow has 2,209 bytes, with its length and its sign.
        for count in 20..<2_300 {
            let fixture = ArchiveFixture(bytes: Array(bytes.prefix(count)))
            #expect(fixture.records.count == (count < 2_209 ? 0 : 1), "\(count)")
            // Where it is cut between two flows nothing is missing that could be told.
            #expect((fixture.error == nil) == (count == 2_209), "\(count)")
        }
    }

    @Test("Damaged lengths, deep nesting and other protocols")
    func hostile() {
        func read(_ text: String) -> ArchiveFixture { ArchiveFixture(bytes: Array(text.utf8)) }
        let tcp = "21:4:type;3:tcp;1:a;1:b;}"
        #expect(read("28:4:type;3:tcp;7:version;2:21#}").losses == ["1 flow of tcp, not HTTP"])
        #expect(read(tcp).error != nil || !read(tcp).losses.isEmpty)
        #expect(read("19:4:type;3:tcp;0:;0:~]").error?.contains("damaged") == true)
        #expect(read("999999999999:4:type;").error?.contains("ends within") == true)
        #expect(read("9999999999999999:4:type;").error == "no format")
        var nested = "0:~"
        for _ in 0..<200 { nested = "\(nested.utf8.count):\(nested)]" }
        let value = "4:type;4:http;7:request;\(nested)"
        #expect(read("\(value.utf8.count):\(value)}").error?.contains("damaged") == true)
    }

    private func value(_ content: String, _ sign: String) -> String { "\(content.utf8.count):\(content)\(sign)" }

    /// A flow whose request has an address alone.
    private func flow(_ members: String, request: String = "", version: String = "2:21#") -> [UInt8] {
        let head = "6:method;3:GET,6:scheme;5:https,4:host;11:203.0.113.7;4:port;3:443#4:path;2:/x,"
        let start = "15:timestamp_start;9:946681200#"
        let flow = "4:type;4:http;7:version;\(version)7:request;\(value(head + start + request, "}"))\(members)"
        return Array(value(flow, "}").utf8)
    }

    @Test("Where the request has an address the host is in a field, in the authority, or in what began TLS")
    func names() {
        func host(_ request: String, _ members: String = "") -> String? {
            ArchiveFixture(bytes: flow(members, request: request)).records.first?.record.url.host
        }
        let authority = "9:authority;15:api.example.com,"
        let sni = "11:client_conn;\(value("3:sni;11:tls.example,", "}"))"
        let field = "7:headers;\(value(value("4:Host,15:field.example:1,", "]"), "]"))"
        #expect(host(authority, sni) == "api.example.com" && host("", sni) == "tls.example")
        #expect(host(authority + field, sni) == "field.example" && host("") == "203.0.113.7")
        #expect(host("9:authority;0:,", sni) == "tls.example")
    }

    @Test("A flow of an older format is left out, and one of a newer format is told")
    func formats() {
        let old = ArchiveFixture(bytes: flow("", version: value("1:0#2:18#1:2#", "]")))
        #expect(old.records.isEmpty && old.losses.first?.contains("before 7") == true)
        let new = ArchiveFixture(bytes: flow("", version: "2:22#"))
        #expect(
            new.records.count == 1 && new.losses == ["1 flow of format 22, which is newer than 21 and was read like it"]
        )
    }

    @Test("The bytes of a field stay as they are")
    func fieldBytes() throws {
        let field = Array("7:headers;14:10:1:X,3:a".utf8) + [0xE9] + Array("b,]]".utf8)
        let start = Array(
            "6:method;3:GET,6:scheme;4:http,4:host;1:h;4:port;2:80#4:path;1:/,15:timestamp_start;1:5#".utf8
        )
        let request = start + field
        let flow = Array("4:type;4:http;7:version;2:21#7:request;\(request.count):".utf8) + request + Array("}".utf8)
        let fixture = ArchiveFixture(bytes: Array("\(flow.count):".utf8) + flow + Array("}".utf8))
        let head = try #require(fixture.records.first?.messages.requestHead)
        #expect(Array(head.readableBytesView).firstRange(of: Array("X: a".utf8) + [0xE9] + Array("b\r\n".utf8)) != nil)
    }

    @Test("Typed netstrings: each kind, numbers out of range, lengths that lie")
    func netstrings() {
        func value(_ text: String) -> TypedNetstring? {
            var rest = Array(text.utf8)[...]
            return TypedNetstring(&rest)
        }
        #expect(
            value("5:12345#") == .integer(12_345) && value("3:1.5^") == .real(1.5) && value("4:true!") == .boolean(true)
        )
        #expect(value("0:~") == .null && value("2:é;")?.string == "é" && value("0:}") == .dictionary([:]))
        #expect(value("8:1:a,1:b,]")?.list?.count == 2)
        #expect(value("25:9999999999999999999999999#") == nil && value("3:inf^") == nil && value("3:nan^") == nil)
        #expect(value("9:abc,") == nil && value("1:a") == nil && value(":a,") == nil && value("4:1:a,}") == nil)
        #expect(value("1:a~") == nil && value("1:a?") == nil)
        // All that is in a value counts, however it is nested.
        var (enough, few) = (Array("18:6:0:~0:~]6:0:~0:~]]".utf8)[...], Array("18:6:0:~0:~]6:0:~0:~]]".utf8)[...])
        #expect(TypedNetstring(&enough, atMost: 7)?.list?.count == 2 && TypedNetstring(&few, atMost: 6) == nil)
    }
}

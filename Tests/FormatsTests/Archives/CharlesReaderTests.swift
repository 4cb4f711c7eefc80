import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Formats

@Suite("Sessions of Charles are read, built from published descriptions of its formats")
struct CharlesReaderTests {
    @Test("JSON: times, addresses, TLS, bodies as text and as bytes, tunnels, failures; the rest is counted")
    func json() throws {
        let fixture = try ArchiveFixture("built-session.chlsj")
        #expect(fixture.error == nil && fixture.records.count == 4)
        let order = try #require(fixture.records.first?.record)
        #expect(order.url.description == "https://api.example.com/orders?page=1" && order.status == 201)
        #expect(order.method == "POST" && order.startedAt == 1_768_471_200_250_000)
        #expect(order.timings.total == 53_000 && order.timings.wait == 29_000 && order.timings.dns == 3_000)
        #expect(order.timings.connect == 7_000 && order.timings.tls == 11_000 && order.timings.receive == 2_000)
        #expect(order.serverAddress == "203.0.113.1:443" && order.clientAddress == "127.0.0.1:53211")
        #expect(order.extras.annotation.comment == "the one that fails" && order.state == .complete)
        #expect(fixture.entries[0].tls?.cipherSuite == "TLS_AES_128_GCM_SHA256")
        #expect(fixture.body(0, .requestReceived) == #"{"item":"lock"}"#)
        // Text that was decoded gets its coding again, and reads as before.
        #expect(fixture.body(0, .responseReceived) != #"{"id":7}"#)
        #expect(fixture.decoded(0, .responseReceived) == #"{"id":7}"#)
        let head = String(buffer: try #require(fixture.records[0].messages.responseHead))
        #expect(head.hasPrefix("HTTP/1.1 201 Created\r\n") && head.contains("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"))

        #expect(fixture.records[1].record.url.description == "https://cdn.example.com:8443/packed")
        #expect(
            fixture.records[1].record.clientVersion == .http2
                && fixture.records[1].record.serverAddress == "[2001:db8::1]:8443"
        )
        #expect(fixture.decoded(1, .responseReceived) == "compressed here")
        let request = String(buffer: try #require(fixture.records[1].messages.requestHead))
        #expect(request.contains("host: cdn.example.com:8443") || request.contains("Host: cdn.example.com:8443"))
        #expect(!request.contains(":method"))

        #expect(
            fixture.records[2].record.kind == .tunnel
                && fixture.records[2].record.url.authority == "bank.example.com:443"
        )
        #expect(fixture.records[2].record.state == .complete)
        #expect(fixture.records[3].record.failure?.message == "Connection refused")
        #expect(
            fixture.losses == [
                "1 value that is no object", "1 object that is no transaction",
                "1 exchange without a URL that can be read",
            ]
        )
    }

    @Test("JSON and XML: statuses, ports and times that no session can keep are counted")
    func ranges() {
        let json = ArchiveFixture(
            bytes: Array(
                (#"[{"status":"COMPLETE","method":"GET","scheme":"http","host":"h","port":99999,"path":"/","#
                    + #""times":{"start":"+999999-01-01T00:00:00Z"},"request":{},"response":{"status":99999}}]"#).utf8
            )
        )
        #expect(json.error == nil && json.records.count == 1)
        #expect(json.losses.contains("1 value of 'port' that is out of range"), "\(json.losses)")
        #expect(json.losses.contains("1 value of 'status' that is out of range"), "\(json.losses)")
        #expect(json.losses.contains { $0.contains("'start'") }, "\(json.losses)")
        let xml = ArchiveFixture(
            bytes: Array(
                (#"<charles-session><transaction status="COMPLETE" method="GET" protocol="http" host="h" port="99999" "#
                    + #"path="/" startTimeMillis="1e300"><request/><response status="99999"/></transaction>"#
                    + "</charles-session>").utf8
            )
        )
        #expect(xml.error == nil && xml.records.count == 1)
        #expect(
            xml.losses == ["port", "status", "startTimeMillis"].map { "1 value of '\($0)' that is out of range" },
            "\(xml.losses)"
        )
    }

    @Test(
        "XML: attributes, escapes, CDATA and base64, whatever the pieces are that it comes in",
        arguments: [1, 7, 4_096]
    )
    func xml(piece: Int) throws {
        let fixture = ArchiveFixture(bytes: try ArchiveFixture.bytes("built-session.xml"), piece: piece)
        #expect(fixture.error == nil && fixture.records.count == 2)
        let first = try #require(fixture.records.first?.record)
        #expect(first.url.description == "https://api.example.com/items?a=1&b=2" && first.status == 200)
        #expect(
            first.startedAt == 1_768_471_200_250_000 && first.timings.total == 53_000 && first.timings.wait == 40_000
        )
        #expect(fixture.body(0, .responseReceived) == #"{"text":"<b>&amp;</b>"}"#)
        #expect(fixture.records[1].bodies[.requestReceived] == ByteBuffer(bytes: [0, 1, 2, 255]))
        #expect(fixture.records[1].record.failure?.message == "Read timed out")
        #expect(fixture.losses == ["1 element that is no transaction"])
    }

    @Test("Texts longer than is read are cut off, and that is told")
    func longTexts() throws {
        typealias Make = (ArchiveLosses, @escaping () -> [UInt8]) -> any ArchiveReader
        func read(_ make: Make, _ text: String) throws -> String {
            let losses = ArchiveLosses()
            var pieces = [Array(text.utf8)]
            var reader = make(losses) { pieces.popLast() ?? [] }
            var bodies: [String] = []
            let take: (ArchiveEntry) -> Void = { bodies.append($0.request.text) }
            try reader.forEach(take)
            return "\(bodies) \(losses.phrases)"
        }
        let tooMuch = String(repeating: "0123456789", count: 5)
        let told = "1 body is cut off at the limit of its length"
        let xml =
            "<charles-session><transaction startTimeMillis='1' method='PUT' protocol='http' host='a.example' path='/'><request><body>"
        let end = "</body></request></transaction></charles-session>"
        let whole = try read(
            { CharlesXMLReader(textLimit: 40, losses: $0, refill: $1) },
            "\(xml)0123456789\(end)"
        )
        #expect(whole == #"["0123456789"] []"#)
        let long = try read(
            { CharlesXMLReader(textLimit: 40, losses: $0, refill: $1) },
            xml + String(repeating: "0123456789<!-- -->", count: 9) + end
        )
        #expect(long.hasSuffix(#"["\#(told)"]"#) && !long.contains(tooMuch), "\(long)")
        let json =
            #"[{"times": {"start": "2026-01-01T00:00:00Z"}, "host": "a.example", "scheme": "http", "path": "/", "request": {"body": {"text": ""#
        let cut = try read(
            { CharlesJSONReader(textLimit: 40, losses: $0, refill: $1) },
            json + String(repeating: "0123456789", count: 9) + #""}}}]"#
        )
        #expect(cut.hasSuffix(#"["\#(told)"]"#) && !cut.contains(tooMuch), "\(cut)")
    }

    @Test("XML that defines entities, is nested deep or is not well-formed is refused with its line")
    func hostileXML() {
        func error(_ text: String) -> String { ArchiveFixture(bytes: Array(text.utf8)).error ?? "" }
        let session = "<charles-session>"
        for definition in ["[<!ENTITY a \"b\">]", "SYSTEM \"x\" [ ]"] {
            #expect(error("<!DOCTYPE x \(definition)>\(session)</charles-session>").contains("document type"))
        }
        #expect(error("\(session)<!DOCTYPE x></charles-session>").contains("document type"))
        #expect(error("<!DOCTYPE x SYSTEM \"y>\(session)</charles-session>").contains("within the document type"))
        #expect(error("\(session)<transaction>&a;</transaction></charles-session>").contains("no character or entity"))
        let deep = String(repeating: "<a>", count: 100_000)
        #expect(error("\(session)\(deep)").contains("deeper than 64"))
        #expect(error("\(session)<a></b></charles-session>").contains("</b> stands where </a>"))
        #expect(error("\(session)<a x=\"1\" x=\"2\"/></charles-session>").contains("stands twice"))
        #expect(error("\(session)").contains("is not closed"))
        #expect(error("\(session)</charles-session>x").contains("outside"))
        #expect(error("\(session)<transaction>&#xD800;</transaction></charles-session>").contains("no character"))
    }

    @Test("What Charles itself exports as XML names a document type, which is passed over and never read")
    func documentType() throws {
        let fixture = try ArchiveFixture("charles-export.xml")
        #expect(fixture.error == nil && fixture.losses == [] && fixture.records.count == 2)
        #expect(fixture.decoded(0, .responseReceived) == "hello gzip")
        #expect(fixture.records[1].record.failure?.message == "Connection refused")
        let noFile = "<!DOCTYPE charles-session PUBLIC '-//x//' \"file:///etc/passwd#[>\"><charles-session/>"
        #expect(ArchiveFixture(bytes: Array(noFile.utf8)).error == nil)
    }

    @Test("XML and JSON in UTF-16, and XML in the encoding that it declares", arguments: [1, 3, 1 << 20])
    func encodings(piece: Int) {
        let path = "/gr\u{F6}\u{1F600}e"
        let transaction = "<transaction method='GET' protocol='http' host='a.example' path='\(path)'/>"
        let xml = "<charles-session>\(transaction)</charles-session>"
        let har = #"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a.example\#(path)"}}]}}"#
        func wide(_ text: String, _ isBigEndian: Bool) -> [UInt8] {
            text.utf16.flatMap {
                isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
            }
        }
        let latin1 = "<?xml version='1.0' encoding='ISO-8859-1'?>" + xml.replacing("\u{1F600}", with: "")
        let files = [xml, har, "\u{FEFF}" + xml, "\u{FEFF}" + har].flatMap { [wide($0, true), wide($0, false)] }
        for file in files + [latin1.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }] {
            let fixture = ArchiveFixture(bytes: file, piece: piece)
            let isWide = file.contains(0)
            #expect(fixture.error == nil)
            #expect(fixture.records.map(\.record.url.path) == [isWide ? path : "/gr\u{F6}e"])
        }
        let other = ArchiveFixture(bytes: Array("<?xml version='1.0' encoding='koi8-r'?>\(xml)".utf8), piece: piece)
        #expect(other.error?.contains("encoding 'koi8-r' is not read") == true)
    }

    @Test("A body that Charles has not is missing, its size and what went wrong are kept, and a client needs no port")
    func forgotten() {
        let json =
            #"[{"status":"COMPLETE","method":"GET","scheme":"https","host":"h.example","path":"/v","#
            + #""clientAddress":"/192.168.1.20","exception":"Client closed connection before receiving entire response","#
            + #""request":{"sizes":{"headers":10,"body":0}},"response":{"status":206,"sizes":{"body":308545}}}]"#
        let fixture = ArchiveFixture(bytes: Array(json.utf8))
        let record = fixture.records.first?.record
        #expect(record?.flags == .responseBodyIncomplete && record?.sizes.responseBody == 308_545)
        #expect(record?.state == .failed && record?.failure?.code == .clientGone)
        #expect(record?.failure?.message.hasPrefix("Client closed") == true)
        #expect(record?.clientAddress == "192.168.1.20")
        #expect(fixture.losses == ["1 body that the archive does not have"])
        let six = ArchiveFixture(bytes: Array(json.replacing("/192.168.1.20", with: "/fe80::1").utf8))
        let address = six.records.first?.record.clientAddress ?? ""
        #expect(address == "[fe80::1]" && FilterTest.matchesAddress(address, Glob(literal: "fe80::1")))
    }

    @Test("JSON that is nested deep, or no session, is refused")
    func hostileJSON() {
        let deep = ArchiveFixture(bytes: Array(String(repeating: "[", count: 1_100_000).utf8))
        #expect(deep.error?.contains("nested deeper") == true)
        #expect(ArchiveFixture(bytes: Array(#"[{"a": 1}]"#.utf8)).error?.contains("no transactions") == true)
        #expect(ArchiveFixture(bytes: Array("[]".utf8)).error == nil)
        let numbers =
            #"[{"host":"h","scheme":"http","port":99999999999999999999,"path":"/","clientPort":-4,"#
            + #""durations":{"total":1e300},"response":{"status":1e9}}]"#
        let odd = ArchiveFixture(bytes: Array(numbers.utf8))
        #expect(odd.error == nil && odd.records.first?.record.url.port == 80 && odd.records.first?.record.status == 0)
    }

    @Test(
        "A file that is cut off anywhere gives what was whole before, and an error",
        arguments: ["built-session.chlsj", "built-session.xml"]
    )
    func cut(name: String) throws {
        let bytes = try ArchiveFixture.bytes(name)
        let whole = ArchiveFixture(bytes: bytes).records.count
        let end = bytes.lastIndex { $0 > 0x20 } ?? 0
        for count in 1..<end {
            let fixture = ArchiveFixture(bytes: Array(bytes.prefix(count)))
            #expect(fixture.error != nil && fixture.records.count <= whole, "\(count) bytes of \(name)")
        }
    }

    @Test("A zip of Charles: descriptions and bodies apart, in the order of their numbers")
    func zip() throws {
        let directory = NSTemporaryDirectory() + "sluice-chlz-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        func member(_ name: String, _ content: [UInt8]) throws -> ZipWriter.Member {
            try Data(content).write(to: URL(filePath: "\(directory)/\(name)"))
            return ZipWriter.Member(name, file: "\(directory)/\(name)")
        }
        func meta(_ path: String, _ coding: String) -> [UInt8] {
            Array(
                #"{"times":{"start":"2026-01-01T00:00:00Z"},"status":"COMPLETE","method":"POST","scheme":"http","host":"h.example","path":"\#(path)","request":{"header":"#
                    .utf8
            )
                + Array(
                    #"{"firstLine":"POST \#(path) HTTP/1.1","headers":[]}},"response":{"status":200,"header":{"headers":["#
                        .utf8
                )
                + Array(#"{"name":"Content-Encoding","value":"\#(coding)"}]}}}"#.utf8)
        }
        let packed = try ContentEncoder.encode(ByteBuffer(string: "packed"), coding: .gzip)
        let path = directory + "/s.chlz"
        try ZipWriter.write(
            [
                member("10-meta.json", meta("/ten", "gzip")), member("10-res.txt", Array("plain".utf8)),
                member("2-meta.json", meta("/two", "gzip")), member("2-req.json", Array("{}".utf8)),
                member("2-res.txt", Array(packed.readableBytesView)), member("3-meta.json", Array("[1".utf8)),
                // The same number once more, which has no other bodies.
                member("010-meta.json", meta("/ten", "gzip")),
            ],
            to: path
        )
        let losses = ArchiveLosses()
        var reader = CharlesZipReader(try ZipReader(path), losses: losses)
        var recording = ArchiveRecording()
        var found: [(String, String, String)] = []
        let take: (ArchiveEntry) -> Void = { entry in
            var (request, response) = ("", "")
            var head = ""
            for event in recording.events(entry) {
                switch event {
                case .body(_, .requestReceived, let part): request += String(buffer: part)
                case .body(_, _, let part):
                    response = String(buffer: ContentDecoder.decode(part, codings: [.gzip], limit: 100).bytes)
                case .finished(let record, _): head = record.url.path
                default: break
                }
            }
            found.append((head, request, response))
        }
        try reader.forEach(take)
        // What does not decode is taken for decoded, and gets its coding again.
        #expect(found.map(\.0) == ["/two", "/ten", "/ten"] && found.map(\.1) == ["{}", "", ""])
        #expect(found.map(\.2).sorted() == ["", "packed", "plain"])
        #expect(losses.phrases == ["1 entry that is no transaction"])

        try FileManager.default.removeItem(atPath: path)
        try ZipWriter.write([member("3-meta.json", Array("[1".utf8))], to: path)
        var empty = CharlesZipReader(try ZipReader(path), losses: ArchiveLosses())
        #expect(throws: ArchiveError("there are no transactions of Charles in it")) { try empty.forEach(take) }
    }
}

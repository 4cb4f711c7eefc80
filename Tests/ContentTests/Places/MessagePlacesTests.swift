import Content
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Values at places")
struct MessagePlacesTests {
    private static let json = #"""
        {"items": [{"id": 7, "tags": ["red", "blue"]}, {"id": "8", "tags": []}], "a.b": {"c": true},
         "twice": 1, "twice": 2, "nåme": "z\u00fcrich \"x\"", "esc\u0061ped": null, "deep": [[1], [2, 3]]}
        """#
    private static let xml = """
        <?xml version="1.0"?><f:feed xmlns:f="u" id="9"><entry n="1">a &amp; b</entry><entry n="2">
        c<b>d</b> </entry></f:feed>
        """
    private static let multipart =
        "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\nhello\r\n--x--\r\n"

    private func values(
        _ place: String,
        type: String?,
        _ body: String,
        head: String = "",
        coding: Bool = false
    ) throws
        -> [String]
    {
        var bytes = ByteBuffer(string: body)
        if coding { bytes = try ContentEncoder.encode(bytes, coding: .gzip) }
        let place = try Place(place)
        let isRequest = place.root == .request || place.root == .graphql
        let fields =
            (type.map { "Content-Type: \($0)\r\n" } ?? "") + (coding ? "Content-Encoding: gzip\r\n" : "") + head
        let start = isRequest ? "POST /x HTTP/1.1\r\n" : "HTTP/1.1 200 OK\r\n"
        let message = MessagePlaces(
            isRequest: isRequest,
            head: ByteBuffer(string: start + fields + "\r\n"),
            trailers: ByteBuffer(string: "X-Sum: 1\r\nx-sum: 2\r\n"),
            query: "page=2&tag=a+b&tag=%63&e"
        ) { bytes }
        return try message.values(place.part, place.steps).map(\.text)
    }

    private static let jsonValues: [(String, [String])] = [
        ("res.json.items[0].id", ["7"]), ("res.json.items[*].id", ["7", "8"]), ("res.json.items[-1].id", ["8"]),
        ("res.json.items[2].id", []), ("res.json.items[*].tags[*]", ["red", "blue"]),
        ("res.json.items[1].tags", ["[]"]),
        ("res.json.\"a.b\".c", ["true"]), ("res.json[\"a.b\"]", ["{\"c\": true}"]), ("res.json.twice", ["1", "2"]),
        ("res.json.nåme", ["zürich \"x\""]), ("res.json.escaped", ["null"]), ("res.json.deep[-1][-2]", ["2"]),
        ("res.json.deep[-3]", []), ("res.json.deep[*][0]", ["1", "2"]), ("res.json.items.id", []),
        ("res.json[*].c", ["true"]), ("res.json.twice.x", []), ("res.json.Twice", []),
    ]

    @Test("of JSON", arguments: jsonValues)
    func json(_ place: String, _ expected: [String]) throws {
        #expect(try values(place, type: "application/json", Self.json) == expected)
        #expect(try values(place, type: nil, Self.json, coding: true) == expected)
    }

    private static let headValues: [(String, [String])] = [
        ("req.query.page", ["2"]), ("req.query.tag", ["a b", "c"]), ("req.query.tag[1]", ["c"]), ("req.query.e", [""]),
        ("req.query.tag[-2]", ["a b"]), ("req.query.none", []), ("req.header.X-A", ["1", "2"]),
        ("req.header.x-a[-1]", ["2"]), ("req.cookie.sid", ["a=b"]), ("res.cookie.sid", ["q"]), ("req.cookie.SID", []),
        ("res.trailer.x-sum[1]", ["2"]), ("req.form.user", ["ä b"]), ("req.form.empty", [""]),
        ("req.body", ["user=%C3%A4+b&empty=&q"]), ("req.json.user", []),
    ]

    @Test("of heads and forms", arguments: headValues)
    func heads(_ place: String, _ expected: [String]) throws {
        let head = "X-A: 1\r\nx-a: 2\r\nCookie: sid=a=b; t=1\r\nSet-Cookie: sid=q; Path=/\r\n"
        let form = "application/x-www-form-urlencoded"
        #expect(try values(place, type: form, "user=%C3%A4+b&empty=&q", head: head) == expected)
    }

    @Test("of other structures")
    func structures() throws {
        let graphQL = #"{"query": "mutation Add { add }", "operationName": "Add", "variables": {"x": [1, "two"]}}"#
        let rows: [(String, String, String, [String])] = [
            ("res.part.f", "multipart/form-data; boundary=x", Self.multipart, ["hello"]),
            ("res.xml.feed.entry", "text/xml", Self.xml, ["a & b", "cd"]),
            ("res.xml.feed.entry[-1].b", "text/xml", Self.xml, ["d"]),
            ("res.xml.feed.entry[1].@n", "application/atom+xml", Self.xml, ["2"]),
            ("res.xml.feed.entry[*].@n", "text/xml", Self.xml, ["1", "2"]),
            ("res.xml.feed.@id", "text/xml", Self.xml, ["9"]),
            ("res.xml.\"f:feed\".entry[0]", "text/xml", Self.xml, ["a & b"]),
            ("res.xml.entry", "text/xml", Self.xml, []), ("res.xml.feed.entry", "application/json", Self.xml, []),
            ("graphql.operation", "application/json", graphQL, ["Add"]),
            ("graphql.type", "application/json", graphQL, ["mutation"]),
            ("graphql.variables.x[1]", "application/json", graphQL, ["two"]),
            ("res.json.id", "image/png", "{\"id\": 1}", []), ("res.json.id", "text/plain", "{\"id\": 1}", ["1"]),
        ]
        for (place, type, body, expected) in rows {
            #expect(try values(place, type: type, body) == expected, "\(place)")
        }
    }

    @Test("JSON in another charset is converted, a broken or long body says why it has none")
    func problems() throws {
        func message(_ type: String, _ bytes: [UInt8]) -> MessagePlaces {
            let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n")
            return MessagePlaces(isRequest: false, head: head) { ByteBuffer(bytes: bytes) }
        }
        let latin: [UInt8] = Array("{\"".utf8) + [0xFC] + Array("\": \"".utf8) + [0xE9] + Array("\"}".utf8)
        let converted = message("application/json; charset=iso-8859-1", latin)
        #expect(try converted.values(.json, [.member("ü")]).map(\.text) == ["é"])
        let invalid = message("application/json", latin)
        #expect(try invalid.values(.json, [.member("ü")]).isEmpty)
        #expect(invalid.problem?.contains("it is not UTF-8") == true)
        let broken = message("application/json", Array("{\"a\": 1,\n \"b\": }".utf8))
        #expect(try broken.values(.json, [.member("a")]).isEmpty)
        #expect(broken.problem == "the body is not valid JSON: line 2, column 7: a value is missing")
        let long = message("application/json", [UInt8](repeating: 0x20, count: MessagePlaces.longestBody + 1))
        #expect(try long.values(.json, []).isEmpty && long.problem == "the body is longer than 16 MiB")
        let deep = message("application/json", Array(String(repeating: "[", count: 257).utf8))
        #expect(try deep.values(.json, []).isEmpty && deep.problem?.contains("nested deeper than 256 levels") == true)
    }
}

import HTTPModel
import Testing

@Suite("Places")
struct PlaceTests {
    @Test(
        "A place is printed as it is read",
        arguments: [
            "req.method", "req.url", "req.host", "req.path", "req.body", "res.status", "sent.res.status",
            "res.header.set-cookie[1]", "sent.req.header.x-a[-1]", "req.cookie.sid", "req.query.page[0]",
            "req.query.tag[*]", "req.form.\"user name\"", "req.part.file", "res.trailer.grpc-status", "res.json",
            "res.json.items[0].id", "res.json[0].a", "res.json.a[*].b", "res.json[-1]", "res.json.\"a.b\"",
            "res.json.\"\"", "res.json.0", "res.json.größe", "res.json.名前.$ref", "res.json.\"\\u0001\\\"\\\\\"",
            "res.json.\"a\\nb\"", "res.xml.feed.entry[0].@id", "message#3.json.type", "message#12.body",
            "graphql.operation", "graphql.type", "graphql.variables.x[0]", "grpc.user.name",
        ]
    )
    func printed(_ text: String) throws {
        #expect(try Place(text).description == text)
    }

    @Test(
        "Other spellings are read as the same place",
        arguments: [
            ("req.header.Content-Type", "req.header.content-type"), ("res.json[\"a.b\"].c", "res.json.\"a.b\".c"),
            ("res.json.\"plain\"", "res.json.plain"), ("res.json.\"\\u00e9\"", "res.json.é"),
            ("res.json.\"\\ud83d\\ude00\"", "res.json.\"😀\""),
        ]
    )
    func spelt(_ text: String, _ printed: String) throws {
        #expect(try Place(text) == Place(printed) && Place(text).description == printed)
    }

    @Test(
        "What is no place is refused with its column and a way out",
        arguments: [
            ("", 0, "a place begins with"), ("req", 3, "for example req.body"), ("req.", 4, "a part is missing"),
            ("res.method", 4, "res has no 'method'; it has status"),
            ("req.header", 10, "for example req.header.accept"),
            ("req.header.a.b", 10, "between quotation marks"), ("req.header.a[0][1]", 10, "at most [n]"),
            ("res.json.", 9, "a name is missing"), ("res.json.a..b", 11, "a name is missing"),
            ("res.json.[0]", 9, "a name is missing"), ("res.json.a[]", 10, "write [*] for any"),
            ("res.json.a[x]", 11, "brackets have a number"), ("res.json.a[0", 10, "has no ']'"),
            ("res.json.a[99999999999999999999]", 11, "brackets have a number"), ("res.json.\"a", 9, "is not closed"),
            ("message#0.json", 8, "from 1 on"), ("message#x", 8, "message#3.json.type"),
            ("message.json", 0, "a place begins with"), ("sent.json.a", 5, "req or res"),
            ("json.a", 0, "write req.json"),
            ("status", 0, "write res.status"), ("grpc", 4, "a name is missing"),
            ("graphql.op", 8, "it has operation, type, variables"), ("res.jsn.a", 4, "did you mean 'json'?"),
            (".items[].id", 0, "write res.json.items[*].id"), ("$.a[0]", 0, "write res.json.a[0]"),
            ("/a/0/b", 0, "write res.json.a[0].b"), ("$..a", 0, "begins with res.json"),
            ("req.body.x", 8, "req.body is one"), ("res.json.a b", 10, "res.json.a is one"),
            ("req.header.\"\\u12\"", 14, "four hexadecimal digits"), ("REQ.body", 0, "a place begins with"),
        ]
    )
    func refused(_ text: String, _ offset: Int, _ words: String) {
        let error = #expect(throws: PlaceError.self) { try Place(text) }
        #expect(
            error?.offset == offset && error?.description.contains(words) == true,
            "\(text): \(String(describing: error))"
        )
    }

    @Test("Where the message is known, a place may begin with its part")
    func known() throws {
        #expect(try Place("json.a[0]", in: .response).description == "res.json.a[0]")
        #expect(try Place("req.json.a", in: .response).description == "req.json.a")
    }
}

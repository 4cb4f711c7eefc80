import HTTPModel
import Testing

@Suite("Filter terms with places")
struct PlaceTermTests {
    @Test(
        "are printed as they are read",
        arguments: [
            "req.header.accept:*json*", "res.json.error.code:42", "res.json.items[*].id:>5", "res.json.a:>=5",
            "res.json.a:<5", "res.json.a:<=-2.5e3", "res.json.a:1..9", "res.json.a:>-1",
            "res.json.a:*", "res.json.a:\"\"", "req.cookie.sid:a?c", "req.query.page:1,2,3", "res.json.a:/^x.*y$/",
            "req.path:/v1/users/", "req.path:/^\\/v1/", "req.url:https://a.example/*", "req.host:*.example.com",
            "message#3.json.type:ping", "graphql.operation:Add", "graphql.variables.\"a b\"[0]:7",
            "sent.req.header.host:a", "sent.res.status:5*", "res.json.\"a:b (c)\":\"x, y\"", "req.form.q:\"\\\"\"",
            "res.json.a:\">5\"", "res.json.a:\"1..9\"", "res.json.a:true,null", "!req.json.dry:true", "res.xml.a.@id:3",
            "req.part.file:*", "res.trailer.grpc-status:0", "host:x (req.json.a:1 or res.json.b:2)",
        ]
    )
    func printed(_ text: String) throws {
        let filter = try Filter(text)
        #expect(filter.description == text)
        #expect(try Filter(filter.description) == filter)
    }

    @Test(
        "are refused with the column and a way out",
        arguments: [
            ("req.heder.a:b", 5, "did you mean 'header'? (quote the word"),
            ("res.example.com:443", 5, "quote the word"),
            ("res.json.a:", 12, "write * for any value"), ("res.json.a:1,", 14, "a value is missing"),
            ("res.json.a:>x", 13, "'x' is not a number"), ("res.json.a:>", 13, "a number is missing"),
            ("res.json.a:9..1", 12, "start is after its end"),
            ("host:a res.json.a[:1", 19, "quotation marks, quote the word"),
            ("res.json.\"a:1", 10, "is not closed"), ("message#0.json:1", 9, "from 1 on"),
            ("req.status:200", 5, "req has no 'status'"), ("res.json.a:/(/", 14, "the regular expression is wrong"),
            ("graphql.name:x", 9, "it has operation, type, variables"), ("req.header:x", 11, "a name is missing"),
            ("res.json.a=b:c", 11, "the place ends before this"),
            ("host:a grpc.user.name:x", 8, "show --get grpc.user.name"),
        ]
    )
    func refused(_ text: String, _ column: Int, _ words: String) {
        let error = #expect(throws: FilterError.self) { try Filter(text) }
        #expect(
            error?.column == column && error?.description.contains(words) == true,
            "\(text): \(String(describing: error))"
        )
    }

    @Test(
        "need a colon; other words search the URL",
        arguments: [
            "req.example.com", "res.json.a", "api.example.com:443", "request.json:1", "sent", "message#3", "reqs.a:1",
        ]
    )
    func words(_ text: String) {
        let filter = try? Filter(text)
        let isPlace = filter?.description.contains("req.json") ?? false
        #expect(!isPlace)
        if case .term(let term)? = filter?.root { #expect(term.key.isEmpty) }
    }

    @Test(
        "compare the whole value",
        arguments: [
            ("5", "5", true), ("5", "5.0", true), ("5", "50", false), ("5", "5e0", true), ("5", "x5", false),
            ("5.10", "5.1", true), ("9007199254740993", "9007199254740992", false), ("ab", "ab", true),
            ("ab", "AB", false),
            ("a*", "abc", true), ("*b*", "abc", true), ("a?c", "abc", true), ("\"a*\"", "abc", false), ("*", "", true),
            ("\"\"", "", true), ("\"\"", "a", false), (">5", "5.5", true), (">5", "5", false), (">=5", "5", true),
            ("<5", "-3", true), ("<5", "x", false), ("1..9", "9", true), ("1..9", "9.1", false), ("..9", "-1e9", true),
            ("/b+/", "abbc", true), ("/^b/", "abbc", false), ("/B/", "b", false), (">5", "nan", false),
            (">5", "inf", false),
            (">5", "0x10", false), ("a..b", "a..b", true), ("null", "null", true), ("x,ab", "ab", true),
        ]
    )
    func values(_ condition: String, _ value: String, _ passes: Bool) throws {
        let filter = try Filter("res.json.a:\(condition)")
        let isPassing = filter.root.tests.contains { test in
            guard case .place(let test) = test else { return false }
            return Array(value.utf8).withUnsafeBufferPointer { test.matches($0) }
        }
        #expect(isPassing == passes)
    }

    @Test("Hosts ignore case, paths do not; both are decided by the record")
    func record() throws {
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: "GET",
            url: RequestURL(scheme: "https", host: "a.example", port: 443, path: "/V1/x", query: "q=1"),
            clientConnection: ConnectionID(1)
        )
        record.status = 204
        for (text, passes) in [
            ("req.host:A.EXAMPLE", true), ("req.path:/V1/*", true), ("req.path:/v1/*", false), ("req.method:GET", true),
            ("req.url:https://a.example/V1/x", false), ("req.url:\"https://a.example/V1/x?q=1\"", true),
            ("sent.res.status:2*", true), ("sent.req.host:a.example", true), ("sent.res.status:>300", false),
        ] {
            #expect(try Filter(text).decides(record) == passes, "\(text)")
        }
        #expect(try Filter("req.query.q:1").decides(record) == nil)
        #expect(try Filter("res.json.a:1").needs == .bodies && Filter("req.header.a:1").needs == .messages)
    }
}

import HTTPModel
import Testing

@Suite("What a comparison leaves out")
struct IgnoreRuleTests {
    @Test(
        "A bare name is a name; a text with a dot is a place",
        arguments: [
            ("price", "name price"), ("X-Mine", "name X-Mine"), ("a b", "name a b"), ("$ref", "name $ref"),
            ("\"a.b\"", "name a.b"), ("json.items[*].id", "place req.json.items[*].id"),
            ("json.a", "place req.json.a"), ("req.query.tag[1]", "place req.query.tag[1]"),
            ("req.url", "place req.url"),
        ]
    )
    func read(_ text: String, _ expected: String) throws {
        let rule = try IgnoreRule(text, in: .request)
        let kind = if case .name = rule { "name" } else { "place" }
        #expect("\(kind) \(rule)" == expected)
        #expect(throws: PlaceError.self) { try IgnoreRule("res.json.a", in: .request) }
        #expect(try IgnoreRule("message#3.json.a").description == "message#3.json.a")
    }

    @Test(
        "What is none is refused with a way out",
        arguments: [
            ("", "a name or a place is missing"), (" ", "a name or a place is missing"),
            ("items[].price", "for a path in JSON write res.json.items[*].price, for a name \"items[].price\""),
            ("a.b", "for a path in JSON write res.json.a.b, for a name \"a.b\""),
            (".items[].id", "write res.json.items[*].id"), ("$.a", "write res.json.a"), ("/a/b", "write res.json.a.b"),
            ("$", "write res.json"), ("res.jsn.a", "did you mean 'json'?"),
            ("sent.res.json.a", "begin with req or res"), ("res.cookie.sid", "write res.header.set-cookie"),
            ("grpc.a", "it may be method, url,"), ("req.query.a[-1]", "count from 0"),
            ("res.json.a[x]", "brackets have"),
        ]
    )
    func refused(_ text: String, _ words: String) {
        let error = #expect(throws: PlaceError.self) { try IgnoreRule(text) }
        #expect(error?.description.contains(words) == true, "\(text): \(String(describing: error))")
    }

    @Test(
        "A place covers itself and what is below it",
        arguments: [
            ("res.json.a", "res.json.a.b[0]", true), ("res.json.a", "res.json.ab", false),
            ("res.json.a[*]", "res.json.a[3].b", true), ("res.json.a[*]", "res.json.a", false),
            ("res.json.a", "req.json.a", false), ("res.body", "res.form.a", true), ("res.body", "res.header.a", false),
            ("req.url", "req.query.a", true), ("req.url", "req.method", false),
            ("req.query.a", "req.query.a[2]", true), ("req.query.a[0]", "req.query.a", true),
            ("req.query.a[1]", "req.query.a", false), ("req.query.a[*]", "req.query.a", true),
            ("res.header.X-A", "res.header.x-a", true), ("req.query.A", "req.query.a", false),
        ]
    )
    func covers(_ rule: String, _ place: String, _ isCovered: Bool) throws {
        #expect(try Place(rule).covers(Place(place)) == isCovered)
    }
}

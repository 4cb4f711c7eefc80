import Content
import HTTPModel
import Support
import Testing

struct ValueTests {
    @Test func `a token gives its parts, and what is no token gives nothing`() throws {
        let header = "eyJhbGciOiJIUzI1NiJ9"
        let token = try #require(JSONWebToken("\(header).eyJzdWIiOiI0MiIsImV4cCI6MTc5MDAwMDAwMH0.c2ln"))
        #expect(token.algorithm == "HS256" && token.subject == "42")
        #expect(token.moment("exp") == 1_790_000_000_000_000 && token.moment("iat") == nil)
        #expect(JSONWebToken.found(in: "Bearer \(header).eyJzdWIiOiI0MiJ9.")?.subject == "42")
        let encrypted = try #require(JSONWebToken("\(header).a.b.c.d"))
        #expect(encrypted.payload == nil)
        for text in ["", "eyJ", "\(header)", "\(header).e30", "\(header).!!.x", "e30.e30.x", "\(header).bm8.x"] {
            #expect(JSONWebToken(text) == nil, "\(text)")
        }
    }

    @Test func `credentials may hold colons, and need their scheme`() {
        let basic = BasicCredentials("bAsIc dTpwOng=")
        #expect(basic?.user == "u" && basic?.password == "p:x")
        #expect(BasicCredentials("Bearer dTpwOng=") == nil && BasicCredentials("Basic dXNlcg==") == nil)
    }

    @Test func `numbers of plausible size are moments`() {
        #expect(EpochTime("1790000000")?.microseconds == 1_790_000_000_000_000)
        #expect(EpochTime("1790000000.25")?.microseconds == 1_790_000_000_250_000)
        #expect(EpochTime("1790000000123") == EpochTime("1790000000123", unit: .milliseconds))
        #expect(EpochTime("1790000000123456") == EpochTime("1790000000123456", unit: .microseconds))
        for other in [
            "0", "42", "978307199", "4102444801", "99999999999999999999", "-1790000000", "1e9", "1790000000e3", "",
        ] {
            #expect(EpochTime(other) == nil, "\(other)")
        }
    }

    @Test func `encoded texts are told from words`() {
        #expect(TextValue("a%20b%C3%A9") == .percentEncoded("a b\u{E9}"))
        #expect(TextValue("eyJhIjoxfQ==") == .base64("{\"a\":1}"))
        #expect(TextValue("AAECAwQFBgcICQ==") == .base64Bytes([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))
        for word in ["application", "100%", "no-cache", "deadbeef", "HelloWorld", "a b"] {
            #expect(TextValue(word) == nil, "\(word)")
        }
    }

    @Test func `GraphQL is found in JSON, batches, queries and documents`() {
        let single = Array(#"{"query":"query A { a } mutation B { b }","operationName":"B","variables":{"n":3}}"#.utf8)
        let operation = GraphQLOperation.inJSON(single).first
        #expect(operation?.title == "mutation B" && operation?.variables == Array(#"{"n":3}"#.utf8))
        let batch = Array(#"[{"query":"{ a }"},{"query":"subscription S($x: Int = 1) { s }"}]"#.utf8)
        #expect(GraphQLOperation.inJSON(batch).map(\.title) == ["query", "subscription S"])
        for other in [#"{"query":"select"}"#, #"[{"query":"{ a }"},{"x":1}]"#, "[1]", "[]", "{", "x"] {
            #expect(GraphQLOperation.inJSON(Array(other.utf8)).isEmpty, "\(other)")
        }
        let fields = FormFields.parse(query: "query=query%20Q%7Ba%7D&variables=%7B%22n%22%3A1%7D")
        #expect(GraphQLOperation.inQuery(fields)?.title == "query Q")
        #expect(GraphQLOperation.inQuery(FormFields.parse(query: "query=shoes")) == nil)
        #expect(
            GraphQLOperation.inDocument("# query X\nmutation \"\"\"q\"\"\" M{a}")?.title.hasPrefix("mutation") == true
        )
        let errors = GraphQLOperation.errors(
            Array(#"{"errors":[{"message":"no","path":["a",0]},{}],"data":null}"#.utf8)
        )
        #expect(errors == [#"no at ["a",0]"#, "{}"])
    }

    @Test func `no text makes a reader of values trap`() {
        var random = SplitMix(3)
        let pieces = [
            "eyJhbGciOiJub25lIn0", ".", "{", "}", "\"", "\\", "=", "%", "%4", "Basic ", "\u{1F600}", "9", "query", "[",
            "..", "*",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...9, using: &random)).map { _ in pieces.randomElement(using: &random) ?? ""
            }.joined()
            _ = (TextValue(text), JSONWebToken(text), BasicCredentials(text), EpochTime(text))
            _ = (GraphQLOperation.inJSON(Array(text.utf8)), GraphQLOperation.inDocument(text))
        }
    }
}

@Suite("Places in a JSON text")
struct JSONPlacesTests {
    private let tree: JSONTree

    init() throws {
        let text =
            #"{"items":[{"id":1,"tags":["a"]},{"id":2,"sub":{"id":"x"}},{"no":0}],"a b":{"c.d":true},"caf\u00e9":[],"id":null}"#
        tree = try JSONTree(Array(text.utf8))
    }

    @Test(
        "lead to the values that they name",
        arguments: [
            ("res.json.items[*].id", ["1", "2"]), ("res.json.items[0].tags[0]", ["\"a\""]),
            ("res.json.items[-1]", [#"{"no":0}"#]), ("res.json.\"a b\"[*]", ["true"]),
            ("res.json[*][*].id", ["1", "2"]), ("res.json.\"a b\".\"c.d\"", ["true"]),
            ("res.json.caf\u{E9}", ["[]"]), ("res.json.items.id", []), ("res.json.items[9]", []),
            ("res.json.items[-4]", []), ("res.json.items[\(Int.min)]", []), ("res.json[0]", []),
            ("res.json.id.x", []), ("res.json.items[1].sub", [#"{"id":"x"}"#]),
        ]
    )
    func values(_ place: String, _ values: [String]) throws {
        #expect(tree.nodes(at: try Place(place).steps).map { tree.text(of: $0) } == values)
    }

    @Test("of duplicate keys lead to all")
    func duplicates() throws {
        let tree = try JSONTree(Array(#"{"a":{"b":1},"\u0061":{"b":2,"b":3}}"#.utf8))
        #expect(tree.nodes(at: try Place("res.json.a.b").steps).map { tree.text(of: $0) } == ["1", "2", "3"])
    }

    @Test("of the whole text, also of an empty one")
    func whole() throws {
        #expect(tree.nodes(at: []) == [0])
        #expect(try Place("res.json").steps.isEmpty && tree.steps(to: [0]) == [[]])
        let empty = try? JSONTree([])
        #expect(empty?.nodes(at: []) ?? [] == [])
    }

    @Test("are found for each value and lead back to it")
    func ways() throws {
        for (index, steps) in tree.steps(to: Array(tree.nodes.indices)).enumerated() {
            let place = try Place(Place(.response, .json, steps).description)
            #expect(place.steps == steps && tree.nodes(at: steps) == [index], "\(place)")
        }
        #expect(tree.node(at: tree.nodes[3].range.lowerBound) == 3)
    }

    @Test(
        "that have no value say how far they lead",
        arguments: [
            ("res.json.items[*].idd", "of the 3 values of res.json.items[*] none has member 'idd'"),
            ("req.json.x", "req.json has no member 'x'"), ("res.json.items[7].a", "res.json.items has no element 7"),
            ("res.json.id[*]", "res.json.id has no members or elements"),
        ]
    )
    func misses(_ place: String, _ words: String) throws {
        #expect(tree.misses(try Place(place)) == words)
    }
}

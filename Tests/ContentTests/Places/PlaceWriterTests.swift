import Content
import HTTPModel
import Testing

@Suite("Values written at places")
struct PlaceWriterTests {
    /// A message after a change: its header lines, its query and its body.
    private func written(
        _ place: String,
        _ value: String?,
        fields: [(String, String)] = [],
        query: String? = nil,
        body: String = ""
    ) throws -> (fields: String, query: String?, body: String) {
        let place = try Place(place, in: .request)
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        var writer = PlaceWriter(
            isRequest: place.root == .request,
            fields: section,
            query: query.map { Array($0.utf8) }
        )
        writer.body = Array(body.utf8)
        try writer.set(value, at: place)
        let query = writer.query.map { String(decoding: $0, as: UTF8.self) }
        return (writer.fields.description, query, String(decoding: writer.body, as: UTF8.self))
    }

    private func json(_ place: String, _ value: String?, in text: String) throws -> String {
        try written(place, value, body: text).body
    }

    @Test(
        "In JSON, a value is put at its place and the rest stays byte for byte",
        arguments: [
            ("json.a", "2", #"{"a":1}"#, #"{"a":2}"#),
            ("json.a.b[0]", "true", #"{"a": {"b": [ 1 , 2]}}"#, #"{"a": {"b": [ true , 2]}}"#),
            ("json.a[1]", #"{"x":[]}"#, #"{"a":[[1,{"y":"]"}], "}" , 3]}"#, #"{"a":[[1,{"y":"]"}], {"x":[]} , 3]}"#),
            ("json.a[2]", "3", #"{"a":[1,2]}"#, #"{"a":[1,2,3]}"#),
            ("json.a[-1]", "3", #"{"a":[1,2]}"#, #"{"a":[1,3]}"#),
            ("json.a[0]", "3", #"{"a":[ ]}"#, #"{"a":[3 ]}"#),
            ("json.b", "x", #"{"a":"\"}" }"#, #"{"a":"\"}","b":"x" }"#),
            ("json.b", "1", "{ }", #"{"b":1 }"#),
            ("json", "[1]", " {} ", " [1] "),
            ("json.\"\"", "1", #"{"":0}"#, #"{"":1}"#),
            ("json.\"a/b\".\"m~n\"", "1", #"{"a/b":{"m~n":0}}"#, #"{"a/b":{"m~n":1}}"#),
            ("json.é", "1", #"{"\u00e9":0}"#, #"{"\u00e9":1}"#),
            ("json.\"😀\"", "1", #"{"\ud83d\ude00":0}"#, #"{"\ud83d\ude00":1}"#),
            ("json.\"a\\\"b\"", "1", "{}", #"{"a\"b":1}"#),
            ("json.a[*]", "1", #"{"a":[7]}"#, #"{"a":[1]}"#),
            ("json.a", "-1.5e3", #"{"a":{"b":null}} "#, #"{"a":-1.5e3} "#),
        ]
    )
    func places(place: String, value: String, text: String, expected: String) throws {
        #expect(try json(place, value, in: text) == expected)
    }

    @Test(
        "In JSON, a value that is not JSON is a string",
        arguments: [
            ("Ada", #""Ada""#), (#"say "hi" \ "#, #""say \"hi\" \\ ""#),
            ("two\nlines\t\u{1}", #""two\nlines\t\u0001""#),
            ("", #""""#), ("01", #""01""#), (#""7""#, #""7""#), ("nul", #""nul""#), ("1 2", #""1 2""#),
        ]
    )
    func texts(value: String, expected: String) throws {
        #expect(try json("json.a", value, in: #"{"a":0}"#) == #"{"a":\#(expected)}"#)
    }

    @Test(
        "A removed value goes with its comma",
        arguments: [
            ("json.a", #"{ "a" : 1 , "b":2}"#, #"{ "b":2}"#), ("json.b", #"{"a":1 , "b":2 }"#, #"{"a":1 }"#),
            ("json.a", #"{ "a":1 }"#, "{  }"), ("json[1]", "[1, 2, 3]", "[1, 3]"), ("json[-1]", "[1, 2, 3]", "[1, 2]"),
            ("json[0].x", #"[{"x":[1,{"x":2}]}]"#, "[{}]"),
        ]
    )
    func removed(place: String, text: String, expected: String) throws {
        #expect(try json(place, nil, in: text) == expected)
    }

    @Test(
        "What cannot be written in JSON is refused in words",
        arguments: [
            ("json.user.nmae.x", "1", "req.json.user has no member 'nmae'; it has name"),
            ("json.tags[5]", "1", "req.json.tags has no element 5"),
            ("json.tags[-3]", "1", "req.json.tags has no element -3"),
            ("json.tags.x", "1", "req.json.tags has no member 'x'"),
            ("json.user[0]", "1", "req.json.user has no element 0; it has name"),
            ("json.user.name.first", "1", "req.json.user.name has no member 'first'"),
            ("json.tags[*]", "1", "req.json.tags[*] names 2 values; name one of them by its number"),
            ("json.tags[*].x", "1", "of the 2 values of req.json.tags[*] none has member 'x'"),
            ("json.twice", "1", "req.json.twice names 2 values"), ("json.x", nil, "req.json has no member 'x'"),
            ("json", nil, "req.json is the whole body"), ("xml.a", "1", "req.xml.a cannot be edited; header, cookie"),
        ] as [(String, String?, String)]
    )
    func refused(place: String, value: String?, words: String) {
        let text = #"{"user":{"name":"Bob"},"tags":[1,2],"twice":1,"twice":2}"#
        let error = #expect(throws: PlaceWriteError.self) { try json(place, value, in: text) }
        #expect(error?.description.hasPrefix(words) == true, "\(error?.description ?? "")")
    }

    @Test(
        "Bodies that are not JSON, or too deep, are refused",
        arguments: ["", "{\"a\":1", String(repeating: "[", count: 9_999)]
    )
    func noJSON(text: String) {
        let error = #expect(throws: PlaceWriteError.self) { try json("json.a", "1", in: text) }
        #expect(error?.description.hasPrefix("the body is not JSON: ") == true)
    }

    private static let fields = [("Accept", "a"), ("X-One", "1"), ("accept", "b")]

    @Test(
        "Header fields are set, added and removed",
        arguments: [
            ("header.accept", "c", "Accept: c\nX-One: 1"), ("header.accept[1]", "c", "Accept: a\nX-One: 1\naccept: c"),
            ("header.accept[-1]", nil, "Accept: a\nX-One: 1"), ("header.accept", nil, "X-One: 1"),
            ("header.accept[*]", nil, "X-One: 1"),
            ("header.Accept[2]", "c", "Accept: a\nX-One: 1\naccept: b\naccept: c"),
            ("header.new", "n", "Accept: a\nX-One: 1\naccept: b\nnew: n"),
        ] as [(String, String?, String)]
    )
    func header(place: String, value: String?, expected: String) throws {
        #expect(try written(place, value, fields: Self.fields).fields == expected)
    }

    @Test(
        "Cookies are set, added and removed, also over several fields",
        arguments: [
            ("cookie.b", "9", "Cookie: a=1; b=9\nCookie: c=3;b"), ("cookie.a", nil, "Cookie: b=2\nCookie: c=3;b"),
            ("cookie.b", nil, "Cookie: a=1\nCookie: c=3;b"),
            ("cookie.new", "n", "Cookie: a=1; b=2\nCookie: c=3;b; new=n"),
            ("cookie.c", "x y", "Cookie: a=1; b=2\nCookie: c=x y;b"),
        ] as [(String, String?, String)]
    )
    func cookie(place: String, value: String?, expected: String) throws {
        let fields = [("Cookie", "a=1; b=2"), ("Cookie", "c=3;b")]
        #expect(try written(place, value, fields: fields).fields == expected)
    }

    @Test("A cookie that stands alone is added with its field and removed with it")
    func lonelyCookie() throws {
        #expect(try written("cookie.a", "1").fields == "Cookie: a=1")
        #expect(try written("cookie.a", nil, fields: [("Cookie", "a=1"), ("X", "y")]).fields == "X: y")
        #expect(try written("cookie.a", "3", fields: [("Cookie", "a=1; b=0; a=2")]).fields == "Cookie: a=3; b=0")
        #expect(try written("cookie.a[1]", "3", fields: [("Cookie", "a=1; a=2")]).fields == "Cookie: a=1; a=3")
    }

    @Test(
        "Cookies of a response keep their attributes",
        arguments: [
            ("res.cookie.a", "9", "Set-Cookie: a=9; Path=/; HttpOnly\nSet-Cookie: b=2"),
            ("res.cookie.a", nil, "Set-Cookie: b=2"),
            ("res.cookie.c", "3", "Set-Cookie: a=1; Path=/; HttpOnly\nSet-Cookie: b=2\nSet-Cookie: c=3"),
        ] as [(String, String?, String)]
    )
    func setCookie(place: String, value: String?, expected: String) throws {
        let fields = [("Set-Cookie", "a=1; Path=/; HttpOnly"), ("Set-Cookie", "b=2")]
        #expect(try written(place, value, fields: fields).fields == expected)
    }

    @Test(
        "Query parameters are set, added and removed; others keep their spelling",
        arguments: [
            ("query.page", "7 & 8", "q=a+b%2fc&page=7%20%26%208&empty&%70lus=%2B"),
            ("query.page[1]", "3", "q=a+b%2fc&page=1&empty&page=3&%70lus=%2B"),
            ("query.plus", nil, "q=a+b%2fc&page=1&empty&page=2"),
            ("query.\"new one\"", "", "q=a+b%2fc&page=1&empty&page=2&%70lus=%2B&new%20one="),
            ("query.page[-2]", nil, "q=a+b%2fc&empty&page=2&%70lus=%2B"),
        ] as [(String, String?, String)]
    )
    func query(place: String, value: String?, expected: String) throws {
        #expect(try written(place, value, query: "q=a+b%2fc&page=1&empty&page=2&%70lus=%2B").query == expected)
    }

    @Test("A query goes with its last parameter, and begins with its first")
    func wholeQuery() throws {
        #expect(try written("query.a", nil, query: "a=1&a=2").query == nil)
        #expect(try written("query.a", "1").query == "a=1")
    }

    @Test("Fields of forms are set, an empty body becomes a form, and another body is refused")
    func form() throws {
        let type = [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")]
        #expect(try written("form.user", "Ä", fields: type, body: "user=a&p=%73&user=b").body == "user=%C3%84&p=%73")
        let fresh = try written("form.a", "b")
        #expect(fresh.body == "a=b" && fresh.fields == "Content-Type: application/x-www-form-urlencoded")
        for fields in [[("Content-Type", "application/json")], []] {
            #expect(throws: PlaceWriteError.self) { try written("form.a", "b", fields: fields, body: "{}") }
        }
    }

    @Test(
        "Values that are not there are not removed or set by their number",
        arguments: [
            ("header.x", nil), ("header.accept[2]", nil), ("header.accept[3]", "1"), ("header.accept[*]", "1"),
            ("cookie.x", nil), ("res.cookie.x", nil), ("query.x", nil), ("query.x[-1]", "1"), ("cookie.a", "1;2"),
            ("form.x", nil),
        ] as [(String, String?)]
    )
    func absent(place: String, value: String?) {
        let error = #expect(throws: PlaceWriteError.self) { try written(place, value, fields: Self.fields) }
        #expect(error?.description.isEmpty == false)
    }
}

import Content
import HTTPModel
import Testing

@Suite("Edits of all values at a place")
struct PlaceEditTests {
    /// A message after an edit such as `set req.json.a`, with the number of changes: its header lines, query and body.
    private func edited(
        _ edit: String,
        _ value: String,
        fields: String = "",
        query: String? = nil,
        body: String = ""
    ) throws -> (fields: String, query: String?, body: String, changed: Int) {
        let words = edit.split(separator: " ", maxSplits: 1).map(String.init)
        let place = try Place(words[1], in: .request)
        var section = FieldSection()
        for line in fields.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            section.append(parts[0], String(parts[1].dropFirst()))
        }
        var writer = PlaceWriter(
            isRequest: place.root == .request,
            fields: section,
            query: query.map { Array($0.utf8) }
        )
        writer.body = Array(body.utf8)
        let action: PlaceWriter.Action = words[0] == "remove" ? .remove : words[0] == "add" ? .add(value) : .set(value)
        let changed = try writer.apply(action, at: place)
        let written = writer.query.map { String(decoding: $0, as: UTF8.self) }
        return (writer.fields.description, written, String(decoding: writer.body, as: UTF8.self), changed)
    }

    @Test(
        "In JSON all values are edited, and other bytes stay",
        arguments: [
            ("set json.a", "2", #" {"a" : 1 , "b":[ ]} "#, #" {"a" : 2 , "b":[ ]} "#, 1),
            ("set json.items[*].plan", #""p""#, #"[{"plan":1}]"#, nil, 0),
            (
                "set json.items[*].plan", #""p""#, #"{"items":[{"plan" : 1},{ }, 7 ,{"x":{"plan":0}} ]}"#,
                #"{"items":[{"plan" : "p"},{"plan":"p" }, 7 ,{"x":{"plan":0},"plan":"p"} ]}"#, 3
            ),
            (
                "set json.a", "2", #"{"a":1,"b":0,"\u0061":[1,{"a":3}], "a": 2}"#, #"{"a":2,"b":0,"\u0061":2, "a": 2}"#,
                2
            ),
            ("set json.a.a", "2", #"{"a":{"a":1},"a":{"a":1,"a":{}}}"#, #"{"a":{"a":2},"a":{"a":2,"a":2}}"#, 3),
            ("set json[*][-1]", "0", "[[1,2],[],[[3]],{}]", "[[1,0],[],[0],{}]", 2),
            ("set json[*][1]", "0", "[[1],[],[1,2,3]]", "[[1,0],[],[1,0,3]]", 2),
            ("set json[2]", #"{"x":1}"#, "[1, 2 ]", #"[1, 2,{"x":1} ]"#, 1), ("set json[0]", "1", "[ ]", "[1 ]", 1),
            ("set json[3]", "1", "[1,2]", nil, 0), ("set json[-3]", "1", "[1,2]", nil, 0),
            ("set json.a.b.c", "1", #"{"a":{}}"#, nil, 0), ("set json.a.b", "1", #"{"a":null}"#, nil, 0),
            ("set json.a[*]", "1", #"{"a":{"x":0,"y":1}}"#, #"{"a":{"x":1,"y":1}}"#, 1),
            ("set json.a[*]", "1", #"{"a":[]}"#, nil, 0), ("set json", "[]", " 1 ", " [] ", 1),
            (
                "set json.big", "1.10", #"{"n":12345678901234567890.10e+3,"big":1.1}"#,
                #"{"n":12345678901234567890.10e+3,"big":1.10}"#, 1
            ),
            ("set json.é", "1", "\u{FEFF}{\"\\u00E9\":0}", "\u{FEFF}{\"\\u00E9\":1}", 1),
            ("set json.\"e\u{301}\"", "1", "{\"é\":0}", "{\"é\":0,\"e\u{301}\":1}", 1),
            ("add json.items", "3", #"{"items":[1, [2] ] }"#, #"{"items":[1, [2],3 ] }"#, 1),
            ("add json[*].tags", "3", #"[{"tags":[]},{},{"tags":1},5]"#, #"[{"tags":[3]},{"tags":3},{"tags":1},5]"#, 2),
            ("add json.a", "3", #"{"a":1}"#, nil, 0), ("add json[1]", "3", "[1]", "[1,3]", 1),
            (
                "remove json[*].b", "", #"[{"a":1, "b":2},{"b":1 , "a":2},{ "b":{"b":3} },9]"#,
                #"[{"a":1},{"a":2},{  },9]"#, 3
            ),
            (
                "remove json.b", "", #"{"b":1, "a" : 0 , "b":2,"b" : 3 ,"c":4, "\u0062":5, "b":6 }"#,
                #"{"a" : 0 , "c":4 }"#, 5
            ),
            ("remove json[*]", "", "[1, 2 ,[3]\n]", "[\n]", 3), ("remove json[-1]", "", "[1 , 2 ]", "[1 ]", 1),
            ("remove json[*][0]", "", "[[1,2],[3],[],{}]", "[[2],[],[],{}]", 2),
            ("remove json.x", "", "{}", nil, 0), ("remove json", "", "{}", nil, 0),
        ] as [(String, String, String, String?, Int)]
    )
    func json(edit: String, value: String, text: String, expected: String?, changed: Int) throws {
        guard let expected else {
            #expect(throws: PlaceWriteError.self) { try edited(edit, value, body: text) }
            return
        }
        let result = try edited(edit, value, body: text)
        #expect(result.body == expected)
        #expect(result.changed == changed)
    }

    @Test(
        "A miss is said in words, as is the place at which a text is not JSON",
        arguments: [
            ("set json.a[*].b.c", "[1]", "req.json has no member 'a'"),
            ("set json.a[*].b.c", #"{"a":[{},1,{"b":1}]}"#, "req.json.a[*].b has no member 'c'"),
            ("set json.a[*].b.c", #"{"a":[{},1]}"#, "of the 2 values of req.json.a[*] none has member 'b'"),
            ("remove json.a[7]", #"{"a":[1]}"#, "req.json.a has no element 7"),
            ("remove json", "[1]", "req.json is the whole body"),
            ("add json.a", #"{"a":1}"#, "req.json.a is not an array; 'set' replaces a value"),
            (
                "set json.a", "{\n \"a\": 1,\n \"b\": tru }",
                "the body is not JSON: line 3, column 10: 'true' was expected"
            ),
            ("set json.a", #"{"a":1}}"#, "the body is not JSON: line 1, column 8: there is text after the end"),
            ("set json.a", #"{"a":1"#, "the body is not JSON: line 1, column 7: the text ends too early"),
            ("set json.a", "", "the body is not JSON: line 1, column 1"),
            ("remove header.x", "", "there is no req.header.x"), ("set header.x[*]", "", "there is no req.header.x[*]"),
            ("set cookie.a", "", "the name and the value of a cookie cannot have a ';'"),
            ("set xml.a", "", "req.xml.a cannot be edited; header, cookie, query, form and json can be"),
        ]
    )
    func misses(edit: String, text: String, words: String) {
        let error = #expect(throws: PlaceWriteError.self) { try edited(edit, "1;", body: text) }
        #expect(error?.description.hasPrefix(words) == true, "\(error?.description ?? "")")
    }

    @Test("Deep JSON and values over the limit neither trap nor take quadratic time")
    func hostile() throws {
        for depth in [1_000, 1_000_000] {
            let (open, close) = (String(repeating: "[", count: depth), String(repeating: "]", count: depth))
            #expect(try edited("set json.a", "1", body: "{\"x\":\(open)\(close)}").body.hasSuffix("],\"a\":1}"))
            #expect(throws: PlaceWriteError.self) { try edited("set json.a", "1", body: open) }
        }
        let steps = String(repeating: "[-1]", count: 250)
        let nested = String(repeating: "[", count: 250) + "0" + String(repeating: "]", count: 250)
        #expect(try edited("set json\(steps)", "1", body: nested).body == nested.replacing("0", with: "1"))
        let many = "[" + String(repeating: "0,", count: 200_000) + "0]"
        #expect(try edited("set json[*]", "1", body: many).changed == 200_001)
        #expect(try edited("remove json[*]", "", body: many).body == "[]")
        let pairs = String(repeating: "a&", count: 200_000)
        #expect(try edited("remove query.a", "", query: pairs + "b=1").query == "b=1")
        #expect(try edited("set query.a", "1", query: pairs + "b=1").query == "a=1&b=1")
        let cookies = "Cookie: " + String(repeating: "a=;", count: 50_000) + "b="
        #expect(try edited("remove cookie.a", "", fields: cookies).fields == "Cookie: b=")
        let long = "\"\(String(repeating: "x", count: 1_000))\""
        for place in ["json[*]", "query.a[*]"] {
            let error = #expect(throws: PlaceWriteError.self) {
                try edited("set \(place)", long, query: pairs, body: many)
            }
            #expect(error?.description == "it would grow beyond 64 MiB")
        }
    }

    @Test(
        "Header fields and cookies: set leaves one, add appends, remove takes all",
        arguments: [
            ("set header.accept", "c", "Accept: a\nX: 1\naccept: b", "Accept: c\nX: 1", 2),
            ("set header.accept", "a", "Accept: a\nX: 1\naccept: b", "Accept: a\nX: 1", 1),
            ("set header.accept", "a", "Accept: a", "Accept: a", 0), ("set header.new", "n", "X: 1", "X: 1\nnew: n", 1),
            ("set header.accept[*]", "b", "Accept: a\nX: 1\naccept: b", "Accept: b\nX: 1\naccept: b", 1),
            ("set header.accept[-1]", "c", "Accept: a\nX: 1\naccept: b", "Accept: a\nX: 1\naccept: c", 1),
            ("add header.accept", "c", "Accept: a\nX: 1", "Accept: a\nX: 1\naccept: c", 1),
            ("remove header.accept", "", "Accept: a\nX: 1\naccept: b", "X: 1", 2),
            ("set cookie.a", "9", "Cookie: b=1; a=2;a=3\nCookie: a=4", "Cookie: b=1; a=9", 3),
            ("set cookie.a[*]", "9", "Cookie: b=1; a=2;a=9\nCookie: a=4", "Cookie: b=1; a=9;a=9\nCookie: a=9", 2),
            ("add cookie.a", "9", "Cookie: b=1; a=2", "Cookie: b=1; a=2; a=9", 1),
            ("add cookie.a", "9", "", "Cookie: a=9", 1),
            ("remove cookie.a", "", "Cookie: a=2; b=1; a=3\nCookie: a=4", "Cookie: b=1", 3),
            ("set res.cookie.a", "9", "Set-Cookie: a=1; Path=/\nSet-Cookie: a=2", "Set-Cookie: a=9; Path=/", 2),
            (
                "set res.cookie.a[*]", "9", "Set-Cookie: a=1; Path=/\nSet-Cookie: a=2; Secure",
                "Set-Cookie: a=9; Path=/\nSet-Cookie: a=9; Secure", 2
            ),
            ("add res.cookie.a", "9", "Set-Cookie: a=1", "Set-Cookie: a=1\nSet-Cookie: a=9", 1),
            ("remove res.cookie.a", "", "Set-Cookie: a=1\nX: 1\nSet-Cookie: a=2", "X: 1", 2),
        ]
    )
    func heads(edit: String, value: String, fields: String, expected: String, changed: Int) throws {
        let result = try edited(edit, value, fields: fields)
        #expect(result.fields == expected)
        #expect(result.changed == changed)
    }

    @Test(
        "Parameters and form fields: others keep their spelling, new text is percent-encoded",
        arguments: [
            ("set A.p", "7&\n", "q=%2f&p=1&p&%70=2", "q=%2f&p=7%26%0A", 3), ("add A.p", "x", "p=1", "p=1&p=x", 1),
            ("set A.p[*]", "1", "p=1&x&p=2", "p=1&x&p=1", 1), ("set A.p[1]", "3", "p=1&p=2", "p=1&p=3", 1),
            ("set A.p[2]", "3", "p=1&p=2", "p=1&p=2&p=3", 1), ("set A.p", "1", "", "p=1", 1),
            ("remove A.p", "", "p=1&a=+&p&b&p=2", "a=+&b", 3), ("remove A.p[0]", "", "a&p=1&p=2", "a&p=2", 1),
            ("remove A.p", "", "p=1&&c&&p", "&c&", 2), ("remove A.p", "", "p&p", "", 2),
        ]
    )
    func pairs(edit: String, value: String, before: String, after: String, changed: Int) throws {
        let query = try edited(edit.replacing("A.", with: "query."), value, query: before)
        #expect(query.query ?? "" == after)
        let type = "Content-Type: application/x-www-form-urlencoded"
        let form = try edited(edit.replacing("A.", with: "form."), value, fields: type, body: before)
        #expect(form.body == after)
        #expect(query.changed == changed && form.changed == changed)
    }
}

import Testing

@testable import Runner

@Suite("Values set in a JSON text")
struct JSONPointerTests {
    private func set(_ path: String, _ value: String, in text: String) throws -> String {
        String(decoding: try JSONPointer(path).set(value, in: Array(text.utf8)), as: UTF8.self)
    }

    @Test(
        "are put where the pointer says",
        arguments: [
            ("/a", "2", #"{"a":1}"#, #"{"a":2}"#),
            ("/a/b/0", "true", #"{"a": {"b": [ 1 , 2]}}"#, #"{"a": {"b": [ true , 2]}}"#),
            ("/a/1", #"{"x":[]}"#, #"{"a":[[1,{"y":"]"}], "}" , 3]}"#, #"{"a":[[1,{"y":"]"}], {"x":[]} , 3]}"#),
            ("/a/2", "3", #"{"a":[1,2]}"#, #"{"a":[1,2,3]}"#),
            ("/a/-", "3", #"{"a":[]}"#, #"{"a":[3]}"#),
            ("/b", "x", #"{"a":"\"}" }"#, #"{"a":"\"}","b":"x" }"#),
            ("/b", "1", "{ }", #"{"b":1 }"#),
            ("", "[1]", " {} ", " [1] "),
            ("/", "1", #"{"":0}"#, #"{"":1}"#),
            ("/a~1b/m~0n/~01", "1", #"{"a/b":{"m~n":{"~1":0}}}"#, #"{"a/b":{"m~n":{"~1":1}}}"#),
            ("/é", "1", #"{"\u00e9":0}"#, #"{"\u00e9":1}"#),
            ("/😀", "1", #"{"\ud83d\ude00":0}"#, #"{"\ud83d\ude00":1}"#),
            ("/a", "2", #"{"a":0,"a":1}"#, #"{"a":0,"a":2}"#),
            ("/a", "-1.5e3", "[0]\u{20}".replacing("[0]", with: #"{"a":{"b":null}}"#), #"{"a":-1.5e3} "#),
        ]
    )
    func places(path: String, value: String, text: String, expected: String) throws {
        #expect(try set(path, value, in: text) == expected)
    }

    @Test(
        "count as texts where they are no JSON",
        arguments: [
            ("Ada", #""Ada""#), (#"say "hi" \ "#, #""say \"hi\" \\ ""#),
            ("two\nlines\t\u{1}", #""two\nlines\t\u0001""#),
            ("", #""""#), ("01", #""01""#), (#""7""#, #""7""#), ("nul", #""nul""#), ("1 2", #""1 2""#),
        ]
    )
    func texts(value: String, expected: String) throws {
        #expect(try set("/a", value, in: #"{"a":0}"#) == #"{"a":\#(expected)}"#)
    }

    @Test(
        "are refused where the place is not there, with what is",
        arguments: [
            ("/user/nmae/x", "no member 'nmae'", "name"),
            ("/tags/5", "no element '5'", ""),
            ("/tags/x", "no element 'x'", ""),
            ("/tags/-1", "no element '-1'", ""),
            ("/user/name/first", "/user/name is neither object nor array", ""),
        ]
    )
    func missing(path: String, message: String, hint: String) throws {
        let error = failure { try set(path, "1", in: #"{"user":{"name":"Bob"},"tags":[1,2]}"#) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.hint.contains(hint) == true || hint.isEmpty)
    }

    @Test("do not go into what is no JSON, or too deep")
    func noJSON() {
        #expect(failure { try set("/a", "1", in: "") } != nil)
        #expect(failure { try set("/a", "1", in: "{\"a\":1") } != nil)
        #expect(failure { try set("/a", "1", in: String(repeating: "[", count: 100_000)) } != nil)
        #expect(failure { try set("a", "1", in: "{}") }?.message.contains("begins with '/'") == true)
    }
}

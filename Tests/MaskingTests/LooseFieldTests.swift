import Testing

@testable import Masking

@Suite("Fields as programs write them that care little for form")
struct LooseFieldTests {
    private let form = "application/x-www-form-urlencoded"

    private func body(_ text: String, _ type: String) -> String {
        String(decoding: Masked.body(Array(text.utf8), type), as: UTF8.self)
    }

    @Test("JSON and XML under the type of a form")
    func typeOfForm() {
        #expect(
            body(#"{"user": "bob", "password": "hunter22"}"#, form)
                == #"{"user": "bob", "password": "sluice-password-1"}"#
        )
        #expect(body(#"{"pin": 918273}"#, form) == #"{"pin": 900000001}"#)
        #expect(body("<a><password>hunter22</password></a>", form) == "<a><password>sluice-password-1</password></a>")
        #expect(body("[0][password]=ab;cd&a=1", form) == "[0][password]=sluice-password-1&a=1")
        #expect(Masked.text(#"x={"password": "ab"}"#, .form) == #"x={"password": "sluice-password-1"}"#)
    }

    @Test(
        "Blanks around the colon of JSON",
        arguments: [
            "\n:", "\t:", "          :", "\r\n  : \n", ":\t", ": " + String(repeating: " ", count: 100),
            String(repeating: " ", count: 300) + ":",
        ]
    )
    func blanks(separator: String) {
        let text = #"{"password"\#(separator)"hunter22","apiKeys"\#(separator)["\#(chance)"]}"#
        let masked = text.replacing("hunter22", with: "sluice-password-1").replacing(chance, with: "sluice-key-1")
        #expect(Masked.text(text) == masked)
    }

    @Test(
        "Blanks around the sign of a line, an attribute and of JSON in a form; none over the end of a line of settings"
    )
    func furtherBlanks() {
        #expect(Masked.text("db.password            = hunter22\n") == "db.password            = sluice-password-1\n")
        #expect(Masked.text("PASSWORD=\nUSER=bob\n") == "PASSWORD=\nUSER=bob\n")
        #expect(
            Masked.text("v=%7B%22password%22+%3A%20%22hunter22%22%7D", .form)
                == "v=%7B%22password%22+%3A%20%22sluice-password-1%22%7D"
        )
        #expect(
            Masked.text("<a password\n =\n \"hunter22\" b='c'/>", .markup)
                == "<a password\n =\n \"sluice-password-1\" b='c'/>"
        )
    }

    @Test("An array ends at its own bracket, and what is no secret in it stays")
    func arrays() {
        let password = "sluice-password-"
        #expect(
            Masked.text(#"{"passwords":["a]b","x1",["y2"],"z3"],"b":["c"]}"#)
                == #"{"passwords":["\#(password)1","\#(password)2",["\#(password)3"],"\#(password)4"],"b":["c"]}"#
        )
        #expect(
            Masked.text(#"{"a":"{\"passwords\":[\"a]b\",\"x1\"],\"b\":\"c\"}","d":"e"}"#)
                == #"{"a":"{\"passwords\":[\"\#(password)1\",\"\#(password)2\"],\"b\":\"c\"}","d":"e"}"#
        )
        #expect(
            Masked.text(#"{"passwords":[{"id" : "1", "value" : "2"}],"z":1}"#)
                == #"{"passwords":[{"id" : "1", "value" : "\#(password)1"}],"z":1}"#
        )
        #expect(
            Masked.text(#"{"passwords":["correct horse battery"]}"#) == #"{"passwords":["\#(password)1"]}"#
        )
        for message in ["This field is required.", "is too short (minimum is 8 characters)", "can't be blank"] {
            #expect(Masked.text(#"{"password":["\#(message)"]}"#) == #"{"password":["\#(message)"]}"#)
        }
    }

    @Test("A line in a JSON string ends in it", arguments: ["pass", #"a\\b"#])
    func linesInStrings(value: String) {
        let word = "sluice-password-1"
        for (before, after) in [
            (#"{"log":"a:\n  password: "#, #"\n  user: bob","next":"value","n":5}"#),
            (#"{"log":"a:\r\n- password: "#, #"","next":"value","n":5}"#),
        ] { #expect(Masked.text(before + value + after) == before + word + after) }
        let nested = #"{"x":"{\"log\":\"a:\\n  password: "#
        let rest = #"\",\"next\":\"value\"}","n":5}"#
        #expect(Masked.text(nested + "pass" + rest) == nested + word + rest)
    }

    @Test("The letter of an escape before a line is none of its name's")
    func escapeBeforeName() {
        #expect(
            Masked.text(#"{"head":"GET / HTTP/1.1\r\nX-Api-Key: \#(chance)\r\nHost: x","n":1}"#)
                == #"{"head":"GET / HTTP/1.1\r\nX-Api-Key: sluice-key-1\r\nHost: x","n":1}"#
        )
        #expect(Masked.text(#"{"a":"b\npin: 4711\nc"}"#) == #"{"a":"b\npin: sluice-password-1\nc"}"#)
    }

    @Test(
        "Names with letters that are percent-encoded",
        arguments: ["pass%77ord", "%70assword", "passwor%64", "%70in", "user%5Bp%69n%5D", "db%5Fpassword"]
    )
    func encodedNames(name: String) {
        let masked = "a=1&\(name)=sluice-password-1&b=c"
        #expect(Masked.text("a=1&\(name)=4711&b=c", .form) == masked)
        guard !name.contains("%5B") else { return }
        for syntax in [ScanSyntax.text, .field] {
            #expect(Masked.text("http://h/?\(name)=4711&b=c", syntax) == "http://h/?\(name)=sluice-password-1&b=c")
        }
    }

    @Test("A bracket before which nothing stands is no name")
    func bracket() {
        for text in ["]:[", "%5D=", "]=1", "\"]\":[\"x\"]", "[]:[1]"] {
            for syntax in [ScanSyntax.text, .form, .field, .markup] { #expect(Masked.text(text, syntax) == text) }
        }
    }
}

import Testing

@testable import Masking

@Suite("Values in objects that say their type, in lists of two, and in operations on a path")
struct PairTests {
    /// A text with a secret, as it is, with spaces, and in a JSON string.
    private func forms(_ text: String) -> [String] {
        [
            text, text.replacing(",", with: ", ").replacing(":", with: " : "),
            text.replacing(",", with: ",\n  ").replacing("{", with: "{\n  "),
            "{\"x\":\"\(text.replacing("\"", with: "\\\""))\"}",
            "{\"x\":\"{\\\"x\\\":\\\"\(text.replacing("\"", with: "\\\\\\\""))\\\"}\"}",
        ]
    }

    private func check(_ text: String, _ kind: String, count: Int = 1) {
        for form in forms(text) {
            var masked = form
            for number in (1...count).reversed() {
                masked = masked.replacing("\(number)\(chance)", with: "sluice-\(kind)-\(number)")
            }
            #expect(Masked.text(form) == masked)
        }
    }

    @Test(
        "Objects that wrap a value",
        arguments: [
            #"{"S":"@"}"#, #"{"stringValue":"@"}"#, #"{"value":"@"}"#, #"{"string":"@"}"#, ##"{"#text":"@"}"##,
            ##"{"@type":"x","#text":"@"}"##, #"{"_text":"@"}"#, #"{"$t":"@"}"#, #"{"_":"@"}"#, #"{"$":"@"}"#,
            #"{"B":"@"}"#,
            #"{"@value":"@"}"#,
        ]
    )
    func wrappers(wrapper: String) {
        let value = wrapper.replacing("\"@\"", with: "\"1\(chance)\"")
        check(#"{"a":{"S":"b"},"password":\#(value),"c":{"S":"d"}}"#, "password")
        let other = #"{"title":\#(value),"c":{"S":"d"}}"#
        #expect(Masked.text(other) == other)
    }

    @Test("Lists in such objects, and numbers")
    func lists() {
        check(#"{"tokens":{"L":[{"S":"1\#(chance)"},{"S":"2\#(chance)"}]},"b":{"L":[{"S":"c"}]}}"#, "token", count: 2)
        check(#"{"tokens":{"SS":["1\#(chance)","2\#(chance)"]}}"#, "token", count: 2)
        check(
            #"{"apiKeys":{"arrayValue":{"values":[{"stringValue":"1\#(chance)"},{"stringValue":"2\#(chance)"}]}}}"#,
            "key",
            count: 2
        )
        #expect(
            Masked.text(#"{"pin":{"N":"4711"},"n":{"N":"4711"}}"#)
                == #"{"pin":{"N":"sluice-password-1"},"n":{"N":"4711"}}"#
        )
    }

    @Test(
        "Objects that say something about a secret stay",
        arguments: [
            #"{"password":{"min":8,"string":"Passwords"}}"#, #"{"token":{"s":"word","pos":1}}"#,
            #"{"password":{"hint":"of my pet","policy":"strong"}}"#, #"{"token":{"text":"Hello","tag":"NN"}}"#,
            #"{"password":{"S":""},"name":{"S":"Bob Smith"}}"#, #"{"password":{"NULL":true},"name":{"S":"Bob"}}"#,
            #"{"tokens":{"L":[]},"name":{"S":"Bob"}}"#, #"{"password":{"string":"Mot de passe"}}"#,
            #"{"token":{"n":12,"s":3}}"#,
        ]
    )
    func ordinaryObjects(text: String) { for form in forms(text) { #expect(Masked.text(form) == form) } }

    @Test("A list of two strings, as a field of a head is listed")
    func pairs() {
        check(#"["password","1\#(chance)"]"#, "password")
        check(#"[["Host","h"],["X-Api-Key","1\#(chance)"],["Accept","*"]]"#, "key")
        check(#"[["Host","h"],["Authorization","Bearer 1\#(chance)"]]"#, "credential")
        for value in ["hunter22", "p4ss-w0rd", "482913", "correct1horse9", "AbCdEfGhIjKlMnOpQrStUvWx"] {
            #expect(
                Masked.text("[[\"a\",\"b\"],[\"password\",\"\(value)\"]]").contains("sluice-password-1"),
                "\(value)"
            )
        }
        let cookies = #"[["Cookie","sid=\#(chance); theme=dark"],["Set-Cookie","a=\#(chance)x; Path=/"]]"#
        let masked = Masked.text(cookies)
        #expect(!masked.contains(chance) && masked.contains("; Path=/"), "\(masked)")
        #expect(Masked.text("x = ['password', '\(chance)']") == "x = ['password', 'sluice-password-1']")
        let inside = #"["token","{\"user\":\"bob\",\"pwd\":\"hunter22\"}"]"#
        #expect(Masked.text(inside) == inside.replacing("hunter22", with: "sluice-password-1"))
    }

    @Test(
        "Lists of names, of rules, of messages and of more strings stay",
        arguments: [
            #"["password","username"]"#, #"["token","scope"]"#, #"["password","password2"]"#,
            #"["password","address1"]"#,
            #"["token","sha256"]"#, #"["password","varchar(255)"]"#, #"["password","new_password"]"#,
            #"["password","is too short (at least 8 characters)"]"#, #"["password","Passwort ändern"]"#,
            #"["token","refresh_token_1"]"#, #"["api_key","x-request-id"]"#, #"["password","getElementByIdentifier"]"#,
            #"["secret","base64"]"#, #"["token","4096"]"#, #"["token","v2.0.1"]"#, #"["title","9f3A7c21Bd08e6Qz"]"#,
            #"["password","9f3A7c21Bd08e6Qz","x"]"#,
            #"["9f3A7c21Bd08e6Qz","password"]"#, #"["password"]"#, #"["password",""]"#, #"["password",7]"#,
            #"[["token","scope"],["password","email"]]"#, #"["token",["a1b2c3d4"]]"#,
        ]
    )
    func ordinaryPairs(text: String) { for form in forms(text) { #expect(Masked.text(form) == form) } }

    @Test("Operations of JSON Patch and of SCIM, in any order of members")
    func operations() {
        let members = [#""op":"replace""#, #""path":"/user/password""#, #""value":"1\#(chance)""#]
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let operation = "{\(order.map { members[$0] }.joined(separator: ","))}"
            check(
                #"[{"op":"add","path":"/a","value":"b"},\#(operation),{"op":"add","path":"/c","value":"d"}]"#,
                "password"
            )
        }
        for path in [
            "password", "/password", "\\/user\\/password", "/users/0/apiToken", "urn:x:2.0:User:password", "a.password",
        ] {
            let text = #"{"Operations":[{"op":"Replace","path":"\#(path)","value":"\#(chance)"}]}"#
            #expect(!Masked.text(text).contains(chance), "\(path)")
        }
        #expect(
            Masked.text(#"[{"op":"replace","path":"/pin","value":4711}]"#)
                == #"[{"op":"replace","path":"/pin","value":900000001}]"#
        )
        #expect(
            Masked.text(#"[{"value":4711,"op":"replace","path":"/pin"}]"#)
                == #"[{"value":900000001,"op":"replace","path":"/pin"}]"#
        )
    }

    @Test(
        "Other paths, and objects with one that are no operations, stay",
        arguments: [
            #"[{"op":"replace","path":"/user/name","value":"Bob Smith"}]"#,
            #"{"name":"theme","value":"dark","path":"/token"}"#,
            #"[{"op":"remove","path":"/user/password"},{"op":"add","path":"/name","value":"Bob"}]"#,
            #"[{"op":"copy","from":"/a","path":"/password"},{"op":"add","path":"/n","value":"Bob"}]"#,
            #"[{"path":"/reset/password","value":"page","operation":"GET"}]"#,
            #"{"op":"test","path":"/users with a password","value":"x"}"#,
        ]
    )
    func ordinaryOperations(text: String) { for form in forms(text) { #expect(Masked.text(form) == form) } }
}

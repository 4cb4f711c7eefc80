import Foundation
import Testing

@testable import Masking

@Suite("Fields one inside another, and as loose syntaxes write them")
struct FurtherSyntaxTests {
    /// A value whose secret is `chance` stands in each text once.
    private func check(_ text: String, _ syntax: ScanSyntax, _ word: String = "sluice-password-1") {
        #expect(Masked.text(text, syntax) == text.replacing(chance, with: word))
    }

    @Test("JSON in a form and in a query, with spaces as a form has them")
    func form() {
        for space in ["", "%20", "+", "%0A%20%20"] {
            check("query=x&variables=%7B%22password%22%3A\(space)%22\(chance)%22%2C%22a%22%3A1%7D", .form)
        }
        check(#"variables={"password":"\#(chance)"}&a=1"#, .form)
        check(#"variables={"password":+"\#(chance)"}&a=1"#, .form)
        #expect(
            Masked.text("v=%7B%22pin%22%3A%204711%7D", .form) == "v=%7B%22pin%22%3A%20900000001%7D"
        )
    }

    @Test("A query in a string of a script; no code")
    func script() {
        check("fetch(\"https://h/x?access_token=\(chance)\")", .script, "sluice-token-1")
        check("fetch('/x?a=1&access_token=\(chance)&b=2')", .script, "sluice-token-1")
        check("fetch(`/x?a=1&access_token=\(chance)`)", .script, "sluice-token-1")
        check("x = { apiKey : \"\(chance)\" }", .script, "sluice-key-1")
        check(
            "x = { apiKey : \"QwErTyUiOpAsDfGhJkLzXcVb\" }".replacing("QwErTyUiOpAsDfGhJkLzXcVb", with: chance),
            .script,
            "sluice-key-1"
        )
        for code in [
            "x&&token=getToken1b2c3d4e5f6()", "u=\"?token=\"+t", "u=`?token=${tok1n2a3b4c5d6e}`",
            "a?token=b.c1d2e3f4g5h6i7:0",
        ] { #expect(Masked.text(code, .script) == code) }
        let mixed = "QwErTyUiOpAsDfGhJkLzXcVb"
        #expect(Masked.text("x={apiKey:\"\(mixed)\"}", .script) == "x={apiKey:\"sluice-key-1\"}")
        let word = "getElementsByTagNameAndClassName"
        #expect(Masked.text("x={apiKey:\"\(word)\"}", .script) == "x={apiKey:\"\(word)\"}")
    }

    @Test("Attributes without quotes, and areas of text")
    func html() {
        check("<input type=password name=password value=\(chance)>", .markup)
        check("<input type=password name=password value=\"\(chance)\">", .markup)
        check("<input value=\(chance) name=password>", .markup)
        check("<textarea name=password>\(chance)</textarea>", .markup)
        check("<textarea rows=3 name=\"password\">\(chance)</textarea>", .markup)
        for plain in ["<input name=title value=\(chance)>", "<textarea name=note>\(chance)</textarea>"] {
            #expect(Masked.text(plain, .markup) == plain)
        }
    }

    @Test("The name of a part without quotes")
    func multipart() {
        for disposition in ["name=password", "name=password; filename=x", "filename=\"a\";name=password"] {
            check("--b\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n\(chance)\r\n--b--\r\n", .multipart)
        }
        let plain = "--b\r\nContent-Disposition: form-data; name=title\r\n\r\n\(chance)\r\n--b--\r\n"
        #expect(Masked.text(plain, .multipart) == plain)
    }

    @Test("A name whose letters are escaped")
    func escapes() {
        for name in [#"pass\u0077ord"#, #"\u0070assword"#, #"\u0070\u0061\u0073\u0073\u0077\u006f\u0072\u0064"#] {
            check(#"{"a":1,"\#(name)":"\#(chance)"}"#, .text)
        }
        let plain = #"{"pass\u0065nger":"\#(chance)"}"#
        #expect(Masked.text(plain) == plain)
    }

    @Test("The name in one element, the value in another one")
    func elements() {
        check("<key>password</key><string>\(chance)</string>", .markup)
        check("<key>password</key>\n\t<string>\n\(chance)\n</string>", .markup)
        check("<member><name>password</name><value><string>\(chance)</string></value></member>", .markup)
        check("<member><name>password</name><value>\(chance)</value></member>", .markup)
        check("<password><value>\(chance)</value></password>", .markup)
        check("<password>\n <value><![CDATA[\(chance)]]></value></password>", .markup)
        for plain in [
            "<key>title</key><string>\(chance)</string>", "<key>password</key><true/><name>x</name><b>\(chance)</b>",
            "<password><hint>your pet</hint></password>",
        ] { #expect(Masked.text(plain, .markup) == plain) }
    }

    @Test("The private members of a JSON Web Key, and no others with their names")
    func webKeys() {
        let members = ["d", "p", "q", "dp", "dq", "qi", "k"]
        for member in members {
            let key = #"{"kty":"RSA","n":"w","\#(member)":"\#(chance)"}"#
            check(key, .text, "sluice-private-key-1")
            check(#"{"\#(member)" : "\#(chance)" , "kty":"RSA"}"#, .text, "sluice-private-key-1")
            for plain in [
                #"{"\#(member)":"\#(chance)"}"#, #"{"kty":"RSA","\#(member)":"short"}"#,
                #"[{"kty":"RSA"},{"\#(member)":"\#(chance)"}]"#,
            ] { #expect(Masked.text(plain) == plain) }
        }
        let open = #"{"kty":"RSA","n":"\#(chance)","e":"AQAB"}"#
        #expect(Masked.text(open) == open)
    }

    @Test("A query's key that looks like one")
    func key() {
        check("a=1&key=\(chance)", .form, "sluice-key-1")
        check("https://h/x?key=\(chance)", .text, "sluice-key-1")
        for plain in ["?key=name", "?key=settings.title2", "?key=customer_0042", #"{"key":"\#(chance)"}"#] {
            #expect(Masked.text(plain) == plain && Masked.text(plain, .form) == plain)
        }
    }
}

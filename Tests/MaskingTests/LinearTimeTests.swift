import Testing

@testable import Masking

@Suite("Texts made to be slow to look through take no longer than others", .timeLimit(.minutes(3)))
struct LinearTimeTests {
    private func masked(_ beginning: String, _ piece: String, _ syntax: ScanSyntax?, length: Int = 128 << 10) {
        let text = beginning + String(repeating: piece, count: length / piece.utf8.count)
        #expect(Masked.text(text, syntax).utf8.count <= 16 * text.utf8.count)
    }

    @Test("Names and schemes, each with all that follow as its value")
    func values() {
        masked("a=1&", "key=", .form)
        masked("a=1&b=", "Bearer+", .form)
        masked("{\"a\":\"", "?key=", .text)
    }

    @Test(
        "Parameters in a query, each with all that follow as its value",
        arguments: [ScanSyntax?.none, .text, .form]
    )
    func parameters(syntax: ScanSyntax?) {
        for piece in ["?sig=", "?token=", "/?token=", "?code=", "?sig=a/", "?token=%", "?a?token="] {
            masked("", piece, syntax, length: 256 << 10)
        }
        masked("", "?sig=" + String(repeating: "!", count: 3), syntax, length: 256 << 10)
    }

    @Test("Values that are no secrets, one in another")
    func valuesInValues() {
        masked("", #""token":"a b "#, .text)
        masked("", #""token":'a b "token":"#, .text)
        masked("", "<token><![CDATA[a b ", .markup)
        masked("", #""tokens":[""#, .text)
        masked("", #""tokens":["#, .text)
    }

    @Test("Members with the names of a web key's")
    func webKeys() { masked("", "\"d\":\"a\",", .text) }

    @Test("A known number within a long run of numbers")
    func numbers() { masked(#"{"password":"12345678","x":["#, "12345678-", .text) }

    @Test("Ends of tags")
    func tags() {
        masked("<a", ">", .markup)
        masked("<password", ">", .text)
        masked("", "<password>a", .text)
    }

    @Test("Expressions, templates and paths, each as long as what follows")
    func code() {
        for piece in [
            "token = a.", "token = f(", "token = ${", "token = {{a ", "token: \"", "password = `$", "token=(a, ",
        ] {
            masked("", piece, .text, length: 32 << 10)
            masked("", piece + "\n", .text, length: 32 << 10)
            masked("<script>", piece, .markup, length: 32 << 10)
        }
        masked("", "/8fK2mQ9zLw4TbV7n8fK2mQ", .field)
        masked("{", #""token":"a b","#, .text)
        masked("", "-----BEGIN PRIVATE KEY-----", .text)
        masked("", "<script ", .markup)
    }

    @Test("Spaces within credentials")
    func spaces() {
        let head = "GET / HTTP/1.1\r\nAuthorization: Foo a=b" + String(repeating: " ", count: 256 << 10) + "c\r\n\r\n"
        #expect(Masked.head(head).hasPrefix("GET / HTTP/1.1\r\nAuthorization: Foo"))
    }

    @Test("Base64 in lines and with escaped signs")
    func base64() {
        let line = String(repeating: "QUJD", count: 16)
        for end in ["\n", "\\n", "%0A", "\n ", "=\n", "\n\n"] { masked("", line + end, .text, length: 256 << 10) }
        for piece in ["%2F", "\\/a", "a%2B", "%25", "25%", "a\\\\", "\\", "&#47;a", "\\u002B", "a\n", "/\r"] {
            masked("", piece, .text)
            masked(line, piece + line, .text)
        }
        // Each line longer than the one before.
        let stair = (60..<700).map { String(repeating: "A", count: $0) }.joined(separator: "\n") + "\n"
        masked("", stair, .text, length: 256 << 10)
    }

    @Test("Lists of two, objects that wrap values, operations on paths, and escaped fields")
    func pairs() {
        for piece in [
            #"["token",""#, #"["token",'a b "#, #"["token","#, "[", #""password":{"s":""#, #""password":{"s":'a b "#,
            #""tokens":{"l":["#, #""path":"/password","#, #""value":"a","path":"/password","#,
            #"{"value":"\"path\":\"/pwd\","#,
            #""op""path":"token","#,
        ] { masked("{", piece, .text) }
        for piece in [
            #"\u003cpassword\u003e"#, "password&gt;", "&lt;password&gt;a b", "password%3E", "%3Cpassword%3E",
            "password%2522",
            #"{\u0022token\u0022:\u0022a b "#, #"\u0022token\u0022:\u0022ab1c\u0022,"#, "&amp;amp;",
            "token&amp;amp;amp;",
            "&lt;token&gt;&lt;![CDATA[a b ", "%25token%25",
        ] {
            masked("", piece, .text)
            masked("a=", piece, .form)
        }
    }

    @Test("Numbers with signs between, and broken lines of quoted-printable")
    func respelled() {
        for piece in [
            "47:", "4 ", "71,", "71,105 ", "0x47, ", "a", ":", "=\n", "=\\r\\n", "=3D=\r\n", "47            ", "a  ",
            "12345678 ",
        ] {
            masked(#"{"password":"12345678","x":"#, piece, .text)
        }
    }
}

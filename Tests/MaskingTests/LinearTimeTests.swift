import Testing

@testable import Masking

@Suite("Texts made to be slow to look through take no longer than others", .timeLimit(.minutes(3)))
struct LinearTimeTests {
    private func masked(_ beginning: String, _ piece: String, _ syntax: ScanSyntax, length: Int = 128 << 10) {
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
        arguments: [ScanSyntax.script, .text, .form]
    )
    func parameters(syntax: ScanSyntax) {
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
}

import Testing

@testable import Masking

@Suite("URLs without quotes, in style sheets and in HTML")
struct UnquotedURLTests {
    @Test(
        "In a style sheet",
        arguments: [
            "a { background: url(URL) }", "a { background: URL(URL) no-repeat, url( \"URL\" ) }", "@import url(URL);",
            "@font-face { src: url('URL') format('woff2'), url(URL) }",
        ]
    )
    func styleSheets(text: String) {
        for query in ["?token=\(chance)", "?a=1&access_token=\(chance)&b=2", "?key=\(chance)#f"] {
            let text = text.replacing("url(URL)", with: "url(https://h/x\(query))").replacing("URL", with: "/x\(query)")
            let masked = Masked.text(text, .script)
            #expect(!masked.contains(chance) && masked.contains("=sluice-"), "\(masked)")
            #expect(masked.replacing(/sluice-[a-z]+-1/, with: chance) == text)
            #expect(Masked.text("<style>\(text)</style>", .markup).contains(chance) == false)
        }
    }

    @Test("In a script a query without quotes is none", arguments: ["f(a?token=\(chance))", "f(a&&token=\(chance))"])
    func scripts(text: String) { #expect(Masked.text(text, .script) == text) }

    @Test(
        "In HTML",
        arguments: [
            "<a href=/x?token=maple-42>x</a>", "<a href=https://h/x?a=1&amp;token=maple-42 id=a>x</a>",
            "<a href=https://h/x?a=1&token=maple-42#f>x</a>",
            "<img srcset=\"/a?token=maple-42 1x, /b?token=maple-42 2x\">",
            "<img srcset=\"/a?token=maple-42, /b?a=1&amp;token=maple-42 640w\">", "<form action=/x?token=maple-42>",
            "<meta http-equiv=refresh content=\"0;url=/x?token=maple-42\">",
            "<meta content='0; url=/x?token=maple-42'>",
            "<object data=/x?token=maple-42 type=a/b>", "<a ping=\"/x?token=maple-42 /y?token=maple-42\">",
            "<!-- /x?token=maple-42 -->", "<a href='/x?token=maple-42'>x</a>", "<base href=https://u:maple-42@h/>",
        ]
    )
    func html(text: String) {
        let kind = text.contains("u:maple") ? "password" : "token"
        #expect(Masked.text(text, .markup) == text.replacing("maple-42", with: "sluice-\(kind)-1"))
    }
}

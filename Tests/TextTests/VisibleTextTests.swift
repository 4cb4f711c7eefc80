import Foundation
import HTTPModel
import Testing
import Text

@Suite("Text that is fit for a terminal")
struct VisibleTextTests {
    /// Every character that a terminal obeys, or that turns text or hides in it.
    private static let hidden: [Unicode.Scalar] = [
        0...0x1F, 0x7F...0x9F, 0xAD...0xAD, 0x061C...0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
        0xFE00...0xFE0F, 0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F, 0xE0100...0xE01EF,
    ].flatMap { $0.compactMap { Unicode.Scalar(UInt32($0)) } }

    @Test("Each hidden character is shown by what it is, and nothing raw is left")
    func shows() {
        for scalar in VisibleTextTests.hidden {
            let text = "a\(scalar)b"
            let visible = VisibleText.of(text)
            #expect(!visible.unicodeScalars.contains(scalar), "\(scalar.value)")
            #expect(visible.hasPrefix("a") && visible.hasSuffix("b") && visible.utf8.count >= 4)
            #expect(VisibleText.of(visible) == visible)
            #expect(VisibleText.lines(text) == (scalar == "\n" || scalar == "\t" ? text : visible))
        }
        #expect(
            VisibleText.of("\u{1B}[31m\u{7F}\r\n\u{9B}\u{202E}\u{E0041}") == "^[[31m^?^M^J<U+009B><U+202E><U+E0041>"
        )
        #expect(VisibleText.lines("one\ttwo\r\nthree\u{1B}c\n") == "one\ttwo^M\nthree^[c\n")
    }

    @Test(
        "What belongs to a word or an emoji stays as it is",
        arguments: ["plain ~", "grüße, 日本, שלום", "👩‍👩‍👧 ❤️‍🔥 ☺️", "می‌خواهم", "क्‍ष", ""]
    )
    func keeps(text: String) {
        #expect(VisibleText.of(text) == text)
        #expect(VisibleText.lines(text) == text)
    }

    @Test("A joiner or a variation selector that joins nothing is shown")
    func joiners() {
        #expect(VisibleText.of("pay\u{200D}pal \u{200C}") == "pay<U+200D>pal <U+200C>")
        #expect(VisibleText.of("a\u{FE0F}") == "a<U+FE0F>")
        #expect(VisibleText.of("☺\u{FE0F}\u{FE0F}\u{200D}a") == "☺\u{FE0F}<U+FE0F><U+200D>a")
    }

    @Test("JSON means the same, and has none of them raw")
    func json() throws {
        let text = String(String.UnicodeScalarView(VisibleTextTests.hidden)) + "日本 \"\\"
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let plain = String(decoding: try encoder.encode([text]), as: UTF8.self)
        let escaped = VisibleText.json(plain)
        #expect(VisibleText.lines(escaped) == escaped)
        #expect(escaped.contains("\\u202e") && escaped.contains("\\udb40\\udc41") && escaped.contains("日本"))
        #expect(try JSONDecoder().decode([String].self, from: Data(escaped.utf8)) == [text])
        #expect(VisibleText.json("[\n\t1]") == "[\n\t1]")
    }
}

@Suite("Numbers and markup")
struct TextColumnsTests {
    @Test(
        "Thousands have commas between them",
        arguments: [(0, "0"), (999, "999"), (-1234, "-1,234"), (1_234_567, "1,234,567")]
    )
    func thousands(number: Int, text: String) {
        #expect(number.grouped == text)
        #expect(1.of("line") == "1 line" && 2000.of("line") == "2,000 lines")
    }

    @Test("Nothing in an escaped text opens a tag or an entity")
    func markup() {
        #expect("a & <b c=\"d\">".markupEscaped == "a &amp; &lt;b c=\"d\"&gt;")
        // With the mark it is one character.
        #expect("<\u{338}script>".markupEscaped.utf8.elementsEqual("&lt;\u{338}script&gt;".utf8))
    }

    @Test(
        "An encoded path reads as browsers show it; what divides it, hides or is not UTF-8 stays encoded",
        arguments: [
            ("/caf%C3%A9/%e6%97%a5%E6%9C%AC?q=%F0%9F%A6%A5", "/café/日本?q=🦥"),
            ("/my%20file%2Etxt", "/my file.txt"), ("/a%20%C3%A9", "/a é"), ("/end%20", "/end%20"),
            ("/a%20/b%20?c", "/a%20/b%20?c"),
            ("/a%2Fb%3Fc%23d%25e%26f%3Dg%2Bh", "/a%2Fb%3Fc%23d%25e%26f%3Dg%2Bh"),
            ("/%00%1b%5B31m%7F%C2%9B", "/%00%1b[31m%7F%C2%9B"),
            ("/%E2%80%AE%E2%80%8B%C2%A0%EE%80%80", "/%E2%80%AE%E2%80%8B%C2%A0%EE%80%80"),
            ("/%C3%28%A9%C0%AF%ED%A0%80%F5", "/%C3(%A9%C0%AF%ED%A0%80%F5"), ("/%C3", "/%C3"), ("/100%", "/100%"),
            ("/%zz%4", "/%zz%4"), ("/%25C3%25A9", "/%25C3%25A9"), ("/plain", "/plain"), ("", ""),
        ]
    )
    func percent(encoded: String, shown: String) {
        #expect(VisibleText.percentDecoded(encoded) == shown)
    }
}

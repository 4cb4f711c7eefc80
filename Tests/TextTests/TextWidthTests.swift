import Support
import Terminal
import Testing
import Text

@Suite("Columns of text")
struct TextWidthTests {
    @Test(
        "characters have the columns that terminals give them",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ｶﾅ", 2), ("ＡＢ", 4), ("한글", 4), ("🙂", 2),
            ("❤", 1), ("❤️", 2), ("👩‍👩‍👧‍👦", 2), ("🇩🇪", 2), ("👍🏽", 2), ("1️⃣", 2), ("\t", 4), ("\r\n", 2), ("a\u{200D}b", 2),
            ("│─╮", 3), ("क्षि", 2), ("ไทย", 3), ("─\u{7}", 2), ("\u{1100}\u{1161}", 2),
        ] as [(String, Int)]
    )
    func columns(text: String, expected: Int) {
        #expect(TextWidth.columns(text) == expected)
        #expect(TextWidth.columns(text + "x") == expected + 1)
        #expect(text.reduce(0) { $0 + TextWidth.columns($1) } == expected)
        var buffer = CellBuffer(Size(width: 20, height: 1))
        #expect(buffer.write(text, x: 0, y: 0) == expected)
    }

    @Test("each character is told with its columns and where it ends")
    func each() {
        var told: [[Int]] = []
        TextWidth.each(in: "a\té漢\r\n👩‍👩‍👧‍👦".dropFirst(0)) { columns, end in
            told.append([columns, end])
            return true
        }
        #expect(told == [[1, 1], [4, 2], [1, 4], [2, 7], [1, 8], [1, 9], [2, 34]])
        told = []
        TextWidth.each(in: "abc") { columns, end in
            told.append([columns, end])
            return end < 2
        }
        #expect(told == [[1, 1], [1, 2]])
    }

    @Test("text is cut between characters")
    func cuts() {
        #expect(TextWidth.cut("abcdef", to: 6) == "abcdef")
        #expect(TextWidth.cut("abcdef", to: 5) == "abcd…")
        #expect(TextWidth.cut("漢字漢字", to: 6) == "漢字…")
        #expect(TextWidth.cut("abc", to: 0) == "")
        #expect(TextWidth.cut("abc", to: 1) == "…")
        #expect(TextWidth.cut("abcdef", to: 4, ellipsis: "") == "abcd")
        #expect(TextWidth.cut("a\tb", to: 3) == "a…")
        #expect(TextWidth.cut("e\u{301}e\u{301}e\u{301}"[...], to: 2) == "e\u{301}…")
        #expect(TextWidth.cutMiddle("/api/v1/users/42", to: 9) == "/api…s/42")
        #expect(TextWidth.cutMiddle("漢字漢字漢字", to: 7) == "漢…字" || TextWidth.columns("漢…字") <= 7)
        #expect(TextWidth.paddedLeft("漢字漢", to: 4) == " 漢…")
        #expect(TextWidth.paddedLeft("7", to: 3) == "  7")
    }

    @Test("cut text never takes more columns than it may")
    func bounds() {
        var random = SplitMix(7)
        let characters = ["a", "漢", "é", "🙂", "\t", "\u{1B}", " ", "क्ष", "\r\n"]
        for _ in 0..<400 {
            let text = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                characters.randomElement(using: &random)
            }.joined()
            let columns = Int.random(in: 0...14, using: &random)
            #expect(TextWidth.columns(TextWidth.cut(text, to: columns)) <= columns)
            #expect(TextWidth.columns(TextWidth.cutMiddle(text, to: columns)) <= columns)
            #expect(TextWidth.columns(TextWidth.paddedLeft(text, to: columns)) == columns)
            for line in TextWidth.wrap(text, to: max(columns, 4)) {
                #expect(TextWidth.columns(line) <= max(columns, 4))
            }
        }
    }

    @Test("lines are broken at words, long words where they must")
    func wraps() {
        #expect(TextWidth.wrap("the quick brown fox", to: 10) == ["the quick", "brown fox"])
        #expect(TextWidth.wrap("abcdefghij", to: 4) == ["abcd", "efgh", "ij"])
        #expect(TextWidth.wrap("a\n\nb", to: 4) == ["a", "", "b"])
        #expect(TextWidth.wrap("", to: 4) == [""])
        #expect(TextWidth.wrap("漢字漢字", to: 5) == ["漢字", "漢字"])
        #expect(TextWidth.wrap("漢字", to: 0) == ["漢", "字"])
        #expect(TextWidth.wrap("  indented text", to: 8) == ["  indent", "ed text"])
    }
}

import Support
import Terminal
import Testing

@Suite("The grid")
struct CellBufferTests {
    private var buffer = CellBuffer(Size(width: 10, height: 2))

    @Test("text is written, cut with an ellipsis, and counted in columns")
    mutating func writes() {
        #expect(buffer.write("abc", x: 1, y: 0) == 3)
        #expect(buffer.text == " abc\n\n")
        #expect(buffer.write("0123456789abc", x: 0, y: 1) == 10)
        #expect(buffer.row(1) == "012345678…")
        #expect(buffer.write("漢字漢字", x: 0, y: 0, limit: 5) == 5)
        #expect(buffer.row(0) == "漢字…")
        buffer.fill(Rect(x: 0, y: 0, width: 10, height: 1), style: .plain)
        #expect(buffer.write("漢字漢字", x: 0, y: 0, limit: 4) == 3)
        #expect(buffer.row(0) == "漢…")
        #expect(buffer.write("abcdef", x: 0, y: 1, limit: 3, ellipsis: false) == 3)
        #expect(buffer.row(1) == "abc345678…")
        #expect(buffer.write("abc", x: 0, y: 0, limit: 0) == 0)
    }

    @Test("what lies outside is not drawn and does no harm")
    mutating func outside() {
        #expect(buffer.write("abcdef", x: -3, y: 0) == 6)
        #expect(buffer.row(0) == "def")
        #expect(buffer.write("漢字", x: -1, y: 1) == 4)
        #expect(buffer.row(1) == " 字")
        #expect(buffer.write("abc", x: 20, y: 0) == 0)
        buffer.write("abc", x: 0, y: 7)
        buffer[50, 50] = Cell("x")
        #expect(buffer[50, 50] == .blank)
        #expect(buffer.text == "def\n 字\n")
        let empty = CellBuffer(Size(width: -1, height: 3))
        #expect(empty.text == "\n\n\n")
    }

    @Test("control characters are shown, never obeyed")
    mutating func controls() {
        buffer.write("\u{1B}[1m\r\n\u{7F}\u{9B}", x: 0, y: 0)
        #expect(buffer.row(0) == "␛[1m␍␊␡\u{FFFD}")
        buffer.write("a\tb\u{202E}c\u{FEFF}", x: 0, y: 1)
        #expect(buffer.row(1) == "a    b·c·")
    }

    @Test("writing over one half of a wide character takes the other away")
    mutating func halves() {
        buffer.write("漢字", x: 0, y: 0)
        buffer.write("x", x: 1, y: 0)
        #expect(buffer.row(0) == " x字")
        buffer.write("y", x: 2, y: 0)
        #expect(buffer.row(0) == " xy")
        #expect(buffer[3, 0] == .blank)
        buffer[9, 0] = Cell("漢")
        #expect(buffer[9, 0].text == " ")
    }

    @Test("a long cluster keeps its base and what fits of the rest")
    func clusters() {
        #expect(Cell("👩‍👩‍👧‍👦").text == "👩")
        #expect(Cell("👩‍👩‍👧‍👦").width == 2)
        #expect(Cell("🇩🇪").text == "🇩🇪")
        #expect(Cell("e\u{301}").text == "e\u{301}")
        #expect(Cell("e\u{301}\u{302}\u{303}\u{304}\u{305}").text.utf8.count == 7)
        #expect(Cell("\u{301}").text == "◌\u{301}")
        #expect(MemoryLayout<Cell>.stride == 16)
    }

    @Test("styles can be filled, changed and read as words")
    mutating func styles() {
        buffer.write("ok bad", x: 0, y: 0, style: Style(.ansi(2)))
        buffer.restyle(Rect(x: 3, y: 0, width: 3, height: 1)) { $0.with(.bold).on(.palette(52)) }
        buffer.fill(Rect(x: 8, y: 1, width: 5, height: 5), with: "=", style: Style(.ansi(12), .reverse))
        buffer.cursor = CursorPosition(x: 2, y: 1)
        #expect(
            buffer.styledText == """
                ‹green›ok ‹/›‹bold green on p52›bad‹/›
                        ‹reverse bright-blue›==‹/›
                cursor at 2,1

                """
        )
        #expect(buffer[4, 0].style == Style(.ansi(2), on: .palette(52), .bold))
    }

    @Test("nothing is drawn outside of the clip")
    mutating func clips() {
        buffer.clip = Rect(x: 2, y: 0, width: 4, height: 1)
        #expect(buffer.write("abcdefgh", x: 0, y: 0) == 6)
        buffer.write("abc", x: 2, y: 1)
        buffer.fill(buffer.bounds, with: "漢", style: .plain)
        #expect(buffer.text == "  漢漢\n\n")
    }
}

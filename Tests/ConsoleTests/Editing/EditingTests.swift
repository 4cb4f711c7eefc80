import NIOCore
import Runner
import Support
import Terminal
import Testing

@testable import Clients
@testable import Console

private func key(_ spelling: String) -> Key { Key(spelling: spelling) ?? Key(.function(99)) }

struct LineEditorTests {
    private func line(_ text: String, _ keys: String...) -> LineEditor {
        var line = LineEditor(text)
        for spelling in keys { _ = line.take(key(spelling)) }
        return line
    }

    @Test func `what is typed goes in at the cursor`() {
        #expect(line("ac", "left", "b").text == "abc")
        #expect(line("bc", "home", "a", "end", "d").text == "abcd")
    }

    @Test func `words are jumped over and taken away`() {
        #expect(line("host:api status:404", "ctrl-w").text == "host:api status:")
        #expect(line("one two", "alt-b", "alt-b").cursor == 0)
        #expect(line("one two", "home", "alt-f").cursor == 3)
        #expect(line("one two", "home", "alt-d").text == " two")
        #expect(line("one two", "left", "ctrl-u").text == "o")
        #expect(line("one two", "home", "right", "ctrl-k").text == "o")
    }

    @Test func `at the ends nothing happens`() {
        #expect(line("", "backspace", "delete", "left", "right", "ctrl-w", "alt-d") == LineEditor())
        var editor = LineEditor("a")
        #expect(editor.take(key("delete")) == .moved)
        #expect(editor.take(key("backspace")) == .changed)
        #expect(editor.take(key("f5")) == .ignored)
    }

    @Test func `one key takes away one character, of however many scalars`() {
        #expect(line("a👩‍👩‍👧‍👦", "backspace").text == "a")
        #expect(line("e\u{301}x", "left", "backspace").text == "x")
    }

    @Test func `pasted lines become one`() {
        var editor = LineEditor("<>")
        _ = editor.take(key("left"))
        editor.insert("a\r\nb\nc")
        #expect(editor.text == "<a b c>")
        #expect(editor.cursor == 6)
    }

    @Test func `a line has an end`() {
        var editor = LineEditor(String(repeating: "x", count: LineEditor.longest + 5))
        #expect(editor.characters.count == LineEditor.longest)
        #expect(editor.insert("y") == .moved)
        editor.move(to: -4)
        #expect(editor.cursor == 0)
        editor.move(to: .max)
        #expect(editor.cursor == LineEditor.longest)
    }
}

struct TextAreaTests {
    private func area(_ text: String, _ keys: String...) -> TextArea {
        var area = TextArea(text)
        for spelling in keys { _ = area.take(key(spelling)) }
        return area
    }

    @Test func `lines are split and joined`() {
        #expect(area("ab", "right", "enter").lines == ["a", "b"])
        #expect(area("a\nb", "down", "backspace").lines == ["ab"])
        #expect(area("a\nb", "end", "delete").lines == ["ab"])
        #expect(area("").lines == [""])
        #expect(area("a\r\nb\rc\n").lines == ["a", "b", "c", ""])
        #expect(area("a\u{B}b\u{C}c\u{85}d\u{2028}e\u{2029}f").lines.count == 1)
    }

    private func bytes(_ area: TextArea) -> [UInt8] { Array(area.text.utf8) }

    @Test func `each line keeps its end, and a new line takes that of the line it was split from`() {
        let text = "a\r\nb\nc\rd"
        #expect(bytes(area(text, "end", "x")) == Array("ax\r\nb\nc\rd".utf8))
        #expect(bytes(area(text, "end", "enter", "x")) == Array("a\r\nx\r\nb\nc\rd".utf8))
        #expect(bytes(area(text, "down", "enter")) == Array("a\r\n\nb\nc\rd".utf8))
        #expect(bytes(area(text, "down", "down", "enter")) == Array("a\r\nb\n\rc\rd".utf8))
        #expect(bytes(area(text, "ctrl-end", "enter", "e")) == Array("a\r\nb\nc\rd\re".utf8))
        #expect(bytes(area(text, "down", "backspace")) == Array("ab\nc\rd".utf8))
        #expect(bytes(area(text, "down", "end", "delete")) == Array("a\r\nbc\rd".utf8))
        #expect(bytes(area(text, "down", "backspace", "alt-z")) == Array(text.utf8))
        #expect(bytes(area(text, "end", "enter", "alt-z")) == Array(text.utf8))
    }

    @Test func `pasted lines end as the line does that they are put into`() {
        var area = TextArea("[]\r\nlast\n")
        _ = area.take(key("right"))
        area.insert("1\r2\n3\r\n4")
        #expect(bytes(area) == Array("[1\r\n2\r\n3\r\n4]\r\nlast\n".utf8))
        area.replace(with: "x\ry\r\n")
        #expect(bytes(area) == Array("x\ry\r\n".utf8))
    }

    @Test func `another form of the same letters is a change`() {
        var area = TextArea("caf\u{E9}")
        area.replace(with: "cafe\u{301}")
        #expect(area.isChanged)
        area.replace(with: "caf\u{E9}")
        #expect(!area.isChanged)
    }

    @Test(arguments: 0..<40)
    func `a text that is opened, looked at and taken back keeps its bytes`(_ seed: UInt64) {
        var random = SplitMix(seed)
        let parts = [
            "\r\n", "\n", "\r", "a", "é", "e\u{301}", "\u{301}", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "👩‍👩‍👧‍👦", "\t",
        ]
        let text = (0..<60).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
        var area = TextArea(text)
        for _ in 0..<100 {
            let code = [Key.Code.up, .down, .left, .right, .home, .end].randomElement(using: &random) ?? .up
            _ = area.take(Key(code))
        }
        #expect(bytes(area) == Array(text.utf8))
        #expect(!area.isChanged)
        for _ in 0..<20 {
            let code = [Key.Code.enter, .backspace, .delete, .character("x"), .down].randomElement(using: &random)
            _ = area.take(Key(code ?? .enter))
        }
        for _ in 0..<40 { _ = area.take(key("alt-z")) }
        #expect(bytes(area) == Array(text.utf8))
    }

    @Test(arguments: [
        "--b\r\nA: 1\r\n\r\none\r\n--b--\r\n", "{\r\n \"a\": 1\r\n}", "\r", "x\u{2028}y\u{85}z", "a\n\rb\r",
    ])
    func `a request to which a field is added by keys keeps its body`(_ body: String) throws {
        let original = try ComposedRequest(draft: "POST http://h/ HTTP/1.1\nA: 1\n\n\(body)\n", original: nil)
        var area = TextArea(original.draft)
        for spelling in ["down", "end", "enter"] { _ = area.take(key(spelling)) }
        area.insert("X-Added: 1")
        let edited = try ComposedRequest(draft: area.text, original: original)
        #expect(edited.fields.contains(HoldEdit.Pair("X-Added", "1")))
        #expect(edited.body == original.body && original.body == ByteBuffer(string: body + "\n"))
    }

    @Test func `the cursor stays within the text`() {
        #expect(area("long line\nx", "end", "down").cursor == .init(line: 1, column: 1))
        #expect(area("ab\ncd", "end", "right").cursor == .init(line: 1, column: 0))
        #expect(area("ab\ncd", "down", "left").cursor == .init(line: 0, column: 2))
        #expect(area("ab", "up", "pgup", "left").cursor == .init(line: 0, column: 0))
        #expect(area("ab", "pgdn", "right", "right", "right").cursor == .init(line: 0, column: 2))
        #expect(area("a\nb\nc", "ctrl-end").cursor == .init(line: 2, column: 1))
    }

    @Test func `many lines are pasted at the cursor`() {
        var area = TextArea("[]")
        _ = area.take(key("right"))
        area.insert((1...500).map { "line \($0)" }.joined(separator: "\n"))
        #expect(area.lines.count == 500)
        #expect(area.lines.first == "[line 1")
        #expect(area.lines.last == "line 500]")
        #expect(area.cursor == .init(line: 499, column: 8))
        area.reveal(rows: 10)
        #expect(area.top == 490)
    }

    @Test func `a change is taken back, and what was typed in one go at once`() {
        var area = area("x", "end", "a", "b", "c")
        #expect(area.text == "xabc")
        _ = area.take(key("alt-z"))
        #expect(area.text == "x")
        _ = area.take(key("alt-z"))
        #expect(area.text == "x")
        area.insert("1\n2")
        _ = area.take(key("ctrl-k"))
        _ = area.take(key("alt-z"))
        #expect(area.text == "x1\n2" || area.text == "1\n2x")
        _ = area.take(key("alt-z"))
        #expect(area.text == "x")
    }

    @Test func `moving between two changes makes them two`() {
        var area = area("", "a", "left", "b")
        #expect(area.text == "ba")
        _ = area.take(key("alt-z"))
        #expect(area.text == "a")
    }

    @Test func `wide and joined characters are one each`() {
        #expect(area("日本", "end", "backspace").text == "日")
        #expect(area("👩‍👩‍👧‍👦e\u{301}", "end", "backspace", "backspace").text == "")
        #expect(area("日本", "right", "x").text == "日x本")
        #expect(area("日本", "right", "x").cursor.column == 2)
    }

    @Test func `what is too long is not taken`() {
        var area = TextArea("x")
        area.insert(String(repeating: "y", count: TextArea.longest))
        #expect(area.text == "x")
    }

    @Test func `keys of the console are left to it`() {
        var area = TextArea("x")
        #expect(area.take(key("ctrl-s")) == false)
        #expect(area.take(key("f1")) == false)
        #expect(area.take(key("esc")) == false)
    }
}

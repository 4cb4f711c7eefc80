import Support
import Testing

@testable import Terminal

/// The events of some input, in words.
private func words(_ input: String) -> [String] {
    var parser = InputParser()
    return words(parser.feed(input.utf8) + parser.flush() + parser.flush())
}

private func words(_ events: [InputEvent]) -> [String] {
    events.map { event in
        switch event {
        case .key(let key): key.spelling
        case .mouse(let mouse): "\(mouse.kind) \(mouse.x),\(mouse.y)"
        case .paste(let text): "paste \(text)"
        case .background(let color): "background \(color.red) \(color.green) \(color.blue)"
        }
    }
}

@Suite("Input")
struct InputParserTests {
    @Test(
        "keys of xterm, rxvt, the Linux console, tmux and screen, and kitty",
        arguments: [
            ("a", "a"), ("Z", "Z"), (" ", "space"), ("é", "é"), ("漢", "漢"), ("\u{1}", "ctrl-a"), ("\u{1A}", "ctrl-z"),
            ("\0", "ctrl-space"), ("\u{1F}", "ctrl-_"), ("\u{1C}", "ctrl-\\"), ("\t", "tab"), ("\r", "enter"),
            ("\n", "enter"), ("\u{7F}", "backspace"), ("\u{8}", "backspace"), ("^", "esc"), ("^a", "alt-a"),
            ("^é", "alt-é"),
            ("^\r", "alt-enter"), ("^\u{7F}", "alt-backspace"), ("^\u{1}", "ctrl-alt-a"), ("^[", "alt-["),
            ("^O", "alt-O"),
            ("^]", "alt-]"), ("^P", "alt-P"),
            // Arrows and the keys around them.
            ("^[A", "up"), ("^OB", "down"), ("^[1;5C", "ctrl-right"), ("^[1;2D", "shift-left"), ("^[5C", "ctrl-right"),
            ("^[a", "shift-up"), ("^Ob", "ctrl-down"), ("^^[A", "alt-up"), ("^[1;3A", "alt-up"), ("^[H", "home"),
            ("^[F", "end"), ("^OH", "home"), ("^OF", "end"), ("^[1~", "home"), ("^[4~", "end"), ("^[7~", "home"),
            ("^[8~", "end"), ("^[2~", "insert"), ("^[3~", "delete"), ("^[5~", "pgup"), ("^[6~", "pgdn"),
            ("^[3;5~", "ctrl-delete"), ("^[3^", "esc"), ("^[3$", "shift-delete"), ("^[5@", "ctrl-shift-pgup"),
            ("^[Z", "shift-tab"), ("^[1;2Z", "shift-tab"),
            // Functions.
            ("^OP", "f1"), ("^OS", "f4"), ("^[11~", "f1"), ("^[15~", "f5"), ("^[17~", "f6"), ("^[21~", "f10"),
            ("^[23~", "f11"), ("^[24~", "f12"), ("^[24;2~", "shift-f12"), ("^[1;5P", "ctrl-f1"), ("^[1;2R", "shift-f3"),
            ("^[[A", "f1"), ("^[[E", "f5"), ("^[P", "f1"), ("^[34~", "f20"),
            // The keypad.
            ("^OM", "enter"), ("^Oj", "*"), ("^Op", "0"), ("^Oy", "9"),
            // Kitty's and xterm's forms.
            ("^[97;5u", "ctrl-a"), ("^[97;2u", "A"), ("^[105;5u", "ctrl-i"), ("^[13;2u", "shift-enter"),
            ("^[27u", "esc"),
            ("^[9;5u", "ctrl-tab"), ("^[97:65;2u", "A"), ("^[97;1:1u", "a"), ("^[57399u", "0"), ("^[57421u", "pgup"),
            ("^[57376u", "f13"), ("^[233u", "é"), ("^[32;5u", "ctrl-space"), ("^[27;5;105~", "ctrl-i"),
            ("^[27;2;13~", "shift-enter"), ("^[27;6;88~", "ctrl-x"),
        ] as [(String, String)]
    )
    func keys(input: String, spelling: String) {
        // A caret stands for Esc, except as rxvt's final byte.
        let bytes = input == "^[3^" ? "\u{1B}[3^" : input.replacing("^", with: "\u{1B}")
        #expect(words(bytes) == [input == "^[3^" ? "ctrl-delete" : spelling])
        #expect(words(bytes + "x") == words(bytes) + ["x"] || bytes.utf8.count <= 2)
    }

    @Test(
        "what is not known is swallowed whole",
        arguments: [
            "^[?62;1;4c", "^[>41;354;0c", "^[?2026;2$y", "^[12;40R", "^[0n", "^[8;24;80t", "^]0;title\u{7}",
            "^]52;c;YWJj^\\",
            "^P>|XTerm(379)^\\", "^P1+r544e=787465726d^\\", "^_Gi=1;OK^\\", "^[97;1:3u", "^[57441;2u", "^[99~",
            "^[201~",
            "^[1;2;3;4;5x", "^[<35;4;5M", "^[<66;1;1M", "^[<0;1m", "^[[X", "^Oz", "^OE", "^[!p", "^[1114112u",
            "^[55296u",
            "^[99999999999999999999A^", "^[M!", "^]11;rgb:zz/00/00^\\",
        ]
    )
    func unknown(input: String) {
        let bytes = input.replacing("^", with: "\u{1B}")
        if !["^[M!", "^[99999999999999999999A^"].contains(input) { #expect(words(bytes + "x") == ["x"]) }
        #expect(words(bytes).allSatisfy { ["esc", "up", "shift-up", "ctrl-alt-shift-up"].contains($0) })
        let long = "\u{1B}[" + String(repeating: "1;", count: 5000) + "A"
        #expect(words(long + "y") == ["y"])
    }

    @Test("the mouse, in the form of today and in the old one")
    func mouse() {
        #expect(words("\u{1B}[<0;1;1M\u{1B}[<0;1;1m") == ["press 0,0", "release 0,0"])
        #expect(words("\u{1B}[<0;300;40M\u{1B}[<2;300;40M") == ["press 299,39"])
        #expect(words("\u{1B}[<32;3;4M") == ["drag 2,3"])
        #expect(words("\u{1B}[<64;3;4M\u{1B}[<65;3;4M") == ["wheelUp 2,3", "wheelDown 2,3"])
        #expect(words("\u{1B}[<20;3;4M") == ["press 2,3"])
        #expect(words("\u{1B}[M !!x") == ["press 0,0", "x"])
        #expect(words("\u{1B}[M#!!x") == ["release 0,0", "x"])
        #expect(words("\u{1B}[32;10;5M") == ["press 9,4"])
    }

    @Test("pastes are one event, with the text's lines, whatever is in them")
    func pastes() {
        #expect(words("\u{1B}[200~abc\r\ndef\rg\u{1B}[201~x") == ["paste abc\ndef\ng", "x"])
        #expect(words("\u{1B}[200~\u{1B}[A\u{1B}[20\u{1B}[201~") == ["paste \u{1B}[A\u{1B}[20"])
        #expect(words("\u{1B}[200~\u{1B}[201~x") == ["x"])
        #expect(words("\u{1B}[200~q\u{1B}\u{1B}[201~") == ["paste q\u{1B}"])
    }

    @Test("a very long paste comes in pieces that cut no character")
    func longPaste() {
        var parser = InputParser()
        let text = "a" + String(repeating: "漢字", count: 500_000)
        var pieces: [String] = []
        for event in parser.feed(("\u{1B}[200~" + text + "\u{1B}[201~").utf8) {
            if case .paste(let piece) = event { pieces.append(piece) }
        }
        #expect(pieces.count == 3)
        #expect(pieces.allSatisfy { $0.utf8.count <= InputParser.pasteLimit + 4 })
        #expect(pieces.joined() == text)
    }

    @Test("a paste that never ends is left by Esc")
    func endlessPaste() {
        var parser = InputParser()
        #expect(parser.feed("\u{1B}[200~abc".utf8).isEmpty)
        #expect(!parser.isPending)
        #expect(parser.flush().isEmpty)
        #expect(parser.feed([0x1B]).isEmpty)
        #expect(parser.isPending)
        #expect(parser.flush().isEmpty)
        #expect(words(parser.flush()) == ["paste abc"])
        #expect(words(parser.feed("q".utf8)) == ["q"])
    }

    @Test("replies; reports of focus are not asked for and mean nothing")
    func replies() {
        #expect(words("\u{1B}[I\u{1B}[O") == [])
        #expect(words("\u{1B}]11;rgb:1e1e/1e1e/2e2e\u{1B}\\x") == ["background 30 30 46", "x"])
        #expect(words("\u{1B}]11;rgb:ff/8/0000\u{7}") == ["background 255 136 0"])
        #expect(TerminalBackground(red: 30, green: 30, blue: 46).isDark)
        #expect(!TerminalBackground(red: 250, green: 240, blue: 230).isDark)
    }

    @Test("a lone Esc is a key only when nothing follows")
    func loneEscape() {
        var parser = InputParser()
        #expect(parser.feed([0x1B]).isEmpty)
        #expect(parser.isPending)
        #expect(words(parser.flush()) == ["esc"])
        #expect(!parser.isPending)
        #expect(words("\u{1B}\u{1B}") == ["esc", "esc"])
        #expect(words("\u{1B}\u{1B}\u{1B}[A") == ["esc", "alt-up"])
        // Half a sequence is given a second chance.
        #expect(parser.feed("\u{1B}[1;".utf8).isEmpty)
        #expect(parser.flush().isEmpty)
        #expect(words(parser.feed("5C".utf8)) == ["ctrl-right"])
        #expect(parser.feed("\u{1B}]11;rgb".utf8).isEmpty)
        #expect(parser.flush().isEmpty && parser.flush().isEmpty && !parser.isPending)
    }

    @Test("bytes that are no UTF-8 become replacement characters")
    func invalid() {
        func read(_ bytes: [UInt8]) -> [String] {
            var parser = InputParser()
            return words(parser.feed(bytes) + parser.flush())
        }
        #expect(read([0xFF, 0x61]) == ["\u{FFFD}", "a"])
        #expect(read([0xE6, 0xBC]) == ["\u{FFFD}"])
        #expect(read([0xE6, 0xBC, 0x61]) == ["\u{FFFD}", "a"])
        #expect(read([0xE6, 0x1B, 0x5B, 0x41]) == ["\u{FFFD}", "up"])
        #expect(read([0xC0, 0x80]) == ["\u{FFFD}", "\u{FFFD}"])
        #expect(read([0xED, 0xA0, 0x80]) == ["\u{FFFD}", "\u{FFFD}", "\u{FFFD}"])
        #expect(read([0xC2, 0x9B]) == [])
    }

    @Test("how the bytes are cut changes nothing")
    func pieces() {
        let tokens: [String] = [
            "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}]", "\u{1B}P", "\u{1B}\\", "\u{7}", "[", "1", ";", "5", "~", "A",
            "M", "<", "u", "$", "\r", "\n",
            "é", "漢", "🙂", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}[M", "\u{1B}[<0;1;2M", "x", " ", "11;rgb:1/2/3",
            "\u{18}",
        ]
        for seed in 1...400 as ClosedRange<UInt64> {
            var random = SplitMix(seed)
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                if Int.random(in: 0..<6, using: &random) == 0 {
                    bytes.append(.random(in: 0...255, using: &random))
                } else {
                    bytes += Array((tokens.randomElement(using: &random) ?? "").utf8)
                }
            }
            func events(_ feed: (inout InputParser) -> [InputEvent]) -> [InputEvent] {
                var parser = InputParser()
                let events = feed(&parser)
                return events + parser.flush() + parser.flush()
            }
            let whole = events { $0.feed(bytes) }
            #expect(events { parser in bytes.flatMap { parser.feed([$0]) } } == whole, "seed \(seed)")
            let cut = Int.random(in: 0...bytes.count, using: &random)
            #expect(events { $0.feed(bytes[..<cut]) + $0.feed(bytes[cut...]) } == whole, "seed \(seed)")
        }
    }
}

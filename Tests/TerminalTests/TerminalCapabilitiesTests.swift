import Testing

@testable import Terminal

@Suite("What a terminal can do")
struct TerminalCapabilitiesTests {
    private func depth(_ environment: [String: String]) -> ColorDepth {
        TerminalCapabilities.detect(environment: environment).colorDepth
    }

    @Test("colours come from terminfo, more of them from COLORTERM, none with NO_COLOR")
    func colors() {
        #expect(depth(["TERM": "xterm-256color"]) == .palette256)
        #expect(depth(["TERM": "xterm"]) == .ansi8)
        #expect(depth(["TERM": "linux"]) == .ansi8)
        #expect(depth(["TERM": "vt100"]) == .none)
        #expect(depth(["TERM": "xterm", "COLORTERM": "truecolor"]) == .palette256)
        #expect(depth(["TERM": "xterm", "COLORTERM": "1"]) == .ansi16)
        #expect(depth(["TERM": "xterm-256color", "NO_COLOR": "1"]) == .none)
        #expect(depth(["TERM": "xterm-256color", "NO_COLOR": ""]) == .palette256)
        #expect(depth(["TERM": "newest-terminal"]) == .ansi16)
        #expect(depth(["TERM": "newest-256color"]) == .palette256)
        #expect(depth(["TERM": "../../etc/passwd"]) == .ansi16)
    }

    @Test("the first locale variable that is set says whether text is UTF-8")
    func unicode() {
        func isUnicode(_ environment: [String: String]) -> Bool {
            TerminalCapabilities.detect(environment: environment).isUnicode
        }
        #expect(isUnicode(["LANG": "de_DE.UTF-8"]))
        #expect(isUnicode(["LANG": "C", "LC_CTYPE": "C.utf8"]))
        #expect(!isUnicode(["LANG": "en_US.UTF-8", "LC_ALL": "C"]))
        #expect(isUnicode(["LANG": "en_US.UTF-8", "LC_ALL": ""]))
        #expect(!isUnicode(["LANG": "de_DE.ISO-8859-1"]))
        #expect(!isUnicode([:]))
    }

    @Test("a terminal that cannot place its cursor is dumb")
    func dumb() {
        func isDumb(_ environment: [String: String], isTerminal: Bool = true) -> Bool {
            TerminalCapabilities.detect(environment: environment, isTerminal: isTerminal).isDumb
        }
        #expect(isDumb(["TERM": "dumb"]))
        #expect(isDumb([:]))
        #expect(isDumb(["TERM": ""]))
        #expect(isDumb(["TERM": "xterm"], isTerminal: false))
        #expect(!isDumb(["TERM": "vt100"]))
        #expect(!isDumb(["TERM": "newest-terminal"]))
    }

    @Test("only GNU screen keeps an escape back while the mouse is reported")
    func escape() {
        func sendsEscape(_ environment: [String: String]) -> Bool {
            TerminalCapabilities.detect(environment: environment).sendsEscapeWithMouse
        }
        #expect(!sendsEscape(["TERM": "screen", "STY": "1.pts-0"]))
        #expect(!sendsEscape(["TERM": "screen.xterm-256color", "STY": "1.pts-0", "TMUX": "/tmp/t,1,0"]))
        #expect(sendsEscape(["TERM": "screen-256color", "TMUX": "/tmp/t,1,0"]))
        #expect(sendsEscape(["TERM": "tmux-256color", "TMUX": "/tmp/t,1,0", "STY": "1.pts-0"]))
        #expect(sendsEscape(["TERM": "xterm", "STY": ""]))
    }

    @Test("text goes to the clipboard in one sequence, within tmux in two, too long a text not at all")
    func clipboard() {
        func text(_ bytes: [UInt8]?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
        #expect(text(Clipboard.osc52("curl é", insideTmux: false)) == "\u{1B}]52;c;Y3VybCDDqQ==\u{7}")
        #expect(
            text(Clipboard.osc52("a", insideTmux: true))
                == "\u{1B}]52;c;YQ==\u{7}\u{1B}Ptmux;\u{1B}\u{1B}]52;c;YQ==\u{7}\u{1B}\\"
        )
        #expect(Clipboard.osc52(String(repeating: "a", count: 56_244), insideTmux: false) != nil)
        #expect(Clipboard.osc52(String(repeating: "a", count: 56_247), insideTmux: false) == nil)
    }
}

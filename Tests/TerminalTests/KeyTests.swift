import Terminal
import Testing

@Suite("Keys")
struct KeyTests {
    @Test(
        "spellings are read and written",
        arguments: [
            ("a", Key(.character("a"))), ("A", Key(.character("A"))), ("?", Key(.character("?"))),
            ("ctrl-x", Key(.character("x"), .control)), ("alt-enter", Key(.enter, .alt)),
            ("shift-tab", Key(.tab, .shift)), ("space", Key(.character(" "))),
            ("ctrl-space", Key(.character(" "), .control)),
            ("f5", Key(.function(5))), ("f12", Key(.function(12))), ("pgup", Key(.pageUp)), ("esc", Key(.escape)),
            ("ctrl-alt-shift-left", Key(.left, [.control, .alt, .shift])), ("-", Key(.character("-"))),
            ("alt--", Key(.character("-"), .alt)), ("alt-f", Key(.character("f"), .alt)), ("é", Key(.character("é"))),
        ] as [(String, Key)]
    )
    func spellings(spelling: String, key: Key) {
        #expect(Key(spelling: spelling) == key)
        #expect(key.spelling == spelling)
    }

    @Test(
        "other forms of the same key are read",
        arguments: [
            ("Ctrl-X", "ctrl-x"), ("CTRL-x", "ctrl-x"), ("shift-a", "A"), ("escape", "esc"), ("return", "enter"),
            ("PageDown", "pgdn"), ("F5", "f5"), ("shift-space", "shift-space"), ("ctrl-shift-x", "ctrl-x"),
        ]
    )
    func otherForms(form: String, spelling: String) {
        #expect(Key(spelling: form)?.spelling == spelling)
    }

    @Test(
        "what is no key is refused",
        arguments: [
            "", "ab", "ctrl-", "ctrl-ctrl-x", "f0", "f25", "f05", "shift-1", "hyper-x", "\n", "\u{1B}", "alt-enterx",
        ]
    )
    func noKeys(spelling: String) {
        #expect(Key(spelling: spelling) == nil)
    }
}

import Foundation

enum Fallback {
    /// One ASCII byte that replaces a character of one or two columns.
    static func ascii(_ cell: Cell) -> UInt8 {
        if cell.isContinuation { return 0x20 }
        let text = cell.text
        guard let scalar = text.unicodeScalars.first else { return 0x20 }
        if scalar.isASCII { return UInt8(scalar.value) }
        return known[scalar] ?? range(scalar.value) ?? undecorated(text) ?? UInt8(ascii: "?")
    }

    private static func undecorated(_ text: String) -> UInt8? {
        guard let base = text.decomposedStringWithCanonicalMapping.unicodeScalars.first, base.isASCII else {
            return nil
        }
        return UInt8(base.value)
    }

    private static func range(_ value: UInt32) -> UInt8? {
        switch value {
        case 0x2400..<0x2426: UInt8(ascii: "^")
        case 0x2500..<0x2580: UInt8(ascii: "+")
        case 0x2580..<0x25A0: UInt8(ascii: "#")
        case 0x2800..<0x2900: UInt8(ascii: ":")
        default: nil
        }
    }

    private static let known: [Unicode.Scalar: UInt8] = {
        let groups: [(String, Unicode.Scalar)] = [
            ("─━╌╍┄┅┈┉╴╶╸╺╼╾–—‒―‐‑−▃", "-"), ("│┃╎╏┆┇┊┋╵╷╹╻║¦▏▎▍▌", "|"), ("═▄▅", "="), ("▁▂", "_"), ("╱", "/"),
            ("╲", "\\"), ("╳×✗✘✕✖", "x"), ("░·⋅∙", "."), ("▒", ":"), ("▆", "%"), ("←◀◂◁‹«⟨", "<"), ("→▶▸▷›»⟩➜", ">"),
            ("↑▲▴△⇧", "^"), ("↓▼▾▽", "v"), ("↔", "-"), ("↕", "|"), ("↵⏎↩", "<"), ("●•◆★■◼✱∗", "*"), ("○◇☆□◦", "o"),
            ("✓✔", "+"), ("…", "~"), ("“”„″", "\""), ("‘’‚′", "'"), ("\u{A0}\u{2007}\u{202F}", " "), ("⟳↻↺", "@"),
            ("◌\u{FFFD}", "?"), ("µμ", "u"), ("▐▀▇█▓", "#"), ("∅", "0"), ("≈", "~"), ("≤", "<"), ("≥", ">"),
        ]
        var table: [Unicode.Scalar: UInt8] = [:]
        for (characters, ascii) in groups {
            for scalar in characters.unicodeScalars { table[scalar] = UInt8(ascii.value) }
        }
        return table
    }()
}

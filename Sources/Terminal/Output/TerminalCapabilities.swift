/// ``ansi16`` has the eight colours and their bright forms.
package enum ColorDepth: Hashable, Sendable, Comparable { case none, ansi8, ansi16, palette256 }

package struct TerminalCapabilities: Hashable, Sendable {
    package var name = "xterm-256color"
    /// The colours that it shows and the user wants.
    package var colorDepth = ColorDepth.palette256
    /// Whether text is UTF-8; if not, only ASCII is written.
    package var isUnicode = true
    /// Whether it cannot place the cursor: no screen can be drawn, only lines written.
    package var isDumb = false
    package var isInsideTmux = false
    /// Whether an escape key arrives by itself while the mouse is reported: GNU screen 4.9 keeps it until the next key.
    package var sendsEscapeWithMouse = true
}

extension TerminalCapabilities {
    /// Detects the capabilities by the environment and the terminfo database.
    ///
    /// Without a terminal, or with one that cannot place its cursor by ANSI's sequence, ``isDumb`` is set. A name that
    /// is not in the database is taken for a newer terminal like xterm. A non-empty `NO_COLOR` removes the colours.
    package static func detect(environment: [String: String], isTerminal: Bool = true) -> TerminalCapabilities {
        let name = environment["TERM"] ?? ""
        let entry = Terminfo(name: name)
        let isDumb = !isTerminal || name.isEmpty || name == "dumb" || entry?.isANSI == false
        return TerminalCapabilities(
            name: name,
            colorDepth: isDumb ? .none : colorDepth(environment, name: name, colors: entry?.colors),
            isUnicode: isUnicode(environment),
            isDumb: isDumb,
            isInsideTmux: !(environment["TMUX"] ?? "").isEmpty,
            // tmux may be called `screen` as well, and screen may run in tmux: STY is screen's own.
            sendsEscapeWithMouse: (environment["STY"] ?? "").isEmpty || !name.hasPrefix("screen")
        )
    }

    private static func colorDepth(_ environment: [String: String], name: String, colors: Int?) -> ColorDepth {
        if !(environment["NO_COLOR"] ?? "").isEmpty { return .none }
        let more = (environment["COLORTERM"] ?? "").lowercased()
        if ["truecolor", "24bit"].contains(more) || name.hasSuffix("-direct") { return .palette256 }
        guard let colors else { return name.contains("256color") ? .palette256 : .ansi16 }
        let depth: ColorDepth = colors >= 256 ? .palette256 : colors >= 16 ? .ansi16 : colors >= 8 ? .ansi8 : .none
        // Any other word in COLORTERM promises colours, but not how many.
        return more.isEmpty ? depth : max(depth, .ansi16)
    }

    /// The first of the three that is set decides, as in the C library.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return locale?.lowercased().contains(/utf-?8/) == true
    }
}

/// ``ansi16`` has the eight colours and their bright forms.
package enum ColorDepth: Hashable, Sendable, Comparable { case none, ansi8, ansi16, palette256 }

package struct TerminalCapabilities: Hashable, Sendable {
    package var name = "xterm-256color"
    /// The colours that the terminal supports and `NO_COLOR` allows.
    package var colorDepth = ColorDepth.palette256
    /// Whether text is UTF-8; if not, only ASCII is written.
    package var isUnicode = true
    /// Whether the terminal cannot position the cursor: Sluice writes lines and draws no screen.
    package var isDumb = false
    package var isInsideTmux = false
    /// False in GNU screen: while the mouse is reported, version 4.9 sends an escape key only with the next key.
    package var sendsEscapeWithMouse = true
}

extension TerminalCapabilities {
    /// Detects the capabilities by the environment and the terminfo database.
    ///
    /// ``isDumb`` is set without a terminal, or if the ANSI sequence does not position its cursor. A name missing in
    /// the database is treated as a new terminal like xterm. A non-empty `NO_COLOR` removes the colours.
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
            // In tmux, TERM may be `screen` too, and screen may run in tmux. Only screen sets STY.
            sendsEscapeWithMouse: (environment["STY"] ?? "").isEmpty || !name.hasPrefix("screen")
        )
    }

    private static func colorDepth(_ environment: [String: String], name: String, colors: Int?) -> ColorDepth {
        if !(environment["NO_COLOR"] ?? "").isEmpty { return .none }
        let more = (environment["COLORTERM"] ?? "").lowercased()
        if ["truecolor", "24bit"].contains(more) || name.hasSuffix("-direct") { return .palette256 }
        guard let colors else { return name.contains("256color") ? .palette256 : .ansi16 }
        let depth: ColorDepth = colors >= 256 ? .palette256 : colors >= 16 ? .ansi16 : colors >= 8 ? .ansi8 : .none
        // Any other value of COLORTERM says that there are colours, but not how many.
        return more.isEmpty ? depth : max(depth, .ansi16)
    }

    /// The first of the three variables that is set decides, as in the C library.
    private static func isUnicode(_ environment: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        return locale?.lowercased().contains(/utf-?8/) == true
    }
}

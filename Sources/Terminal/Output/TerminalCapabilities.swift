/// How many colours a terminal shows.
public enum ColorDepth: Int, Hashable, Sendable, Comparable {
    /// No colours; attributes only.
    case none
    /// The eight of ANSI.
    case ansi8
    /// These and their bright forms.
    case ansi16
    /// The palette of 256.
    case palette256

    /// Whether the first shows fewer.
    public static func < (left: ColorDepth, right: ColorDepth) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a terminal can do, as far as the drawing depends on it.
public struct TerminalCapabilities: Hashable, Sendable {
    /// The terminal's name, the value of `TERM`.
    public var name: String
    /// How many colours it shows and the user wants.
    public var colorDepth: ColorDepth
    /// Whether text is UTF-8; if not, only ASCII is written.
    public var isUnicode: Bool
    /// Whether it cannot place the cursor: no screen can be drawn, only lines written.
    public var isDumb: Bool
    /// Whether the program runs inside tmux.
    public var isInsideTmux: Bool

    /// A terminal of these abilities.
    public init(
        name: String = "xterm-256color",
        colorDepth: ColorDepth = .palette256,
        isUnicode: Bool = true,
        isDumb: Bool = false,
        isInsideTmux: Bool = false
    ) {
        self.name = name
        self.colorDepth = colorDepth
        self.isUnicode = isUnicode
        self.isDumb = isDumb
        self.isInsideTmux = isInsideTmux
    }
}

package enum InputEvent: Hashable, Sendable {
    case key(Key)
    case mouse(MouseEvent)
    /// A very long text comes in several pieces.
    case paste(String)
    case focus(Bool)
    case background(TerminalBackground)
}

package struct MouseEvent: Hashable, Sendable {
    package enum Button: Hashable, Sendable { case left, middle, right }

    package enum Kind: Hashable, Sendable {
        case press(Button)
        case release
        case drag(Button)
        /// Away from the user, and towards him.
        case wheelUp, wheelDown
    }

    package var kind: Kind
    /// Column and row, from 0.
    package var x: Int
    package var y: Int
    package var modifiers: Key.Modifiers

    package init(_ kind: Kind, x: Int, y: Int, modifiers: Key.Modifiers = []) {
        (self.kind, self.x, self.y, self.modifiers) = (kind, x, y, modifiers)
    }
}

/// The terminal's background, asked with ``query``: red, green and blue, each 0–255.
package struct TerminalBackground: Hashable, Sendable {
    let red, green, blue: UInt8

    /// A terminal that does not know the question does not answer.
    package static let query: [UInt8] = Array("\u{1B}]11;?\u{1B}\\".utf8)

    package var isDark: Bool { 299 * Int(red) + 587 * Int(green) + 114 * Int(blue) < 128_000 }
}

package enum InputEvent: Hashable, Sendable {
    case key(Key)
    case mouse(MouseEvent)
    /// A very long text comes in several pieces.
    case paste(String)
    case background(TerminalBackground)
}

package struct MouseEvent: Hashable, Sendable {
    /// Of the left button, and of the wheel: away from the user, and towards him.
    package enum Kind: Hashable, Sendable { case press, drag, release, wheelUp, wheelDown }

    package var kind: Kind
    /// Column and row, from 0.
    package var x: Int
    package var y: Int

    package init(_ kind: Kind, x: Int, y: Int) { (self.kind, self.x, self.y) = (kind, x, y) }
}

/// The terminal's background, asked with ``query``: red, green and blue, each 0–255.
package struct TerminalBackground: Hashable, Sendable {
    let red, green, blue: UInt8

    /// A terminal that does not know the question does not answer.
    package static let query: [UInt8] = Array("\u{1B}]11;?\u{1B}\\".utf8)

    package var isDark: Bool { 299 * Int(red) + 587 * Int(green) + 114 * Int(blue) < 128_000 }
}

package enum InputEvent: Hashable, Sendable {
    case key(Key)
    case mouse(MouseEvent)
    /// The parser splits a very long paste into several events.
    case paste(String)
    case background(TerminalBackground)
}

package struct MouseEvent: Hashable, Sendable {
    /// Press and drag of the left button, release of any button, and the wheel: up is away from the user.
    package enum Kind: Hashable, Sendable { case press, drag, release, wheelUp, wheelDown }

    package var kind: Kind
    /// Column and row, from 0.
    package var x: Int
    package var y: Int

    package init(_ kind: Kind, x: Int, y: Int) { (self.kind, self.x, self.y) = (kind, x, y) }
}

/// The background colour that the terminal returns for ``query``: red, green and blue, each 0–255.
package struct TerminalBackground: Hashable, Sendable {
    let red, green, blue: UInt8

    /// A terminal that does not support this query does not answer.
    package static let query: [UInt8] = Array("\u{1B}]11;?\u{1B}\\".utf8)

    package var isDark: Bool { 299 * Int(red) + 587 * Int(green) + 114 * Int(blue) < 128_000 }
}

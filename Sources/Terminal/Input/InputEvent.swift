/// Something that came from the terminal.
package enum InputEvent: Hashable, Sendable {
    /// A key was pressed.
    case key(Key)
    /// The mouse was used.
    case mouse(MouseEvent)
    /// Text was pasted; a very long one comes in several pieces.
    case paste(String)
    /// The terminal's window came to the front, or left it.
    case focus(Bool)
    /// The terminal answered a question.
    case reply(TerminalReply)
}

/// A click, a drag, or a turn of the wheel.
package struct MouseEvent: Hashable, Sendable {
    package enum Button: Hashable, Sendable {
        /// The first one.
        case left
        /// The wheel, pressed.
        case middle
        /// The second one.
        case right
    }

    /// What was done.
    package enum Kind: Hashable, Sendable {
        /// A button went down.
        case press(Button)
        /// A button went up.
        case release
        /// The mouse moved to another cell with a button down.
        case drag(Button)
        /// The wheel turned away from the user.
        case wheelUp
        /// The wheel turned towards the user.
        case wheelDown
    }

    /// What was done.
    package var kind: Kind
    /// The column, from 0.
    package var x: Int
    /// The row, from 0.
    package var y: Int
    /// The keys held meanwhile.
    package var modifiers: Key.Modifiers

    /// A mouse event at a cell.
    package init(_ kind: Kind, x: Int, y: Int, modifiers: Key.Modifiers = []) {
        self.kind = kind
        self.x = x
        self.y = y
        self.modifiers = modifiers
    }
}

/// What a terminal answers.
package enum TerminalReply: Hashable, Sendable {
    /// Its background, asked with ``backgroundQuery``: red, green and blue, each 0–255.
    case background(red: UInt8, green: UInt8, blue: UInt8)

    /// Asks for the background's colour.
    ///
    /// A terminal that does not know the question does not answer.
    package static let backgroundQuery: [UInt8] = Array("\u{1B}]11;?\u{1B}\\".utf8)

    /// Whether the background is a dark one.
    package var isDark: Bool {
        switch self {
        case .background(let red, let green, let blue):
            299 * Int(red) + 587 * Int(green) + 114 * Int(blue) < 128_000
        }
    }
}

/// The sequences that enter and leave the full screen. They come from terminfo if it has them. The sequences for mouse
/// and pastes are in no database; terminals without these features ignore them.
package struct ScreenSequences: Sendable {
    let enter: [UInt8]
    let leave: [UInt8]
    /// Reports buttons and drags, in the SGR form, which does not limit columns and rows.
    static let mouse: (on: [UInt8], off: [UInt8]) = (csi("?1002h") + csi("?1006h"), csi("?1006l") + csi("?1002l"))

    init(_ terminfo: Terminfo?) {
        let csi = ScreenSequences.csi
        let screen = terminfo?.alternateScreen ?? .init(on: csi("?1049h"), off: csi("?1049l"))
        let keypad = terminfo?.keypad ?? .init(on: csi("?1h"), off: csi("?1l"))
        let cursor = terminfo.map(\.showCursor).flatMap { $0.isEmpty ? nil : $0 } ?? csi("?25h")
        // No cursor, no line wrapping, pastes in brackets.
        let on = ["?25l", "?7l", "?2004h"].flatMap(csi)
        let off = ["?2026l", "0m", "?2004l", "?1006l", "?1002l", "?7h"].flatMap(csi)
        enter = screen.on + keypad.on + on
        // A terminal with one screen, such as the Linux console, is cleared, or the shell would write into the frame.
        let end = screen.off.isEmpty ? ["H", "2J"].flatMap(csi) : screen.off
        leave = off + keypad.off + end + cursor
    }

    private static func csi(_ rest: String) -> [UInt8] { [0x1B, 0x5B] + rest.utf8 }
}

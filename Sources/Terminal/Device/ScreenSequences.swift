/// The sequences that take the screen and give it back.
///
/// They come from terminfo if it has them; mouse, focus and pastes are in no database, and terminals without them
/// ignore them.
package struct ScreenSequences: Sendable {
    let enter: [UInt8]
    let leave: [UInt8]
    /// Buttons and drags, in the form without a limit.
    static let mouse: (on: [UInt8], off: [UInt8]) = (csi("?1002h") + csi("?1006h"), csi("?1006l") + csi("?1002l"))

    init(_ terminfo: Terminfo?) {
        let screen =
            terminfo?.alternateScreen ?? .init(on: ScreenSequences.csi("?1049h"), off: ScreenSequences.csi("?1049l"))
        let keypad = terminfo?.keypad ?? .init(on: ScreenSequences.csi("?1h"), off: ScreenSequences.csi("?1l"))
        let cursor = terminfo.map(\.showCursor).flatMap { $0.isEmpty ? nil : $0 } ?? ScreenSequences.csi("?25h")
        // No line wrapping; pastes in brackets; focus. The mouse is switched by itself.
        let on = ["?25l", "?7l", "?2004h", "?1004h"].flatMap(ScreenSequences.csi)
        let off = ["?2026l", "0m", "?1004l", "?2004l", "?1006l", "?1002l", "?7h"].flatMap(ScreenSequences.csi)
        enter = screen.on + keypad.on + on
        // A terminal with one screen only, such as Linux' console, is left empty: the shell would write into what is there.
        let end = screen.off.isEmpty ? ["H", "2J"].flatMap(ScreenSequences.csi) : screen.off
        leave = off + keypad.off + end + cursor
    }

    /// What has the terminal report buttons and drags, or leave the mouse to itself, for selecting text.
    package static func mouse(isOn: Bool) -> [UInt8] {
        (isOn ? ["?1002h", "?1006h"] : ["?1006l", "?1002l"]).flatMap(csi)
    }

    private static func csi(_ rest: String) -> [UInt8] { [0x1B, 0x5B] + rest.utf8 }
}

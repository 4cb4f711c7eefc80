import Foundation

/// The terminal's clipboard, which is on the user's own machine even over ssh.
package enum Clipboard {
    /// The maximum length of base64 in one sequence of xterm, iTerm2 and others, in bytes.
    static let limit = 74_994

    /// The bytes that copy text to the clipboard; `nil` if the text is too long: about 56,000 bytes of UTF-8.
    ///
    /// Some terminals do not allow it, and none reports this. Inside tmux both forms are written: tmux forwards the
    /// wrapped sequence if `allow-passthrough` is on, and reads the plain one if `set-clipboard` is on.
    package static func osc52(_ text: String, insideTmux: Bool) -> [UInt8]? {
        let encoded = Data(text.utf8).base64EncodedString()
        guard encoded.utf8.count <= limit else { return nil }
        let plain = "\u{1B}]52;c;\(encoded)\u{7}"
        guard insideTmux else { return Array(plain.utf8) }
        return Array((plain + "\u{1B}Ptmux;\u{1B}\(plain)\u{1B}\\").utf8)
    }
}

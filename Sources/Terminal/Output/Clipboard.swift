import Foundation

/// The clipboard of the terminal, which is the user's own even over ssh.
package enum Clipboard {
    /// The longest base64 that xterm, iTerm2 and others take in one sequence.
    static let limit = 74_994

    /// The bytes that put text into the clipboard; `nil` if it is too long: about 56,000 bytes of UTF-8.
    ///
    /// Not every terminal allows it, and none reports a refusal. tmux passes a wrapped sequence to its own terminal if
    /// `allow-passthrough` is on, and understands the unwrapped one if `set-clipboard` is, so inside tmux both are
    /// written.
    package static func osc52(_ text: String, insideTmux: Bool) -> [UInt8]? {
        let encoded = Data(text.utf8).base64EncodedString()
        guard encoded.utf8.count <= limit else { return nil }
        let plain = "\u{1B}]52;c;\(encoded)\u{7}"
        guard insideTmux else { return Array(plain.utf8) }
        return Array((plain + "\u{1B}Ptmux;\u{1B}\(plain)\u{1B}\\").utf8)
    }
}

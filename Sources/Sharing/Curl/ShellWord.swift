/// Bytes as one word of a shell command that bash, dash and other POSIX shells read alike.
enum ShellWord {
    /// Quotes bytes; `nil` where they hold a NUL, which no argument can carry.
    ///
    /// Single quotes do for most; where control characters or broken UTF-8 could get lost on the way through a
    /// terminal or an editor, `printf` makes them. Both in one with a line feed is refused too, for command
    /// substitution would drop it at the end.
    static func quoted(_ bytes: some Collection<UInt8>) -> [UInt8]? {
        if bytes.contains(0) { return nil }
        let needsPrintf = bytes.contains { isControl($0) } || String(validating: bytes, as: UTF8.self) == nil
        guard needsPrintf else { return singleQuoted(bytes) }
        return bytes.contains(0x0A) ? nil : printf(bytes)
    }

    /// Quotes text.
    static func quoted(_ text: String) -> [UInt8] {
        singleQuoted(text.utf8)
    }

    /// Whether bytes can stand in single quotes and be pasted: valid UTF-8, no control characters but line feed and tab.
    static func isPlainText(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.contains { isControl($0) && $0 != 0x09 } && String(validating: bytes, as: UTF8.self) != nil
    }

    static func singleQuoted(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var word: [UInt8] = [UInt8(ascii: "'")]
        for byte in bytes {
            if byte == UInt8(ascii: "'") { word.append(contentsOf: "'\\'".utf8) }
            word.append(byte)
        }
        word.append(UInt8(ascii: "'"))
        return word
    }

    private static func isControl(_ byte: UInt8) -> Bool {
        byte < 0x20 && byte != 0x0A || byte == 0x7F
    }

    /// `"$(printf '…')"` with everything but the plainest characters in octal, so that no shell sees anything to expand.
    private static func printf(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var word = Array("\"$(printf '".utf8)
        for byte in bytes {
            let isPlain = byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || " :;,./=_+@&?()-".utf8.contains(byte)
            if isPlain, !(word.last == UInt8(ascii: "'") && byte == UInt8(ascii: "-")) {
                word.append(byte)
            } else {
                let digits = String(byte, radix: 8)
                word.append(contentsOf: ("\\" + String(repeating: "0", count: 3 - digits.utf8.count) + digits).utf8)
            }
        }
        word.append(contentsOf: "')\"".utf8)
        return word
    }
}

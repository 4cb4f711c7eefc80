import HTTPModel
import Text

/// Bytes as one word of a shell command that bash, dash and other POSIX shells read alike.
package enum ShellWord {
    /// A text as one word of a command, in quotes only where it needs them.
    package static func word(_ text: String) -> String {
        if text.wholeMatch(of: /[A-Za-z0-9\/._+:,@%=][A-Za-z0-9\/._+:,@%=-]*/) != nil { return text }
        // A NUL, which no word can have, ends it.
        return String(decoding: quoted(text.utf8.prefix { $0 != 0 }) ?? [], as: UTF8.self)
    }

    /// A comment line; whatever could end it is made visible. zsh executes a comment that is typed or pasted as a command, so
    /// what could do more than name a command that is not there stands between quotes.
    static func comment(_ text: String) -> String {
        let text = VisibleText.of(text)
        let has = { (signs: String) in text.unicodeScalars.contains { signs.unicodeScalars.contains($0) } }
        if has("$`\\\"!") { return "# '\(text.replacing("'", with: "'\\''"))'\n" }
        return has("'();&|<>") ? "# \"\(text)\"\n" : "# \(text)\n"
    }

    /// Quotes bytes; `nil` where they hold a NUL, which no argument can carry. Single quotes do for most. What could
    /// get lost on the way through a terminal or an editor, or could steer one, is made by `printf` in octal: control
    /// characters but line feeds, what ``VisibleText`` takes for hidden, and bytes that are not UTF-8.
    ///
    /// So are `!`, and `^` at the beginning of a line, in a word of several lines and, as `followsLines` says, in those
    /// behind it: an interactive bash before 5.0 looks for references to its history in each line by itself, whatever
    /// quotes are open. Where it has no such entry, it drops the command and reads the next line as another one.
    static func quoted(_ bytes: some Collection<UInt8>, keepsTabs: Bool = false, followsLines: Bool = false) -> [UInt8]?
    {
        if bytes.contains(0) { return nil }
        var word = ShellWord.Writer()
        let hasLines = followsLines || bytes.contains(0x0A)
        var isFirst = false
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            let isMark = hasLines && (scalar == "!" || scalar == "^" && isFirst)
            isFirst = scalar == "\n"
            return !isMark && !VisibleText.isHidden(scalar) || scalar == "\n" || scalar == "\t" && keepsTabs
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            for byte in bytes { word.add([byte], isPlain: byte < 0x80 && isPlain(Unicode.Scalar(byte))) }
            return word.bytes
        }
        for scalar in text.unicodeScalars {
            word.add(UTF8.encode(scalar).map(Array.init) ?? [], isPlain: isPlain(scalar))
        }
        return word.bytes
    }

    /// A command that writes bytes, whatever they are: `printf '…'`, the format with `\` and octal digits for what could get
    /// lost or steer a terminal.
    static func printing(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var command = Array("printf '".utf8)
        func escape(_ byte: UInt8) { command += "\\\(byte.padded(to: 3, radix: 8))".utf8 }
        func add(_ scalar: Unicode.Scalar, isFirst: Bool) {
            switch scalar {
            case "%": command += "%%".utf8
            case "\\": command += "\\\\".utf8
            case "\n": command += "\\n".utf8
            case "\r": command += "\\r".utf8
            case "\t": command += "\\t".utf8
            // A format that begins with a hyphen is an option to some shells.
            case "-" where isFirst, "'": escape(UInt8(ascii: scalar))
            case _ where VisibleText.isHidden(scalar): for byte in UTF8.encode(scalar) ?? .init() { escape(byte) }
            default: command += Array(UTF8.encode(scalar) ?? .init())
            }
        }
        if let text = String(validating: bytes, as: UTF8.self) {
            for (index, scalar) in text.unicodeScalars.enumerated() { add(scalar, isFirst: index == 0) }
        } else {
            for (index, byte) in bytes.enumerated() {
                if byte < 0x80 { add(Unicode.Scalar(byte), isFirst: index == 0) } else { escape(byte) }
            }
        }
        return command + [UInt8(ascii: "'")]
    }

    /// Whether bytes read well in a command: valid UTF-8, no ASCII control characters but line feed and tab.
    static func isPlainText(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x0A || $0 == 0x09 }
            && String(validating: bytes, as: UTF8.self) != nil
    }

    /// A word of pieces side by side: `'…'` as they are, `"$(printf '…')"` in octal.
    private struct Writer {
        private enum Piece: String {
            case plain = "'"
            case octal = "')\""
        }

        private var word: [UInt8] = []
        private var piece: Piece?

        /// The word, complete.
        var bytes: [UInt8] { word + Array((piece?.rawValue ?? "''").utf8) }

        mutating func add(_ bytes: [UInt8], isPlain: Bool) {
            let next = isPlain ? Piece.plain : .octal
            if next != piece {
                word += Array("\(piece?.rawValue ?? "")\(isPlain ? "'" : "\"$(printf '")".utf8)
                piece = next
            }
            for byte in bytes {
                if !isPlain {
                    word += Array(("\\" + byte.padded(to: 3, radix: 8)).utf8)
                } else if byte == UInt8(ascii: "'") {
                    word += Array("'\\''".utf8)
                } else {
                    word.append(byte)
                }
            }
        }
    }
}

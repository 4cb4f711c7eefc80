import Masking
import Text

/// Bytes as one word of a shell command, which bash, dash and other POSIX shells read the same way.
package enum ShellWord {
    /// A text as one word of a command, in quotes only if necessary.
    package static func word(_ text: String) -> String {
        if text.wholeMatch(of: /[A-Za-z0-9\/._+:,@%=][A-Za-z0-9\/._+:,@%=-]*/) != nil { return text }
        // Ends at a NUL, because no word can contain a NUL.
        return String(decoding: quoted(text.utf8.prefix { $0 != 0 }) ?? [], as: UTF8.self)
    }

    /// A short comment line without hidden characters. Quotes shell syntax, because zsh executes pasted comments.
    static func comment(_ text: String) -> String {
        let text = VisibleText.of(MarkedText.plain(text)).shortened(to: longestComment)
        let has = { (signs: String) in text.unicodeScalars.contains { signs.unicodeScalars.contains($0) } }
        if has("$`\\\"!") { return "# '\(text.replacing(["'": "'\\''"]))'\n" }
        return has("'();&|<>") ? "# \"\(text)\"\n" : "# \(text)\n"
    }

    /// Quotes bytes; `nil` for a NUL, which no argument can contain, and for too many secrets and hidden characters.
    /// `printf` writes characters in octal that a terminal or an editor could lose or obey: control characters except
    /// line feeds, characters that ``VisibleText`` hides, and bytes that are not UTF-8.
    ///
    /// Also in octal are `!`, and `^` at the beginning of a line, in words of several lines and, if `followsLines`, in
    /// later words: an interactive bash before 5.0 expands its history in each line, even within quotes.
    static func quoted(_ bytes: some Collection<UInt8>, followsLines: Bool = false) -> [UInt8]? {
        var word = ShellWord.Writer()
        let pieces = MarkedText.pieces(of: Array(bytes))
        let isInLines = bytes.contains(0x0A)
        let hasLines = followsLines || isInLines
        var isFirst = false
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            let isMark = hasLines && (scalar == "!" || scalar == "^" && isFirst)
            isFirst = scalar == "\n"
            return !isMark && !VisibleText.isHidden(scalar) || scalar == "\n"
        }
        for piece in pieces {
            guard case .text(let bytes) = piece else {
                isFirst = false
                word.add(piece)
                continue
            }
            if bytes.contains(0) { return nil }
            guard let text = String(validating: bytes, as: UTF8.self) else {
                for byte in bytes { word.add([byte], isPlain: byte < 0x80 && isPlain(Unicode.Scalar(byte))) }
                continue
            }
            for scalar in text.unicodeScalars {
                word.add(UTF8.encode(scalar).map(Array.init) ?? [], isPlain: isPlain(scalar))
            }
        }
        // A shell accepts only some hundreds of command substitutions in a word.
        guard word.octalCount > mostOctal, !isInLines else { return word.bytes }
        return pieces.count <= mostPrinted ? printed(pieces) : nil
    }

    /// The words of a command that writes any bytes: `printf '…'`, with hidden characters in octal.
    static func printing(_ bytes: [UInt8]) -> [[UInt8]] {
        let lines = Format(bytes, escapesMarks: false).parts.map { Array("'".utf8) + $0 + Array("'".utf8) }
        return [Array("printf".utf8), Array(lines.joined(separator: Array("\\\n".utf8)))]
    }

    /// Bytes as one word with as few command substitutions as possible: one for each part of a text.
    private static func printed(_ pieces: [MarkedText.Piece]) -> [UInt8] {
        var word: [UInt8] = []
        var lineStart = 0
        for piece in pieces {
            var parts: [[UInt8]] = []
            switch piece {
            case .variable(let expansion): parts = [Array("\"\(expansion)\"".utf8)]
            case .text(let bytes):
                parts = Format(bytes, escapesMarks: true).parts.map {
                    Array("\"$(printf '".utf8) + $0 + Array("')\"".utf8)
                }
            }
            for part in parts {
                if !word.isEmpty, word.count + part.count - lineStart > longestLine {
                    word += Array("\\\n".utf8)
                    lineStart = word.count
                }
                word += part
            }
        }
        return word
    }

    private struct Format {
        private(set) var parts: [[UInt8]] = [[]]
        private let escapesMarks: Bool

        init(_ bytes: [UInt8], escapesMarks: Bool) {
            self.escapesMarks = escapesMarks
            if let text = String(validating: bytes, as: UTF8.self) {
                for scalar in text.unicodeScalars { add(scalar) }
            } else {
                for byte in bytes { if byte < 0x80 { add(Unicode.Scalar(byte)) } else { add(octal(byte)) } }
            }
        }

        mutating func add(_ unit: String) {
            if parts[parts.count - 1].count > longestLine { parts.append([]) }
            parts[parts.count - 1] += Array(unit.utf8)
        }

        private mutating func add(_ scalar: Unicode.Scalar) {
            switch scalar {
            case "%": add("%%")
            case "\\": add("\\\\")
            case "\n": add("\\n")
            case "\r": add("\\r")
            case "\t": add("\\t")
            case "!" where escapesMarks: add(octal(UInt8(ascii: "!")))
            // Some shells take a format that begins with a hyphen for an option.
            case "-" where parts[parts.count - 1].isEmpty || parts[parts.count - 1].count > longestLine, "'":
                add(octal(UInt8(ascii: scalar)))
            case _ where VisibleText.isHidden(scalar): add((UTF8.encode(scalar) ?? .init()).map(octal).joined())
            default: add(String(scalar))
            }
        }

        private func octal(_ byte: UInt8) -> String { "\\\(byte.padded(to: 3, radix: 8))" }
    }

    /// Joins words to a command, in lines that no terminal cuts: in canonical mode, which shells without a line editor
    /// use, a line has at most 4,095 bytes.
    static func command(_ words: [[UInt8]]) -> [UInt8] {
        var command: [UInt8] = []
        var lineStart = 0
        for word in words {
            let first = word.firstIndex(of: 0x0A) ?? word.count
            if command.isEmpty {
            } else if command.count - lineStart + first > 2 * longestLine {
                command += Array(" \\\n".utf8)
                lineStart = command.count
            } else {
                command.append(0x20)
            }
            command += word
            if let last = word.lastIndex(of: 0x0A) { lineStart = command.count - (word.count - last - 1) }
        }
        return command
    }

    /// After this many bytes, a word continues on a new line.
    private static let longestLine = 1_900

    /// In characters.
    private static let longestComment = 600
    private static let mostOctal = 50
    private static let mostPrinted = 400

    /// Whether bytes can be in a word unchanged. Tabs cannot, because a shell completes file names at a pasted tab.
    static func isPlainText(_ bytes: some Collection<UInt8>) -> Bool {
        guard let text = String(validating: bytes, as: UTF8.self) else { return false }
        if text.unicodeScalars.contains(where: { VisibleText.isHidden($0) && $0 != "\n" }) { return false }
        let hasMark = zip(bytes, bytes.dropFirst()).contains { $0 == 0x0A && $1 == UInt8(ascii: "^") }
        return !hasMark && !(bytes.contains(0x0A) && bytes.contains(UInt8(ascii: "!")))
    }

    /// A word of adjacent pieces: `'…'` is unchanged, `"$(printf '…')"` is in octal, `"$NAME"` is a secret.
    private struct Writer {
        private var word: [UInt8] = []
        /// The characters that close the open piece.
        private var closing = ""
        private var lineStart = 0
        private(set) var octalCount = 0

        var bytes: [UInt8] { word.isEmpty ? Array("''".utf8) : word + Array(closing.utf8) }

        mutating func add(_ bytes: [UInt8], isPlain: Bool) {
            let end = isPlain ? "'" : "')\""
            breakLine()
            if end != closing {
                close()
                word += (isPlain ? "'" : "\"$(printf '").utf8
                closing = end
                octalCount += isPlain ? 0 : 1
            }
            for byte in bytes {
                if !isPlain {
                    word += Array(("\\" + byte.padded(to: 3, radix: 8)).utf8)
                } else if byte == UInt8(ascii: "'") {
                    word += Array("'\\''".utf8)
                } else {
                    word.append(byte)
                    if byte == 0x0A { lineStart = word.count }
                }
            }
        }

        mutating func add(_ piece: MarkedText.Piece) {
            guard case .variable(let expansion) = piece else { return }
            close()
            breakLine()
            word += "\"\(expansion)\"".utf8
        }

        private mutating func breakLine() {
            guard word.count - lineStart > longestLine else { return }
            close()
            word += "\\\n".utf8
            lineStart = word.count
        }

        private mutating func close() {
            word += closing.utf8
            closing = ""
        }
    }
}

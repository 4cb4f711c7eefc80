package struct CurlReadError: Error, Equatable, CustomStringConvertible {
    package var description: String
    package var offset: Int

    init(_ description: String, at offset: Int = 0) {
        self.description = description
        self.offset = offset
    }

    static func unclosed(_ quote: String, at offset: Int) -> CurlReadError {
        let end = "is not closed; the command was not copied whole."
        return CurlReadError("The \(quote) at character \(offset + 1) \(end)", at: offset)
    }
}

/// One command of a line; `input` is the output of a `printf` before a `|`.
struct ShellCommand: Equatable {
    static let othersFollow = "the commands after the first one"
    static let cutAtAmpersand = "what follows an '&' that is not in quotes"

    var words: [[UInt8]] = []
    var input: [UInt8]?
    var remarks: [String] = []
    var end = 0
}

/// Reads the first command of a POSIX shell's line like bash: quotes, `$'…'`, `\`, comments, and `$(printf '…')`, which
/// ``ShellWord`` uses for bytes that quotes cannot contain. Other expansions stay unchanged. Runs nothing.
struct ShellReader {
    private static let longestExpansion = 4_096
    private static let backslash = UInt8(ascii: "\\")

    private var rest: ArraySlice<UInt8>
    private var command = ShellCommand()
    private var word: [UInt8]?

    private init(_ rest: ArraySlice<UInt8>) { self.rest = rest }

    static func command(_ bytes: [UInt8], from start: Int = 0) throws(CurlReadError) -> ShellCommand {
        var reader = ShellReader(bytes[start...])
        var command = try reader.read()
        command.end = reader.rest.startIndex
        return command
    }

    private mutating func add(_ byte: UInt8) { add(CollectionOfOne(byte)) }

    private mutating func add(_ bytes: some Collection<UInt8>) {
        if word == nil { word = [] }
        word?.append(contentsOf: bytes)
    }

    private mutating func endWord() {
        if let word { command.words.append(word) }
        word = nil
    }

    private mutating func remark(_ text: String) {
        if !command.remarks.contains(text) { command.remarks.append(text) }
    }

    private mutating func read() throws(CurlReadError) -> ShellCommand {
        while let byte = rest.popFirst() {
            switch Unicode.Scalar(byte) {
            case " ", "\t", "\r": endWord()
            case "#" where word == nil: rest = rest.drop { $0 != 0x0A }
            case "\n", ";", "&":
                let isURLCut =
                    byte == UInt8(ascii: "&") && word != nil && rest.first.map { $0 > 0x20 && $0 != byte } ?? false
                endWord()
                if command.words.isEmpty { continue }
                if isURLCut { remark(ShellCommand.cutAtAmpersand) }
                if rest.contains(where: { $0 > 0x20 && !"&;".utf8.contains($0) }) { remark(ShellCommand.othersFollow) }
                return command
            case "|":
                endWord()
                guard let input = ShellReader.printf(command.words) else {
                    remark("the commands after '|'")
                    return command
                }
                command = ShellCommand(input: input, remarks: command.remarks)
            case "<", ">":
                // A number before `<` or `>` is a file descriptor.
                if let name = word, name.allSatisfy({ $0 &- 0x30 < 10 }) { word = nil } else { endWord() }
                try skipRedirection()
            default: try piece(byte)
            }
        }
        endWord()
        return command
    }

    private mutating func skipRedirection() throws(CurlReadError) {
        remark("what the shell redirects")
        rest = rest.drop { $0 <= 0x20 || "<>&".utf8.contains($0) }
        while let byte = rest.first, byte > 0x20, !";|".utf8.contains(byte) {
            rest.removeFirst()
            try piece(byte)
        }
        word = nil
    }

    private mutating func piece(_ byte: UInt8) throws(CurlReadError) {
        switch Unicode.Scalar(byte) {
        case "'": try singleQuoted()
        case "\"": try doubleQuoted()
        case "$" where rest.first == UInt8(ascii: "'"):
            rest.removeFirst()
            try escapedQuoted()
        case "$" where rest.first == UInt8(ascii: "\""):
            rest.removeFirst()
            try doubleQuoted()
        case "$", "`": try expansion(byte)
        case "\\":
            guard let escaped = rest.popFirst() else { return add(byte) }
            if escaped == 0x0D, rest.first == 0x0A {
                rest.removeFirst()
            } else if escaped != 0x0A {
                add(escaped)
            }
        default: add(byte)
        }
    }

    private mutating func singleQuoted() throws(CurlReadError) {
        let start = rest.startIndex - 1
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")) else { throw .unclosed("'", at: start) }
        add(rest[..<end])
        rest = rest[(end + 1)...]
    }

    private mutating func doubleQuoted() throws(CurlReadError) {
        let start = rest.startIndex - 1
        word = word ?? []
        while let byte = rest.popFirst() {
            switch Unicode.Scalar(byte) {
            case "\"": return
            case "\\":
                guard let escaped = rest.popFirst() else { break }
                if escaped == 0x0A { continue }
                if !"\"\\$`".utf8.contains(escaped) { add(byte) }
                add(escaped)
            case "$", "`": try expansion(byte)
            default: add(byte)
            }
        }
        throw .unclosed("\"", at: start)
    }

    /// Keeps an expansion unchanged, up to its parenthesis; `$(printf '…')` becomes the bytes that `printf` writes.
    private mutating func expansion(_ byte: UInt8) throws(CurlReadError) {
        let isDollar = byte == UInt8(ascii: "$")
        if isDollar, rest.starts(with: "(printf '".utf8) { return try printed() }
        let begins = rest.first.map { "({_".utf8.contains($0) || ($0 | 0x20) &- 0x61 < 26 } ?? false
        if begins || !isDollar { remark("shell expansions, which stay as they are") }
        add(byte)
        guard isDollar, rest.first == UInt8(ascii: "(") else { return }
        var depth = 0
        for index in rest.indices.prefix(ShellReader.longestExpansion) {
            if rest[index] == UInt8(ascii: "(") { depth += 1 }
            if rest[index] == UInt8(ascii: ")") { depth -= 1 }
            guard depth == 0 else { continue }
            add(rest[...index])
            rest = rest[(index + 1)...]
            return
        }
    }

    private mutating func printed() throws(CurlReadError) {
        let start = rest.startIndex - 1
        rest = rest.dropFirst("(printf '".utf8.count)
        guard let end = rest.firstIndex(of: UInt8(ascii: "'")), rest[end...].starts(with: "')".utf8) else {
            throw .unclosed("$(", at: start)
        }
        var made = ShellReader.formatted(rest[..<end])
        // A shell removes line feeds at the end of a command's output.
        while made.last == 0x0A { made.removeLast() }
        add(made)
        rest = rest[(end + 2)...]
    }

    /// `$'…'` (bash, zsh, POSIX.1-2024).
    private mutating func escapedQuoted() throws(CurlReadError) {
        let start = rest.startIndex - 2
        word = word ?? []
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "'") { return }
            if byte == ShellReader.backslash { add(ShellReader.escaped(&rest, isFormat: false)) } else { add(byte) }
        }
        throw .unclosed("$'", at: start)
    }

    /// The bytes that `printf FORMAT` writes; `nil` for other commands.
    private static func printf(_ words: [[UInt8]]) -> [UInt8]? {
        guard words.count == 2, words[0].elementsEqual("printf".utf8) else { return nil }
        return formatted(words[1][...])
    }

    /// A format of `printf`: escapes, and `%%`.
    private static func formatted(_ format: ArraySlice<UInt8>) -> [UInt8] {
        var made: [UInt8] = []
        var rest = format
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.first == byte { rest.removeFirst() }
            made += byte == backslash ? escaped(&rest, isFormat: true) : [byte]
        }
        return made
    }

    /// Reads an escape after its backslash. `printf` formats have letters and octal digits; `$'…'` has more escapes.
    private static func escaped(_ rest: inout ArraySlice<UInt8>, isFormat: Bool) -> [UInt8] {
        guard let escape = rest.first else { return [backslash] }
        if escape &- 0x30 < 8 { return [UInt8(truncatingIfNeeded: number(&rest, radix: 8, most: 3))] }
        rest.removeFirst()
        if let plain = escapes[Unicode.Scalar(escape)] { return [plain] }
        switch Unicode.Scalar(escape) {
        case "\\": return [escape]
        case _ where isFormat: return [backslash, escape]
        case "x": return [UInt8(truncatingIfNeeded: number(&rest, radix: 16, most: 2))]
        case "u": return scalar(&rest, most: 4)
        case "U": return scalar(&rest, most: 8)
        case "c": return rest.popFirst().map { [$0 & 0x1F] } ?? []
        case "'", "\"", "?": return [escape]
        default: return [backslash, escape]
        }
    }

    private static let escapes: [Unicode.Scalar: UInt8] = [
        "n": 0x0A, "r": 0x0D, "t": 0x09, "a": 0x07, "b": 0x08, "f": 0x0C, "v": 0x0B, "e": 0x1B, "E": 0x1B,
    ]

    private static func number(_ rest: inout ArraySlice<UInt8>, radix: Int, most: Int) -> UInt32 {
        let digits = rest.prefix(most).prefix {
            Character(Unicode.Scalar($0)).hexDigitValue.map { $0 < radix } ?? false
        }
        rest = rest.dropFirst(digits.count)
        return UInt32(String(decoding: digits, as: UTF8.self), radix: radix) ?? 0
    }

    /// Browsers write characters above U+FFFF as two surrogates.
    private static func scalar(_ rest: inout ArraySlice<UInt8>, most: Int) -> [UInt8] {
        var value = number(&rest, radix: 16, most: most)
        if (0xD800..<0xDC00).contains(value), rest.starts(with: "\\u".utf8) {
            var after = rest.dropFirst(2)
            let low = number(&after, radix: 16, most: 4)
            if (0xDC00..<0xE000).contains(low) {
                (value, rest) = (0x10000 + (value - 0xD800) << 10 + (low - 0xDC00), after)
            }
        }
        return Array(String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
    }
}

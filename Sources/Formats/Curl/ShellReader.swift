/// Why a command line cannot be read.
package struct CurlReadError: Error, Equatable, CustomStringConvertible {
    /// What is wrong, where, and what to try.
    package var description: String
    /// How many bytes stand before the place.
    package var offset: Int

    init(_ description: String, at offset: Int = 0) {
        self.description = description
        self.offset = offset
    }
}

/// One command of a line, with what a `printf` before a `|` hands to it.
struct ShellCommand: Equatable {
    /// The remark about commands that follow it.
    static let othersFollow = "the commands after the first one"
    /// The remark about a URL that was not copied with its quotes.
    static let cutAtAmpersand = "what follows an '&' that is not in quotes"

    var words: [[UInt8]] = []
    var input: [UInt8]?
    /// What was not taken over, in words.
    var remarks: [String] = []
    /// Where what follows it begins.
    var end = 0
}

/// Reads the first command of a POSIX shell's line like bash: quotes, `$'…'`, `\`, comments, and `$(printf '…')`, with which
/// ``ShellWord`` writes bytes that no quotes can carry. Other expansions stay as they are. Runs nothing.
struct ShellReader {
    private let bytes: [UInt8]
    private var place = 0
    private var command = ShellCommand()
    private var word: [UInt8]?
    private init(_ bytes: [UInt8], from start: Int) { (self.bytes, place) = (bytes, start) }

    /// Reads the first command from a place on.
    static func command(_ bytes: [UInt8], from start: Int = 0) throws(CurlReadError) -> ShellCommand {
        var reader = ShellReader(bytes, from: start)
        var command = try reader.read()
        command.end = reader.place
        return command
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private func hasPrefix(_ text: String) -> Bool { bytes[place...].starts(with: text.utf8) }

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
        while let byte = next {
            place += 1
            switch byte {
            case 0x20, 0x09, 0x0D: endWord()
            case UInt8(ascii: "#") where word == nil: while let byte = next, byte != 0x0A { place += 1 }
            case 0x0A, UInt8(ascii: ";"), UInt8(ascii: "&"):
                let isInWord = byte == UInt8(ascii: "&") && word != nil && next.map { $0 > 0x20 && $0 != byte } ?? false
                endWord()
                if command.words.isEmpty { continue }
                if isInWord { remark(ShellCommand.cutAtAmpersand) }
                if bytes[place...].contains(where: { $0 > 0x20 && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: ";") })
                {
                    remark(ShellCommand.othersFollow)
                }
                return command
            case UInt8(ascii: "|"):
                endWord()
                guard let input = ShellReader.printf(command.words) else {
                    remark("the commands after '|'")
                    return command
                }
                command = ShellCommand(input: input, remarks: command.remarks)
            case UInt8(ascii: "<"), UInt8(ascii: ">"):
                // A number before it names a stream.
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
        let kept = command.words
        while let byte = next, byte <= 0x20 || "<>&".utf8.contains(byte) { place += 1 }
        while let byte = next, byte > 0x20, !";|".utf8.contains(byte) {
            place += 1
            try piece(byte)
        }
        (word, command.words) = (nil, kept)
    }

    /// Reads on in a word, after this byte of it.
    private mutating func piece(_ byte: UInt8) throws(CurlReadError) {
        switch byte {
        case UInt8(ascii: "'"): try singleQuoted()
        case UInt8(ascii: "\""): try doubleQuoted()
        case UInt8(ascii: "$") where next == UInt8(ascii: "'"):
            place += 1
            try escapedQuoted()
        case UInt8(ascii: "$") where next == UInt8(ascii: "\""):
            place += 1
            try doubleQuoted()
        case UInt8(ascii: "$"), UInt8(ascii: "`"): try expansion(byte)
        case UInt8(ascii: "\\"):
            guard let escaped = next else { return add(byte) }
            place += 1
            if escaped == 0x0D, next == 0x0A {
                place += 1
            } else if escaped != 0x0A {
                add(escaped)
            }
        default: add(byte)
        }
    }

    private mutating func singleQuoted() throws(CurlReadError) {
        let start = place - 1
        guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "'")) else { throw unclosed("'", start) }
        add(bytes[place..<end])
        place = end + 1
    }

    private mutating func doubleQuoted() throws(CurlReadError) {
        let start = place - 1
        word = word ?? []
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return
            case UInt8(ascii: "\\"):
                guard let escaped = next else { break }
                place += 1
                if escaped == 0x0A { continue }
                if !"\"\\$`".utf8.contains(escaped) { add(byte) }
                add(escaped)
            case UInt8(ascii: "$"), UInt8(ascii: "`"): try expansion(byte)
            default: add(byte)
            }
        }
        throw unclosed("\"", start)
    }

    /// Keeps an expansion as it is, up to its parenthesis; of `$(printf '…')` takes the bytes that it writes.
    private mutating func expansion(_ byte: UInt8) throws(CurlReadError) {
        if byte == UInt8(ascii: "$"), hasPrefix("(printf '") { return try printed() }
        let begins = next.map { "({_".utf8.contains($0) || ShellReader.isLetter($0) } ?? false
        if begins || byte == UInt8(ascii: "`") { remark("shell expansions, which stay as they are") }
        add(byte)
        guard byte == UInt8(ascii: "$"), next == UInt8(ascii: "(") else { return }
        var depth = 0
        for (offset, byte) in bytes[place...].prefix(ShellReader.longestExpansion).enumerated() {
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            guard depth == 0 else { continue }
            add(bytes[place...(place + offset)])
            place += offset + 1
            return
        }
    }

    private static let longestExpansion = 4_096

    private mutating func printed() throws(CurlReadError) {
        let start = place - 1
        place += "(printf '".utf8.count
        guard let end = bytes[place...].firstIndex(of: UInt8(ascii: "'")), end + 1 < bytes.count,
            bytes[end + 1] == UInt8(ascii: ")")
        else { throw unclosed("$(", start) }
        var made = ShellReader.formatted(bytes[place..<end])
        // A shell drops the line feeds at the end.
        while made.last == 0x0A { made.removeLast() }
        add(made)
        place = end + 2
    }

    private func unclosed(_ quote: String, _ start: Int) -> CurlReadError {
        CurlReadError(
            "The \(quote) at character \(start + 1) is not closed; the command was not copied whole.",
            at: start
        )
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    // MARK: Escapes

    /// `$'…'` (bash, zsh, POSIX.1-2024).
    private mutating func escapedQuoted() throws(CurlReadError) {
        let start = place - 2
        word = word ?? []
        while let byte = next {
            place += 1
            if byte == UInt8(ascii: "'") { return }
            guard byte == UInt8(ascii: "\\"), let escape = next else {
                add(byte)
                continue
            }
            place += 1
            switch escape {
            case UInt8(ascii: "x"): number(radix: 16, most: 2, isScalar: false)
            case UInt8(ascii: "u"): number(radix: 16, most: 4, isScalar: true)
            case UInt8(ascii: "U"): number(radix: 16, most: 8, isScalar: true)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                place -= 1
                number(radix: 8, most: 3, isScalar: false)
            case UInt8(ascii: "c"):
                guard let letter = next else { continue }
                place += 1
                add(letter & 0x1F)
            default:
                if let plain = ShellReader.escapes[escape] {
                    add(plain)
                } else {
                    if !"'\"?\\".utf8.contains(escape) { add(byte) }
                    add(escape)
                }
            }
        }
        throw unclosed("$'", start)
    }

    private mutating func number(radix: Int, most: Int, isScalar: Bool) {
        let digits = bytes[place...].prefix(most).prefix {
            Character(Unicode.Scalar($0)).hexDigitValue.map { $0 < radix } ?? false
        }
        place += digits.count
        let value = UInt32(String(decoding: digits, as: UTF8.self), radix: radix) ?? 0
        guard isScalar else { return add(UInt8(truncatingIfNeeded: value)) }
        if (0xD800..<0xDC00).contains(value), let low = lowSurrogate() {
            return append(Unicode.Scalar(0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)))
        }
        append(Unicode.Scalar(value))
    }

    /// The second half of a pair, as browsers write what is above U+FFFF.
    private mutating func lowSurrogate() -> UInt32? {
        guard hasPrefix("\\u"),
            let low = UInt32(String(decoding: bytes[(place + 2)...].prefix(4), as: UTF8.self), radix: 16),
            (0xDC00..<0xE000).contains(low)
        else { return nil }
        place += 6
        return low
    }

    private mutating func append(_ scalar: Unicode.Scalar?) { add(Array(String(scalar ?? "\u{FFFD}").utf8)) }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "a"): 0x07,
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "e"): 0x1B,
        UInt8(ascii: "E"): 0x1B,
    ]

    /// The bytes that `printf FORMAT` writes; `nil` for another command.
    private static func printf(_ words: [[UInt8]]) -> [UInt8]? {
        guard words.count == 2, words[0].elementsEqual("printf".utf8) else { return nil }
        return formatted(words[1][...])
    }

    /// A format of `printf`: `\` and digits in octal, letters as in `$'…'`, and `%%`.
    private static func formatted(_ format: ArraySlice<UInt8>) -> [UInt8] {
        var made: [UInt8] = []
        var rest = format
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.first == byte { rest.removeFirst() }
            guard byte == UInt8(ascii: "\\"), let escape = rest.first else {
                made.append(byte)
                continue
            }
            let digits = rest.prefix(3).prefix { $0 &- 0x30 < 8 }
            if !digits.isEmpty {
                rest.removeFirst(digits.count)
                made.append(UInt8(truncatingIfNeeded: Int(String(decoding: digits, as: UTF8.self), radix: 8) ?? 0))
            } else {
                rest.removeFirst()
                if let plain = escapes[escape] {
                    made.append(plain)
                } else {
                    made += escape == UInt8(ascii: "\\") ? [escape] : [byte, escape]
                }
            }
        }
        return made
    }
}

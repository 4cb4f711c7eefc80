/// Reads a command for `cmd.exe` ("Copy as cURL (cmd)"): first `^`, then quotes and backslashes like Microsoft's C.
enum PromptReader {
    /// A quote in a word of older versions of Chrome, which escape with `^` even between quotes.
    private static let oldChromeQuote = Array("^\\^\"".utf8)
    private static let longestLine = 64 * 1024

    /// Whether a text was written for `cmd.exe` rather than a POSIX shell.
    static func isWritten(_ text: [UInt8]) -> Bool {
        var isQuoted = false
        for index in text.indices.dropLast() {
            let (byte, after) = (text[index], text[index + 1])
            let isAtWord = index == 0 || text[index - 1] <= 0x20
            // In one line, only this quote shows older versions of Chrome: `"^{^\^"name^\^"…"`.
            if isQuoted, text[index...].starts(with: oldChromeQuote) { return true }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if byte == UInt8(ascii: "^"), after == 0x0A || after == 0x0D || isAtWord && after == UInt8(ascii: "\"") {
                return true
            }
            if isAtWord, byte == UInt8(ascii: "'") || byte == UInt8(ascii: "$") && after == UInt8(ascii: "'") {
                return false
            }
            if byte == UInt8(ascii: "\\"), after == 0x0A || after == 0x0D { return false }
        }
        return false
    }

    static func command(_ bytes: [UInt8], from start: Int = 0) throws(CurlReadError) -> ShellCommand {
        var command = ShellCommand()
        let line = unescaped(bytes, from: start, &command)
        try split(line, into: &command)
        return command
    }

    /// Undoes `^` up to the end of the command.
    private static func unescaped(_ bytes: [UInt8], from start: Int, _ command: inout ShellCommand) -> [UInt8] {
        var line: [UInt8] = []
        var isQuoted = false
        var rest = bytes[start...]
        defer { command.end = rest.startIndex }
        let firstLine = rest.prefix(longestLine).prefix { $0 != 0x0A }
        let isOldChrome = firstLine.firstRange(of: oldChromeQuote) != nil
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "^"), !isQuoted || isOldChrome {
                if rest.first == 0x0D { rest.removeFirst() }
                if rest.first == 0x0A {
                    rest.removeFirst()
                    // `^` also escapes the next line feed, which is then a part of the command.
                    if rest.first == 0x0D { rest.removeFirst() }
                    if rest.first == 0x0A { line.append(rest.removeFirst()) }
                } else if let escaped = rest.popFirst() {
                    line.append(escaped)
                }
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, "&|\n".utf8.contains(byte) {
                // Skips the blanks after the command, so that they are not searched again and again.
                rest = rest.drop { $0 <= 0x20 || $0 == byte }
                if !rest.isEmpty { command.remarks.append(ShellCommand.othersFollow) }
                return line
            }
            line.append(byte)
        }
        return line
    }

    private static func split(_ line: [UInt8], into command: inout ShellCommand) throws(CurlReadError) {
        var word: [UInt8]?
        func add(_ bytes: some Collection<UInt8>) {
            if word == nil { word = [] }
            word?.append(contentsOf: bytes)
        }
        /// The position after the open quote.
        var quote: Int?
        var rest = line[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\") {
                let run = 1 + rest.prefix { $0 == byte }.count
                rest = rest.dropFirst(run - 1)
                let isBeforeQuote = rest.first == UInt8(ascii: "\"")
                add(repeatElement(byte, count: isBeforeQuote ? run / 2 : run))
                if isBeforeQuote, run % 2 == 1 { add(CollectionOfOne(rest.removeFirst())) }
            } else if byte == UInt8(ascii: "\"") {
                add([])
                if quote != nil, rest.first == byte {
                    add(CollectionOfOne(rest.removeFirst()))
                } else {
                    quote = quote == nil ? rest.startIndex : nil
                }
            } else if quote == nil, " \t\r".utf8.contains(byte) {
                if let word { command.words.append(word) }
                word = nil
            } else {
                add(CollectionOfOne(byte))
            }
        }
        if let quote { throw .unclosed("\"", at: quote - 1) }
        if let word { command.words.append(word) }
    }
}

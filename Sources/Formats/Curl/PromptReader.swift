/// Reads the first command of a line for Windows' `cmd.exe`, as browsers write it with "Copy as cURL (cmd)": first `^`,
/// then the quotes and backslashes of Microsoft's C runtime.
enum PromptReader {
    /// A quote in a word of older versions of Chrome, which escape everything with `^`, also between quotes.
    private static let oldChromeQuote = Array("^\\^\"".utf8)
    private static let longestLine = 64 * 1024

    /// Whether a text was written for `cmd.exe` rather than a POSIX shell.
    static func isWritten(_ text: [UInt8]) -> Bool {
        var isQuoted = false
        for index in text.indices.dropLast() {
            let (byte, after) = (text[index], text[index + 1])
            let isAtWord = index == 0 || text[index - 1] <= 0x20
            // Older versions of Chrome have no other sign of it in one line: `"^{^\^"name^\^"…"`.
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

    /// Reads the first command from a place on.
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
        let isOldChrome = firstLine.contains(sequence: oldChromeQuote)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "^"), !isQuoted || isOldChrome {
                if rest.first == 0x0D { rest.removeFirst() }
                if rest.first == 0x0A {
                    rest.removeFirst()
                    // A line feed after it is escaped too, and so a part of the command.
                    if rest.first == 0x0D { rest.removeFirst() }
                    if rest.first == 0x0A { line.append(rest.removeFirst()) }
                } else if let escaped = rest.popFirst() {
                    line.append(escaped)
                }
                continue
            }
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted, byte == UInt8(ascii: "&") || byte == UInt8(ascii: "|") || byte == 0x0A {
                // What is empty behind it is passed over with it, so that it is not looked through again and again.
                rest = rest.drop { $0 <= 0x20 || $0 == byte }
                if !rest.isEmpty {
                    command.remarks.append(ShellCommand.othersFollow)
                }
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
        var quote: Int?
        var index = 0
        while index < line.count {
            let byte = line[index]
            if byte == UInt8(ascii: "\\") {
                let run = line[index...].prefix { $0 == byte }.count
                let isBeforeQuote = index + run < line.count && line[index + run] == UInt8(ascii: "\"")
                add(repeatElement(byte, count: isBeforeQuote ? run / 2 : run))
                index += run
                if isBeforeQuote, run % 2 == 1 {
                    add(CollectionOfOne(UInt8(ascii: "\"")))
                    index += 1
                }
                continue
            }
            index += 1
            if byte == UInt8(ascii: "\"") {
                add([])
                if quote != nil, index < line.count, line[index] == byte {
                    add(CollectionOfOne(byte))
                    index += 1
                } else {
                    quote = quote == nil ? index : nil
                }
            } else if quote == nil, byte == 0x20 || byte == 0x09 || byte == 0x0D {
                if let word { command.words.append(word) }
                word = nil
            } else {
                add(CollectionOfOne(byte))
            }
        }
        if let quote {
            throw CurlReadError(
                "The \" at character \(quote) is not closed; the command was not copied whole.",
                at: quote - 1
            )
        }
        if let word { command.words.append(word) }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: sequence) }
    }
}

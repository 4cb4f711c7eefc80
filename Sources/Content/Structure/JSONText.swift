/// Where and why a text is not JSON.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    /// The offset of the offending byte.
    package var offset: Int
    /// Its line, from 1.
    package var line: Int
    /// Its column in bytes, from 1.
    package var column: Int
    /// What is wrong, in a few words.
    package var message: String

    /// One sentence, for example `line 3, column 7: a value is missing`.
    package var description: String { "line \(line), column \(column): \(message)" }
}

/// Lays JSON out for reading, without reading it into values.
///
/// Numbers and strings keep their spelling, members their order, duplicates stay: what is shown is what was sent.
package struct JSONText {
    /// Lays out JSON in UTF-8 with one member or element a line.
    ///
    /// - Parameters:
    ///   - bytes: the JSON text; a byte order mark is skipped.
    ///   - indent: spaces a level.
    ///   - nestingLimit: how deep arrays and objects may be nested.
    ///   - outputLimit: how many bytes the laid-out text may have.
    /// - Returns: the text laid out.
    /// - Throws: `JSONSyntaxError` where the bytes are not JSON (RFC 8259) or a limit is reached.
    package static func pretty(
        _ bytes: some Collection<UInt8>,
        indent: Int = 2,
        nestingLimit: Int = 256,
        outputLimit: Int = 64 << 20
    ) throws(JSONSyntaxError) -> String {
        var layout = JSONText(Array(bytes), indent: indent, nestingLimit: nestingLimit, outputLimit: outputLimit)
        try layout.document()
        return String(decoding: layout.output, as: UTF8.self)
    }

    private let input: [UInt8]
    private let indent: Int
    private let nestingLimit: Int
    private let outputLimit: Int
    private var output: [UInt8] = []
    private var position = 0
    /// The brackets that close what is open.
    private var closers: [UInt8] = []

    private init(_ input: [UInt8], indent: Int, nestingLimit: Int, outputLimit: Int) {
        self.input = input
        self.indent = max(indent, 0)
        self.nestingLimit = nestingLimit
        self.outputLimit = outputLimit
        output.reserveCapacity(min(input.count * 2, outputLimit))
    }

    private mutating func document() throws(JSONSyntaxError) {
        if input.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
        skipSpace()
        try value()
        while let closer = closers.last {
            guard output.count <= outputLimit else { throw error("laid out, it is longer than \(outputLimit) bytes") }
            skipSpace()
            switch peek {
            case UInt8(ascii: ","):
                take()
                newLine()
                skipSpace()
                try member(closer)
            case closer:
                closers.removeLast()
                newLine()
                take()
            default:
                throw error(closer == UInt8(ascii: "]") ? "',' or ']' is missing" : "',' or '}' is missing")
            }
        }
        skipSpace()
        if position < input.count { throw error("something follows the end of the JSON text") }
    }

    private mutating func member(_ closer: UInt8) throws(JSONSyntaxError) {
        if closer == UInt8(ascii: "}") {
            guard peek == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
            try string()
            skipSpace()
            guard peek == UInt8(ascii: ":") else { throw error("':' is missing") }
            take()
            output.append(UInt8(ascii: " "))
            skipSpace()
        }
        try value()
    }

    /// Reads a value; of a non-empty array or object only its beginning, up to its first scalar.
    private mutating func value() throws(JSONSyntaxError) {
        while true {
            switch peek {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let closer = peek == UInt8(ascii: "{") ? UInt8(ascii: "}") : UInt8(ascii: "]")
                guard closers.count < nestingLimit else { throw error("nested deeper than \(nestingLimit) levels") }
                take()
                skipSpace()
                if peek == closer { return take() }
                closers.append(closer)
                newLine()
                guard closer == UInt8(ascii: "]") else { return try member(closer) }
            case UInt8(ascii: "\""): return try string()
            case .some(let byte) where byte == UInt8(ascii: "-") || byte &- 0x30 < 10: return try number()
            case UInt8(ascii: "t"): return try literal("true")
            case UInt8(ascii: "f"): return try literal("false")
            case UInt8(ascii: "n"): return try literal("null")
            default: throw error("a value is missing")
            }
        }
    }

    private mutating func string() throws(JSONSyntaxError) {
        take()
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""): return take()
            case UInt8(ascii: "\\"):
                take()
                guard let escaped = peek, "\"\\/bfnrtu".utf8.contains(escaped) else { throw error("no such escape") }
                take()
                guard escaped == UInt8(ascii: "u") else { continue }
                for _ in 0..<4 {
                    guard let digit = peek, JSONText.isHexDigit(digit) else {
                        throw error("four hexadecimal digits must follow \\u")
                    }
                    take()
                }
            case 0..<0x20: throw error("a control character must be escaped")
            default: take()
            }
        }
        throw error("the string does not end")
    }

    private mutating func number() throws(JSONSyntaxError) {
        if peek == UInt8(ascii: "-") { take() }
        if peek == UInt8(ascii: "0") {
            take()
        } else {
            try digits()
        }
        if peek == UInt8(ascii: ".") {
            take()
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            take()
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { take() }
            try digits()
        }
    }

    private mutating func digits() throws(JSONSyntaxError) {
        guard let first = peek, first &- 0x30 < 10 else { throw error("a digit is missing") }
        while let digit = peek, digit &- 0x30 < 10 { take() }
    }

    private mutating func literal(_ text: String) throws(JSONSyntaxError) {
        for byte in text.utf8 {
            guard peek == byte else { throw error("'\(text)' was expected") }
            take()
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6
    }

    private var peek: UInt8? { position < input.count ? input[position] : nil }

    private mutating func take() {
        output.append(input[position])
        position += 1
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private mutating func newLine() {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * closers.count))
    }

    private func error(_ message: String) -> JSONSyntaxError {
        let before = input[..<position]
        let line = before.count { $0 == 0x0A } + 1
        let column = position - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return JSONSyntaxError(offset: position, line: line, column: column, message: message)
    }
}

package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
    package var offset: Int
    /// From 1.
    package var line: Int
    /// In bytes from 1.
    package var column: Int
    package var message: String

    /// One sentence, for example `line 3, column 7: a value is missing`.
    package var description: String { "line \(line), column \(column): \(message)" }
}

package struct JSONToken: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable {
        case objectBegin, objectEnd, arrayBegin, arrayEnd
        /// With quotes.
        case name
        /// With quotes.
        case string
        case number
        /// `true`, `false` or `null`.
        case literal
    }

    package var kind: Kind
    /// In the reader's ``JSONTokenReader/bytes``.
    package var range: Range<Int>

    package init(_ kind: Kind, _ range: Range<Int>) {
        self.kind = kind
        self.range = range
    }
}

/// Reads JSON (RFC 8259) token by token, without recursion. Numbers and strings keep their spelling, members their
/// order and duplicates. If the text comes in pieces, only one piece and one token are in memory.
package struct JSONTokenReader {
    private enum Expected {
        case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, nothing
    }

    /// The text, or the part in memory.
    package private(set) var bytes: [UInt8]
    /// The position in ``bytes``.
    package private(set) var position = 0
    private let nestingLimit: Int
    /// The deepest nesting of a skipped value, which needs only one byte of memory per level.
    private static let skippedNestingLimit = 1 << 20
    private var isSkipping = false
    private let tokenLimit: Int
    private let refill: (() throws -> [UInt8])?
    private var isAtEnd = false
    /// The position in the whole text of the first byte in memory.
    private var (offset, line, column) = (0, 1, 1)
    /// The start of the current token.
    private var start = 0
    private var expected = Expected.value
    /// For each open bracket, whether it is an object's.
    private var open: [Bool] = []

    /// Prepares to read a UTF-8 text; a byte order mark is skipped.
    package init(_ bytes: [UInt8], nestingLimit: Int = 256) {
        self.bytes = bytes
        self.nestingLimit = nestingLimit
        tokenLimit = .max
        refill = nil
        isAtEnd = true
    }

    /// Prepares to read a text that comes in pieces; an empty piece means the end. Keeps at most `tokenLimit` bytes of
    /// a token. An error of `refill` becomes the message of a `JSONSyntaxError`.
    package init(nestingLimit: Int = 256, tokenLimit: Int, refill: @escaping () throws -> [UInt8]) {
        bytes = []
        self.nestingLimit = nestingLimit
        self.tokenLimit = tokenLimit
        self.refill = refill
    }

    package var depth: Int { open.count }

    /// Reads the next token; `nil` at the end of the text. Throws if the bytes are not JSON, or nested too deep.
    package mutating func next() throws(JSONSyntaxError) -> JSONToken? {
        try skipSpace()
        if expected == .colon {
            guard try peek() == UInt8(ascii: ":") else { throw error("':' is missing") }
            position += 1
            expected = .value
            try skipSpace()
        } else if expected == .commaOrEnd, try peek() == UInt8(ascii: ",") {
            position += 1
            expected = open.last == true ? .name : .value
            try skipSpace()
        }
        guard let byte = try peek() else {
            if expected == .nothing { return nil }
            throw error("the text ends too early")
        }
        switch expected {
        case .nothing: throw error("there is text after the end of the JSON")
        case .commaOrEnd:
            let isObject = open.last == true
            guard byte == UInt8(ascii: isObject ? "}" : "]") else {
                throw error(isObject ? "',' or '}' is missing" : "',' or ']' is missing")
            }
            return close()
        case .name, .nameOrEnd:
            if byte == UInt8(ascii: "}"), expected == .nameOrEnd { return close() }
            guard byte == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
            try string()
            expected = .colon
            return token(.name)
        case .value, .valueOrEnd, .colon:
            if byte == UInt8(ascii: "]"), expected == .valueOrEnd { return close() }
            return try value(byte)
        }
    }

    /// Skips the rest of the value whose first token was just read; a skipped value may be nested deeper than others.
    package mutating func skip(_ first: JSONToken) throws(JSONSyntaxError) {
        guard first.kind == .objectBegin || first.kind == .arrayBegin else { return }
        isSkipping = true
        defer { isSkipping = false }
        let outside = depth - 1
        while depth > outside { _ = try next() }
    }

    package func text(_ token: JSONToken) -> String {
        String(decoding: bytes[token.range], as: UTF8.self)
    }

    /// The text of a name or string: without quotes, with its escapes decoded.
    package func string(_ token: JSONToken) -> String { JSONTree.unescaped(bytes[token.range]) }

    /// An error at the current position.
    package func error(_ message: String) -> JSONSyntaxError {
        let (line, column) = place(position)
        return JSONSyntaxError(offset: offset + position, line: line, column: column, message: message)
    }

    private func place(_ position: Int) -> (line: Int, column: Int) {
        let before = bytes[..<position]
        guard let last = before.lastIndex(of: 0x0A) else { return (line, column + position) }
        return (line + before.count { $0 == 0x0A }, position - last)
    }

    // MARK: Tokens

    private func token(_ kind: JSONToken.Kind) -> JSONToken {
        JSONToken(kind, start..<(position - start > tokenLimit ? start + tokenLimit : position))
    }

    private mutating func close() -> JSONToken {
        let isObject = open.popLast() == true
        position += 1
        expected = open.isEmpty ? .nothing : .commaOrEnd
        return token(isObject ? .objectEnd : .arrayEnd)
    }

    private mutating func value(_ byte: UInt8) throws(JSONSyntaxError) -> JSONToken {
        let kind: JSONToken.Kind
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let limit = isSkipping ? max(nestingLimit, JSONTokenReader.skippedNestingLimit) : nestingLimit
            guard open.count < limit else { throw error("nested deeper than \(limit) levels") }
            let isObject = byte == UInt8(ascii: "{")
            open.append(isObject)
            position += 1
            expected = isObject ? .nameOrEnd : .valueOrEnd
            return token(isObject ? .objectBegin : .arrayBegin)
        case UInt8(ascii: "\""):
            try string()
            kind = .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number()
            kind = .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            try literal(byte == UInt8(ascii: "t") ? "true" : byte == UInt8(ascii: "f") ? "false" : "null")
            kind = .literal
        default: throw error("a value is missing")
        }
        expected = open.isEmpty ? .nothing : .commaOrEnd
        return token(kind)
    }

    // MARK: Scalars

    private mutating func string() throws(JSONSyntaxError) {
        position += 1
        while true {
            // Most of a string is plain: skips to the next quote, backslash or control character.
            position = bytes[position...].firstIndex { $0 == 0x22 || $0 == 0x5C || $0 < 0x20 } ?? bytes.count
            guard let byte = try peek() else { throw error("the string does not end") }
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                position += 1
                guard let escaped = try peek() else { throw error("the string does not end") }
                guard "\"\\/bfnrtu".utf8.contains(escaped) else { throw error("unknown escape") }
                position += 1
                guard escaped == UInt8(ascii: "u") else { continue }
                for _ in 0..<4 {
                    guard let digit = try peek(), digit &- 0x30 < 10 || (digit | 0x20) &- 0x61 < 6 else {
                        throw error("four hexadecimal digits must follow \\u")
                    }
                    position += 1
                }
            case 0..<0x20: throw error("a control character must be escaped")
            // The first byte of the next piece.
            default: continue
            }
        }
    }

    private mutating func number() throws(JSONSyntaxError) {
        if try peek() == UInt8(ascii: "-") { position += 1 }
        if try peek() == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if try peek() == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if let byte = try peek(), byte | 0x20 == UInt8(ascii: "e") {
            position += 1
            if let sign = try peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSONSyntaxError) {
        guard let first = try peek(), first &- 0x30 < 10 else { throw error("a digit is missing") }
        while let digit = try peek(), digit &- 0x30 < 10 { position += 1 }
    }

    private mutating func literal(_ text: String) throws(JSONSyntaxError) {
        for byte in text.utf8 {
            guard try peek() == byte else { throw error("'\(text)' was expected") }
            position += 1
        }
    }

    // MARK: Bytes

    @inline(__always)
    private mutating func peek() throws(JSONSyntaxError) -> UInt8? {
        if position < bytes.count { return bytes[position] }
        if !isAtEnd { try readPiece() }
        return position < bytes.count ? bytes[position] : nil
    }

    /// Skips white space and the byte order mark; the next token begins after them.
    private mutating func skipSpace() throws(JSONSyntaxError) {
        repeat {
            start = position
            guard let byte = try peek(), byte <= 0x20 || byte >= 0xBB else { break }
            let isSpace = byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
            let isMark = offset + position < 3 && byte == [0xEF, 0xBB, 0xBF][offset + position]
            guard isSpace || isMark else { break }
            position += 1
        } while true
        start = position
    }

    /// Reads the next piece. Drops the bytes before the current token, and the token's bytes beyond `tokenLimit`.
    private mutating func readPiece() throws(JSONSyntaxError) {
        (line, column) = place(start)
        offset += start
        bytes.removeFirst(start)
        position -= start
        start = 0
        let excess = bytes.count - tokenLimit
        if excess > 0 {
            // A token has no line feeds.
            column += excess
            offset += excess
            bytes.removeLast(excess)
            position -= excess
        }
        do {
            let piece = try refill?() ?? []
            isAtEnd = piece.isEmpty
            bytes += piece
        } catch let failure {
            isAtEnd = true
            throw error("reading it failed: \(failure)")
        }
    }
}

/// One token of a JSON text.
package struct JSONToken: Sendable, Hashable {
    package enum Kind: UInt8, Sendable, Hashable {
        case objectBegin
        case objectEnd
        case arrayBegin
        case arrayEnd
        /// A member's name, quotes included.
        case name
        /// A text value, quotes included.
        case string
        case number
        /// `true`, `false` or `null`.
        case literal
    }

    package var kind: Kind
    /// Where it stands in the bytes.
    package var range: Range<Int>

    package init(_ kind: Kind, _ range: Range<Int>) {
        self.kind = kind
        self.range = range
    }
}

/// Reads JSON (RFC 8259) token by token, without reading it into values and without recursion.
///
/// Numbers and strings keep their spelling, members their order, duplicates stay.
package struct JSONTokenReader: Sendable {
    private enum Expected {
        case value
        case valueOrEnd
        case name
        case nameOrEnd
        case commaOrEnd
        case nothing
    }

    /// The text.
    package let bytes: [UInt8]
    /// Where the next token is looked for.
    package private(set) var position = 0
    private let nestingLimit: Int
    private var expected = Expected.value
    /// Whether each open bracket is one of an object.
    private var open: [Bool] = []

    /// Prepares to read.
    ///
    /// - Parameters:
    ///   - bytes: the text in UTF-8; a byte order mark is skipped.
    ///   - nestingLimit: how deep arrays and objects may be nested.
    package init(_ bytes: [UInt8], nestingLimit: Int = 256) {
        self.bytes = bytes
        self.nestingLimit = nestingLimit
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// How many arrays and objects are open.
    package var depth: Int { open.count }

    /// Reads the next token; `nil` at the end of the text.
    ///
    /// - Throws: `JSONSyntaxError` where the bytes are no JSON, or nested too deep.
    package mutating func next() throws(JSONSyntaxError) -> JSONToken? {
        skipSpace()
        if expected == .commaOrEnd, peek == UInt8(ascii: ",") {
            position += 1
            skipSpace()
            expected = open.last == true ? .name : .value
        }
        guard let byte = peek else {
            if expected == .nothing { return nil }
            throw error("the text ends too early")
        }
        switch expected {
        case .nothing: throw error("something follows the end of the JSON text")
        case .commaOrEnd:
            let isObject = open.last == true
            guard byte == UInt8(ascii: isObject ? "}" : "]") else {
                throw error(isObject ? "',' or '}' is missing" : "',' or ']' is missing")
            }
            return close()
        case .name, .nameOrEnd:
            if byte == UInt8(ascii: "}"), expected == .nameOrEnd { return close() }
            guard byte == UInt8(ascii: "\"") else { throw error("a member's name is missing") }
            let start = position
            try string()
            let end = position
            skipSpace()
            guard peek == UInt8(ascii: ":") else { throw error("':' is missing") }
            position += 1
            expected = .value
            return JSONToken(.name, start..<end)
        case .value, .valueOrEnd:
            if byte == UInt8(ascii: "]"), expected == .valueOrEnd { return close() }
            return try value(byte)
        }
    }

    private mutating func close() -> JSONToken {
        let isObject = open.popLast() == true
        position += 1
        expected = open.isEmpty ? .nothing : .commaOrEnd
        return JSONToken(isObject ? .objectEnd : .arrayEnd, position - 1..<position)
    }

    private mutating func value(_ byte: UInt8) throws(JSONSyntaxError) -> JSONToken {
        let start = position
        let kind: JSONToken.Kind
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard open.count < nestingLimit else { throw error("nested deeper than \(nestingLimit) levels") }
            let isObject = byte == UInt8(ascii: "{")
            open.append(isObject)
            position += 1
            expected = isObject ? .nameOrEnd : .valueOrEnd
            return JSONToken(isObject ? .objectBegin : .arrayBegin, start..<position)
        case UInt8(ascii: "\""):
            try string()
            kind = .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            try number()
            kind = .number
        case UInt8(ascii: "t"):
            try literal("true")
            kind = .literal
        case UInt8(ascii: "f"):
            try literal("false")
            kind = .literal
        case UInt8(ascii: "n"):
            try literal("null")
            kind = .literal
        default: throw error("a value is missing")
        }
        expected = open.isEmpty ? .nothing : .commaOrEnd
        return JSONToken(kind, start..<position)
    }

    // MARK: Scalars

    private mutating func string() throws(JSONSyntaxError) {
        position += 1
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                position += 1
                guard let escaped = peek else { break }
                guard "\"\\/bfnrtu".utf8.contains(escaped) else { throw error("no such escape") }
                position += 1
                guard escaped == UInt8(ascii: "u") else { continue }
                for _ in 0..<4 {
                    guard let digit = peek, digit &- 0x30 < 10 || (digit | 0x20) &- 0x61 < 6 else {
                        throw error("four hexadecimal digits must follow \\u")
                    }
                    position += 1
                }
            case 0..<0x20: throw error("a control character must be escaped")
            default: position += 1
            }
        }
        throw error("the string does not end")
    }

    private mutating func number() throws(JSONSyntaxError) {
        if peek == UInt8(ascii: "-") { position += 1 }
        if peek == UInt8(ascii: "0") {
            position += 1
        } else {
            try digits()
        }
        if peek == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            position += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSONSyntaxError) {
        guard let first = peek, first &- 0x30 < 10 else { throw error("a digit is missing") }
        while let digit = peek, digit &- 0x30 < 10 { position += 1 }
    }

    private mutating func literal(_ text: StaticString) throws(JSONSyntaxError) {
        let count = text.utf8CodeUnitCount
        guard position + count <= bytes.count,
            text.withUTF8Buffer({ bytes[position..<position + count].elementsEqual($0) })
        else { throw error("'\(text)' was expected") }
        position += count
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    private func error(_ message: String) -> JSONSyntaxError {
        let before = bytes[..<position]
        let line = before.count { $0 == 0x0A } + 1
        let column = position - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return JSONSyntaxError(offset: position, line: line, column: column, message: message)
    }
}

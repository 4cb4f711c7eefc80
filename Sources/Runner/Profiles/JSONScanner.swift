/// Walks a JSON text (RFC 8259) of any size piece by piece, and keeps nothing but the strings it is asked for.
struct JSONScanner {
    /// What comes next.
    enum Token: Equatable {
        case beginObject
        case endObject
        case beginArray
        case endArray
        /// A member's name, or a string; cut off at the limit.
        case string(String)
        /// A number, `true`, `false` or `null`, as it stands there.
        case literal(String)
        case end
    }

    struct Failure: Error {
        let message: String
    }

    private static let mostLevels = 64

    /// Strings are cut off there: bytes.
    private let longestString: Int
    /// Where the piece in hand begins: its line and column, from 1.
    private var (line, column) = (1, 1)
    private let refill: () throws -> [UInt8]
    private var bytes: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    private var depth = 0

    /// Scans what `refill` returns, piece after piece; an empty piece is the end.
    init(longestString: Int = 1 << 16, _ refill: @escaping () throws -> [UInt8]) {
        self.longestString = longestString
        self.refill = refill
    }

    /// How far it was read: the line and the column in bytes, from 1.
    var place: (line: Int, column: Int) { moved(over: bytes[..<position]) }

    private func moved(over bytes: ArraySlice<UInt8>) -> (line: Int, column: Int) {
        guard let last = bytes.lastIndex(of: 0x0A) else { return (line, column + bytes.count) }
        return (line + bytes.count { $0 == 0x0A }, bytes.endIndex - last)
    }

    /// The next token; commas and colons are passed over.
    mutating func next() throws -> Token {
        while let byte = try peek() {
            position += 1
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ","), UInt8(ascii: ":"): continue
            case 0xEF where depth == 0, 0xBB where depth == 0, 0xBF where depth == 0: continue
            case UInt8(ascii: "{"): return try open(.beginObject)
            case UInt8(ascii: "["): return try open(.beginArray)
            case UInt8(ascii: "}"): return try close(.endObject)
            case UInt8(ascii: "]"): return try close(.endArray)
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "-"), 0x30...0x39, 0x61...0x7A:
                position -= 1
                return .literal(try literal())
            default: throw Failure(message: "it is no JSON")
            }
        }
        if depth > 0 { throw Failure(message: "it ends too early") }
        return .end
    }

    /// Passes over the value whose first token was just read.
    mutating func skip(_ first: Token) throws {
        guard first == .beginObject || first == .beginArray else { return }
        let outside = depth - 1
        while depth > outside {
            if try next() == .end { throw Failure(message: "it ends too early") }
        }
    }

    private mutating func open(_ token: Token) throws -> Token {
        depth += 1
        if depth > JSONScanner.mostLevels { throw Failure(message: "it is nested too deep") }
        return token
    }

    private mutating func close(_ token: Token) throws -> Token {
        depth -= 1
        if depth < 0 { throw Failure(message: "it is no JSON") }
        return token
    }

    private mutating func peek() throws -> UInt8? {
        if position == bytes.count, !isAtEnd {
            (line, column) = place
            bytes = try refill()
            position = 0
            isAtEnd = bytes.isEmpty
        }
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func literal() throws -> String {
        var text = ""
        while let byte = try peek(), byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "+-.".utf8.contains(byte) {
            position += 1
            if text.utf8.count < 64 { text.unicodeScalars.append(Unicode.Scalar(byte)) }
        }
        return text
    }

    private mutating func string() throws -> String {
        var text: [UInt8] = []
        while let byte = try peek() {
            if byte == UInt8(ascii: "\"") {
                position += 1
                return String(decoding: text, as: UTF8.self)
            }
            let room = longestString - text.count
            if byte == UInt8(ascii: "\\") {
                position += 1
                let piece = try escape()
                if room > 0 { text += piece }
            } else {
                let end = bytes[position...].firstIndex { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
                let run = bytes[position..<(end ?? bytes.count)]
                if room > 0 { text += run.prefix(room) }
                position = run.endIndex
            }
        }
        throw Failure(message: "it ends within a string")
    }

    private mutating func escape() throws -> [UInt8] {
        guard let byte = try peek() else { return [] }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "u"): return Array(String(try escapedScalar()).utf8)
        default: return [byte]
        }
    }

    /// What follows `\u`: a code unit, or the first of a surrogate pair (RFC 8259 §7).
    private mutating func escapedScalar() throws -> Character {
        let unit = try hexadecimal()
        if (0xD800..<0xDC00).contains(unit), try peek() == UInt8(ascii: "\\") {
            position += 1
            guard try peek() == UInt8(ascii: "u") else { return "\u{FFFD}" }
            position += 1
            let low = try hexadecimal()
            guard (0xDC00..<0xE000).contains(low) else { return "\u{FFFD}" }
            return Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)).map { Character($0) } ?? "\u{FFFD}"
        }
        return Unicode.Scalar(unit).map { Character($0) } ?? "\u{FFFD}"
    }

    private mutating func hexadecimal() throws -> UInt32 {
        var number: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = try peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw Failure(message: "it has a bad escape in a string")
            }
            position += 1
            number = number << 4 | UInt32(digit)
        }
        return number
    }
}

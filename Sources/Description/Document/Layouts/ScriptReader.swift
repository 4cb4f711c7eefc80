/// Splits a script (JavaScript, TypeScript, GraphQL) into tokens, as far as colours and line breaks need them.
struct ScriptReader {
    enum Kind {
        case word, keyword, literal, number, string, expression, comment, sign, space, lineBreak
    }

    struct Token {
        var kind: Kind
        var range: Range<Int>
    }

    enum Language {
        case script, graphQL
    }

    private static let scriptKeywords: Set<String> = [
        "async", "await", "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do",
        "else", "enum", "export", "extends", "finally", "for", "from", "function", "get", "if", "implements", "import",
        "in", "instanceof", "interface", "let", "new", "of", "package", "return", "set", "static", "super", "switch",
        "this", "throw", "try", "type", "typeof", "var", "void", "while", "with", "yield",
    ]
    private static let graphQLKeywords: Set<String> = [
        "query", "mutation", "subscription", "fragment", "on", "schema", "type", "input", "enum", "interface", "union",
        "scalar", "extend", "directive", "implements",
    ]
    private static let literals: Set<String> = ["true", "false", "null", "undefined", "NaN", "Infinity"]

    private let bytes: [UInt8]
    private let keywords: Set<String>
    private let isScript: Bool
    private var place = 0
    /// Whether a value was last, so that a `/` divides.
    private var isAfterValue = false

    init(_ bytes: [UInt8], _ language: Language = .script) {
        self.bytes = bytes
        isScript = language == .script
        keywords = isScript ? ScriptReader.scriptKeywords : ScriptReader.graphQLKeywords
    }

    mutating func next() -> Token? {
        guard place < bytes.count else { return nil }
        let byte = bytes[place]
        switch byte {
        case 0x0A: return take(.lineBreak, to: place + 1)
        case 0...0x20: return take(.space, to: end(from: place) { $0 <= 0x20 && $0 != 0x0A })
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
            return value(.string, to: bytes.endOfString(at: place))
        case UInt8(ascii: "#") where !isScript: return take(.comment, to: end(from: place) { $0 != 0x0A })
        case UInt8(ascii: "/") where isScript && following == UInt8(ascii: "/"):
            return take(.comment, to: end(from: place) { $0 != 0x0A })
        case UInt8(ascii: "/") where isScript && following == UInt8(ascii: "*"):
            return take(.comment, to: bytes.end(of: "*/", from: place + 2))
        case UInt8(ascii: "/") where isScript && !isAfterValue:
            if let end = endOfExpression() { return value(.expression, to: end) }
            isAfterValue = false
            return take(.sign, to: place + 1)
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return value(.number, to: end(from: place) { ScriptReader.isWordByte($0) || $0 == UInt8(ascii: ".") })
        case _ where ScriptReader.isWordByte(byte): return word()
        default:
            isAfterValue = byte == UInt8(ascii: ")") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
            return take(.sign, to: place + 1)
        }
    }

    private mutating func word() -> Token {
        let end = end(from: place) { ScriptReader.isWordByte($0) }
        // No keyword is longer.
        let text = end - place <= 12 ? bytes.text(place..<end) : ""
        let isMember = place > 0 && bytes[place - 1] == UInt8(ascii: ".")
        if ScriptReader.literals.contains(text), !isMember { return value(.literal, to: end) }
        if keywords.contains(text), !isMember {
            isAfterValue = text == "this" || text == "super"
            return take(.keyword, to: end)
        }
        return value(.word, to: end)
    }

    private var following: UInt8? { place + 1 < bytes.count ? bytes[place + 1] : nil }

    private mutating func take(_ kind: Kind, to end: Int) -> Token {
        defer { place = end }
        return Token(kind: kind, range: place..<end)
    }

    private mutating func value(_ kind: Kind, to end: Int) -> Token {
        isAfterValue = true
        return take(kind, to: end)
    }

    private func end(from start: Int, _ belongs: (UInt8) -> Bool) -> Int {
        bytes[start...].firstIndex { !belongs($0) } ?? bytes.count
    }

    /// The position after a regular expression and its flags; `nil` if the line ends first.
    private func endOfExpression() -> Int? {
        var index = place + 1
        var isInClass = false
        // A longer regular expression is more likely a division.
        let limit = min(bytes.count, place + 2000)
        while index < limit {
            switch bytes[index] {
            case 0x0A: return nil
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "["): isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "/") where !isInClass:
                return end(from: index + 1) { ($0 | 0x20) &- 0x61 < 26 }
            default: break
            }
            index += 1
        }
        return nil
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
            || byte == UInt8(ascii: "@") || byte >= 0x80
    }
}

package struct XMLSyntaxError: Error, Hashable, CustomStringConvertible {
    /// From 1.
    package var line: Int
    /// In characters from 1.
    package var column: Int
    package var message: String

    package var description: String { "line \(line), column \(column): \(message)" }
}

/// Reads an XML document (XML 1.0, UTF-8) token by token; only a piece is in memory. Skips a document type that only
/// names a file (the file is not read). Refuses one with definitions, because its entities could expand without limit.
package struct XMLTokenReader {
    package enum Token: Hashable {
        case start(String, [String: String])
        /// A part of an element's text; several parts may follow each other. Line breaks are line feeds (§2.11).
        case text(String)
        case end(String)
    }

    private static let entities = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
    private static let deepest = 64
    private static let longestName = 1_024
    private static let longestValue = 64 << 10
    private static let mostAttributes = 100
    private static let longestText = 64 << 10

    private let refill: () throws -> [UInt8]
    private var bytes: [UInt8] = []
    private var position = 0
    private var isAtEnd = false
    /// Of the next byte.
    package private(set) var line = 1
    private var column = 1
    private var open: [String] = []
    private var hasRoot = false
    /// The name of an empty element (`<a/>`) whose end is the next token.
    private var pendingEnd: String?

    /// `refill` returns the next piece, empty at the end. Its errors become messages of an `XMLSyntaxError`.
    package init(refill: @escaping () throws -> [UInt8]) { self.refill = refill }

    package var depth: Int { open.count }

    package func error(_ message: String) -> XMLSyntaxError {
        XMLSyntaxError(line: line, column: column, message: message)
    }

    /// Reads the next token; `nil` at the end. Throws `XMLSyntaxError` if the document is not well-formed.
    package mutating func next() throws(XMLSyntaxError) -> Token? {
        if let name = pendingEnd {
            pendingEnd = nil
            open.removeLast()
            return .end(name)
        }
        while true {
            guard let byte = try peek() else {
                if let last = open.last { throw error("the file ends, and <\(last)> is not closed") }
                guard hasRoot else { throw error("there is no element in it") }
                return nil
            }
            guard byte == UInt8(ascii: "<") else {
                guard !open.isEmpty else {
                    try skipOutside(byte)
                    continue
                }
                return .text(try text())
            }
            advance()
            switch try peek() {
            case UInt8(ascii: "?"): try skip(to: "?>", "the processing instruction does not end")
            case UInt8(ascii: "!"):
                advance()
                if let text = try declaration() { return .text(text) }
            case UInt8(ascii: "/"):
                advance()
                return try end()
            default: return try start()
            }
        }
    }

    /// Skips the rest of the current element.
    package mutating func skip() throws(XMLSyntaxError) {
        let outside = depth - 1
        while depth > outside { _ = try next() }
    }

    // MARK: - Markup

    private mutating func start() throws(XMLSyntaxError) -> Token {
        let name = try name("an element's name")
        guard !hasRoot || !open.isEmpty else { throw error("<\(name)> stands after the end of the outermost element") }
        guard open.count < XMLTokenReader.deepest else {
            throw error("elements are nested deeper than \(XMLTokenReader.deepest) levels")
        }
        var attributes: [String: String] = [:]
        while true {
            try skipSpace()
            guard let byte = try peek() else { throw error("the file ends within <\(name)") }
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") {
                advance()
                if byte == UInt8(ascii: "/") {
                    guard try take() == UInt8(ascii: ">") else { throw error("'>' is missing after '/'") }
                    pendingEnd = name
                }
                hasRoot = true
                open.append(name)
                return .start(name, attributes)
            }
            let key = try self.name("an attribute's name")
            try skipSpace()
            guard try take() == UInt8(ascii: "=") else { throw error("'=' is missing after \(key)") }
            try skipSpace()
            guard attributes.count < XMLTokenReader.mostAttributes else {
                throw error("<\(name)> has too many attributes")
            }
            guard attributes.updateValue(try value(of: key), forKey: key) == nil else {
                throw error("the attribute \(key) stands twice in <\(name)>")
            }
        }
    }

    private mutating func value(of key: String) throws(XMLSyntaxError) -> String {
        guard let quote = try take(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw error("the value of \(key) has no quotes")
        }
        var value: [UInt8] = []
        while let byte = try take() {
            if byte == quote { return String(decoding: value, as: UTF8.self) }
            guard byte != UInt8(ascii: "<") else { throw error("'<' stands in the value of \(key)") }
            guard value.count < XMLTokenReader.longestValue else { throw error("the value of \(key) is too long") }
            if byte == UInt8(ascii: "&") { value += try reference() } else { value.append(byte) }
        }
        throw error("the file ends within the value of \(key)")
    }

    private mutating func end() throws(XMLSyntaxError) -> Token {
        let name = try name("an element's name")
        try skipSpace()
        guard try take() == UInt8(ascii: ">") else { throw error("'>' is missing after </\(name)") }
        guard let last = open.last, last == name else {
            throw error("</\(name)> stands where \(open.last.map { "</\($0)>" } ?? "nothing") is to be closed")
        }
        open.removeLast()
        return .end(name)
    }

    /// Skips a comment or document type; returns the text of a CDATA section.
    private mutating func declaration() throws(XMLSyntaxError) -> String? {
        guard let byte = try peek() else { throw error("the file ends within '<!'") }
        if byte == UInt8(ascii: "-") {
            try expect("--")
            try skip(to: "-->", "the comment does not end")
            return nil
        }
        if byte == UInt8(ascii: "D"), !hasRoot {
            try documentType()
            return nil
        }
        guard byte == UInt8(ascii: "["), !open.isEmpty else {
            throw error("a document type that stands there is not read")
        }
        try expect("[CDATA[")
        var text: [UInt8] = []
        while let byte = try take() {
            text.append(byte)
            if byte == UInt8(ascii: ">"), text.suffix(3).elementsEqual("]]>".utf8) {
                return String(decoding: text.dropLast(3), as: UTF8.self)
            }
            guard text.count < 64 << 20 else { throw error("a CDATA section has more than 64 MiB") }
        }
        throw error("the CDATA section does not end")
    }

    /// Skips `<!DOCTYPE name SYSTEM "…">`; the named file is not read.
    private mutating func documentType() throws(XMLSyntaxError) {
        try expect("DOCTYPE")
        var (quote, count): (UInt8?, Int) = (nil, 0)
        while let byte = try take() {
            count += 1
            guard count < XMLTokenReader.longestValue else { throw error("the document type is too long") }
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw error("a document type with definitions is not read, as it could define entities")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw error("the file ends within the document type")
    }

    private mutating func expect(_ text: String) throws(XMLSyntaxError) {
        for byte in text.utf8 where try take() != byte { throw error("'<!' begins nothing that is known") }
    }

    private mutating func skip(to end: String, _ message: String) throws(XMLSyntaxError) {
        let wanted = Array(end.utf8)
        var last: [UInt8] = []
        while let byte = try take() {
            last.append(byte)
            if last.count > wanted.count { last.removeFirst() }
            if last == wanted { return }
        }
        throw error(message)
    }

    // MARK: - Text

    private mutating func text() throws(XMLSyntaxError) -> String {
        var text: [UInt8] = []
        while let byte = try peek(), byte != UInt8(ascii: "<"), text.count < XMLTokenReader.longestText {
            if byte == UInt8(ascii: "&") {
                advance()
                text += try reference()
                continue
            }
            if byte == 0x0D {
                advance()
                if try peek() != 0x0A { text.append(0x0A) }
                continue
            }
            let end = bytes[position...].prefix(XMLTokenReader.longestText)
                .firstIndex { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") || $0 == 0x0D }
            let run = bytes[position..<(end ?? min(bytes.count, position + XMLTokenReader.longestText))]
            pass(run)
            text += run
            position = run.endIndex
        }
        // Does not cut a character, which has at most three continuation bytes.
        for _ in 0..<3 {
            guard let byte = try peek(), byte & 0xC0 == 0x80 else { break }
            text.append(byte)
            advance()
        }
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func skipOutside(_ byte: UInt8) throws(XMLSyntaxError) {
        let isMark = !hasRoot && [0xEF, 0xBB, 0xBF].contains(byte)
        guard isMark || [0x20, 0x09, 0x0A, 0x0D].contains(byte) else {
            let outside = "text stands outside of the outermost element"
            throw error(hasRoot ? outside : "this is not XML: it begins with text")
        }
        advance()
    }

    /// Reads a reference after its `&`: a character's number or one of the five predefined entities.
    private mutating func reference() throws(XMLSyntaxError) -> [UInt8] {
        var name: [UInt8] = []
        while let byte = try take(), name.count < 12 {
            guard byte == UInt8(ascii: ";") else {
                name.append(byte)
                continue
            }
            let text = String(decoding: name, as: UTF8.self)
            if let character = XMLTokenReader.entities[text] { return Array(character.utf8) }
            let isHexadecimal = text.hasPrefix("#x")
            let digits = text.dropFirst(isHexadecimal ? 2 : 1)
            guard text.hasPrefix("#"), digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number)
            else { throw error("there is no character or entity of that name, and files cannot define any") }
            return Array(String(Character(scalar)).utf8)
        }
        throw error("'&' begins no reference")
    }

    // MARK: - Bytes

    private mutating func name(_ what: String) throws(XMLSyntaxError) -> String {
        var name: [UInt8] = []
        while let byte = try peek(),
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 || "_:-.".utf8.contains(byte)
        {
            guard name.count < XMLTokenReader.longestName else { throw error("\(what) is too long") }
            name.append(byte)
            advance()
        }
        guard !name.isEmpty else { throw error("\(what) is missing") }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func skipSpace() throws(XMLSyntaxError) {
        while let byte = try peek(), [0x20, 0x09, 0x0A, 0x0D].contains(byte) { advance() }
    }

    private mutating func peek() throws(XMLSyntaxError) -> UInt8? {
        if position == bytes.count, !isAtEnd {
            do { bytes = try refill() } catch { throw self.error("\(error)") }
            position = 0
            isAtEnd = bytes.isEmpty
        }
        return position < bytes.count ? bytes[position] : nil
    }

    private mutating func advance() {
        pass(bytes[position...position])
        position += 1
    }

    private mutating func pass(_ run: ArraySlice<UInt8>) {
        let last = run.lastIndex(of: 0x0A)
        if last != nil {
            line += run.count { $0 == 0x0A }
            column = 1
        }
        column += run[(last.map { $0 + 1 } ?? run.startIndex)...].count { $0 & 0xC0 != 0x80 }
    }

    private mutating func take() throws(XMLSyntaxError) -> UInt8? {
        guard let byte = try peek() else { return nil }
        advance()
        return byte
    }
}

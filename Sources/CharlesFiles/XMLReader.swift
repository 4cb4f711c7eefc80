/// Reads XML piece by piece, strictly, and only what settings files are made of.
///
/// It reads elements, attributes, text, CDATA, comments, processing instructions, the five named entities and character
/// references. A document type declaration is passed over where it only names one, and refused where it defines something,
/// and with it all entities that a file could define: nothing can grow beyond the bytes of the file. Section numbers are those of XML 1.0, fifth edition.
struct XMLReader {
    enum Event: Hashable {
        case start(name: String)
        case end
        case text(String)
        case instruction(target: String, content: String)
    }

    /// Settings have about a dozen levels.
    static let mostLevels = 100
    /// No settings are larger, even with bodies pasted into rewrite rules.
    static let mostBytes = 64 << 20

    private let bytes: [UInt8]
    private var position = 0
    /// The names of the open elements.
    private var open: [Range<Int>] = []
    private var hadRoot = false
    private var isEmptyElement = false
    /// The last line that was counted, from which the next count goes on.
    private var counted = (offset: 0, line: 1)
    private var eventStart = 0

    /// - Throws: ``CharlesError`` where the text is too large or in an encoding that is not taken.
    init(_ bytes: [UInt8]) throws(CharlesError) {
        guard bytes.count <= XMLReader.mostBytes else {
            let limit = "\(XMLReader.mostBytes >> 20) MiB"
            throw CharlesError(message: "the file is larger than \(limit), which no settings are")
        }
        self.bytes = try XMLEncoding.utf8(bytes)
    }

    /// The line that the last event began in.
    mutating func line() -> Int {
        if eventStart < counted.offset { counted = (0, 1) }
        counted.line += bytes[counted.offset..<eventStart].count { $0 == 0x0A }
        counted.offset = eventStart
        return counted.line
    }

    /// The next piece; `nil` at the end of the document.
    ///
    /// - Throws: ``CharlesError`` where the text is not well-formed.
    mutating func next() throws(CharlesError) -> Event? {
        if isEmptyElement {
            isEmptyElement = false
            open.removeLast()
            return .end
        }
        while position < bytes.count {
            eventStart = position
            if bytes[position] != UInt8(ascii: "<") {
                if let text = try text() { return .text(text) }
            } else if starts("<!--") {
                try skipComment()
            } else if starts("<![CDATA[") {
                return .text(try characterData())
            } else if starts("<!DOCTYPE"), !hadRoot {
                try skipDocumentType()
            } else if starts("<!") {
                throw failure("a declaration cannot stand here")
            } else if starts("<?") {
                if let instruction = try instruction() { return instruction }
            } else if starts("</") {
                try endTag()
                return .end
            } else {
                return try startTag()
            }
        }
        eventStart = position
        if let name = open.last {
            throw failure("the file ends inside <\(string(name))>, which was opened in line \(lineFromStart(name))")
        }
        if !hadRoot { throw failure("there is no XML element in the file") }
        return nil
    }

    // MARK: - Markup

    /// §3.1.
    private mutating func startTag() throws(CharlesError) -> Event {
        if open.isEmpty, hadRoot { throw failure("there is a second element after the end of the first") }
        position += 1
        let name = try name("an element's name")
        guard open.count < XMLReader.mostLevels else {
            throw failure("elements are nested more than \(XMLReader.mostLevels) deep")
        }
        hadRoot = true
        open.append(name)
        var attributes: Set<String> = []
        while true {
            let hadSpace = skipSpace()
            guard position < bytes.count else { throw failure("the file ends inside <\(string(name))>") }
            if bytes[position] == UInt8(ascii: ">") {
                position += 1
                break
            }
            if starts("/>") {
                position += 2
                isEmptyElement = true
                break
            }
            guard hadSpace else { throw failure("there is no blank before an attribute", at: position) }
            let start = position
            let attribute = string(try self.name("an attribute's name"))
            guard attributes.insert(attribute).inserted else {
                throw failure("the attribute '\(attribute)' stands twice", at: start)
            }
            try attributeValue(attribute)
        }
        return .start(name: string(name))
    }

    /// Checks a value; no attribute of Charles' is needed.
    private mutating func attributeValue(_ attribute: String) throws(CharlesError) {
        skipSpace()
        guard starts("=") else { throw failure("the attribute '\(attribute)' has no value", at: position) }
        position += 1
        skipSpace()
        guard starts("\"") || starts("'") else {
            throw failure("the value of '\(attribute)' is not in quotes", at: position)
        }
        let quote = bytes[position]
        position += 1
        while position < bytes.count, bytes[position] != quote {
            switch bytes[position] {
            case UInt8(ascii: "<"): throw failure("'<' cannot stand in an attribute's value", at: position)
            case UInt8(ascii: "&"): _ = try reference()
            default:
                try checkCharacter()
                position += 1
            }
        }
        guard position < bytes.count else { throw failure("the value of '\(attribute)' does not end") }
        position += 1
    }

    private mutating func endTag() throws(CharlesError) {
        position += 2
        let name = try name("an element's name")
        skipSpace()
        guard starts(">") else { throw failure("the end tag of <\(string(name))> does not end", at: position) }
        position += 1
        guard let opened = open.popLast() else { throw failure("</\(string(name))> ends nothing") }
        guard bytes[opened] == bytes[name] else {
            let end = "<\(string(opened))> ends, which was opened in line \(lineFromStart(opened))"
            throw failure("</\(string(name))> stands where \(end)")
        }
    }

    /// §2.6; `nil` for the XML declaration.
    private mutating func instruction() throws(CharlesError) -> Event? {
        let isFirst = position == 0
        position += 2
        let target = string(try name("the target of a processing instruction"))
        guard let end = find("?>") else { throw failure("the processing instruction <?\(target) does not end") }
        let content = string(position..<end)
        position = end + 2
        guard target.lowercased() == "xml" else {
            return .instruction(target: target, content: content.trimmed)
        }
        guard isFirst, target == "xml" else {
            throw failure("the XML declaration can only stand at the very beginning of the file")
        }
        return nil
    }

    /// §2.8, without a part that defines something.
    private mutating func skipDocumentType() throws(CharlesError) {
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: "[") {
                throw failure("document types that define something are not taken: they can read other files")
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
        throw failure("the document type declaration does not end")
    }

    private mutating func skipComment() throws(CharlesError) {
        position += 4
        guard let end = find("--"), end + 2 < bytes.count else { throw failure("the comment does not end") }
        guard bytes[end + 2] == UInt8(ascii: ">") else { throw failure("'--' cannot stand in a comment", at: end) }
        position = end + 3
    }

    // MARK: - Text

    private mutating func characterData() throws(CharlesError) -> String {
        guard !open.isEmpty else { throw failure("text stands outside of the outermost element") }
        position += 9
        guard let end = find("]]>") else { throw failure("the CDATA section does not end") }
        var text: [UInt8] = []
        while position < end { try appendCharacter(to: &text) }
        position = end + 3
        return String(decoding: text, as: UTF8.self)
    }

    /// Text up to the next `<`; `nil` where there is just white space around the outermost element.
    ///
    /// `]]>` is taken as it stands: nothing else can be meant by it.
    private mutating func text() throws(CharlesError) -> String? {
        if open.isEmpty {
            skipSpace()
            guard position == bytes.count || bytes[position] == UInt8(ascii: "<") else {
                let after = "text stands after the end of the outermost element"
                throw failure(hadRoot ? after : "this is no XML: it begins with text", at: position)
            }
            return nil
        }
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != UInt8(ascii: "<") {
            if bytes[position] == UInt8(ascii: "&") {
                text += Array(String(try reference()).utf8)
            } else {
                try appendCharacter(to: &text)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Takes one byte; the ends of lines become a line feed (§2.11).
    private mutating func appendCharacter(to text: inout [UInt8]) throws(CharlesError) {
        try checkCharacter()
        if bytes[position] == 0x0D {
            if position + 1 == bytes.count || bytes[position + 1] != 0x0A { text.append(0x0A) }
        } else {
            text.append(bytes[position])
        }
        position += 1
    }

    /// §2.2.
    private mutating func checkCharacter() throws(CharlesError) {
        let byte = bytes[position]
        if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D {
            throw failure("there is a control character, which XML cannot have", at: position)
        }
    }

    /// §4.1; a reference to a character or to one of the five predefined entities.
    private mutating func reference() throws(CharlesError) -> Unicode.Scalar {
        let start = position
        position += 1
        let limit = min(bytes.count, position + 12)
        guard let end = bytes[position..<limit].firstIndex(of: UInt8(ascii: ";")) else {
            throw failure("'&' begins no reference; as a character it is written &amp;", at: start)
        }
        let name = string(position..<end)
        position = end + 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else {
            throw failure("the entity &\(name); is not known, and files cannot define any", at: start)
        }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
            let number = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number),
            XMLReader.isCharacter(scalar)
        else { throw failure("&\(name); is no character that XML can have", at: start) }
        return scalar
    }

    /// Whether XML can have a character at all (§2.2).
    static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    // MARK: - Bytes

    /// §2.3; every character beyond ASCII is taken.
    private mutating func name(_ what: String) throws(CharlesError) -> Range<Int> {
        let start = position
        while position < bytes.count, XMLReader.isNameByte(bytes[position]) { position += 1 }
        let isName = position > start && !(0x2D...0x39).contains(bytes[start])
        guard isName else { throw failure("\(what) is missing or begins with a wrong character", at: start) }
        return start..<position
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte >= 0x80 || "_:-.".utf8.contains(byte)
    }

    @discardableResult
    private mutating func skipSpace() -> Bool {
        let start = position
        while position < bytes.count, XMLReader.isSpace(bytes[position]) { position += 1 }
        return position > start
    }

    private static func isSpace(_ byte: UInt8) -> Bool { [0x20, 0x0A, 0x09, 0x0D].contains(byte) }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    /// The next place of a text.
    private func find(_ text: String) -> Int? {
        let wanted = Array(text.utf8)
        var index = position
        while let first = bytes[index...].firstIndex(of: wanted[0]) {
            if bytes[first...].starts(with: wanted) { return first }
            index = first + 1
        }
        return nil
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    // MARK: - Places

    private func failure(_ message: String, at offset: Int? = nil) -> CharlesError {
        XMLReader.failure(message, in: bytes, at: offset ?? eventStart)
    }

    /// An error at an offset in a text.
    static func failure(_ message: String, in bytes: [UInt8], at offset: Int) -> CharlesError {
        let before = bytes[..<min(offset, bytes.count)]
        let lineStart = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        return CharlesError(
            line: 1 + before.count { $0 == 0x0A },
            column: 1 + before[lineStart...].count { $0 & 0xC0 != 0x80 },
            message: message
        )
    }

    private func lineFromStart(_ name: Range<Int>) -> Int { 1 + bytes[..<name.lowerBound].count { $0 == 0x0A } }
}

extension StringProtocol {
    /// Without white space at both ends.
    var trimmed: String {
        var rest = Substring(self)
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}

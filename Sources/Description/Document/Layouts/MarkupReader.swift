/// Splits HTML and XML into tags and text, even if they have errors.
struct MarkupReader {
    enum Kind {
        case text, openTag
        /// A tag that ends in `/>` and has no closing tag.
        case emptyTag
        case closeTag, comment
        /// `<!DOCTYPE …>` or `<?xml …?>`.
        case declaration
        case characterData
        /// The content of `script` and `style`.
        case rawText
    }

    struct Token {
        var kind: Kind
        var range: Range<Int>
        /// The name of an element, in lower case for HTML.
        var name = ""
    }

    private let bytes: [UInt8]
    private let isHTML: Bool
    private var place = 0
    private var rawElement: String?

    init(_ bytes: [UInt8], isHTML: Bool) {
        self.bytes = bytes
        self.isHTML = isHTML
    }

    mutating func next() -> Token? {
        guard place < bytes.count else { return nil }
        if let element = rawElement {
            rawElement = nil
            let end = endOfRaw(element)
            if end > place { return take(.rawText, to: end, name: element) }
        }
        guard bytes[place] == UInt8(ascii: "<") else { return text(from: place) }
        if has("<!--") { return take(.comment, to: bytes.end(of: "-->", from: place + 4)) }
        if has("<![CDATA[") { return take(.characterData, to: bytes.end(of: "]]>", from: place + 9)) }
        if has("<!") || has("<?") { return take(.declaration, to: bytes.end(of: ">", from: place + 2)) }
        let isClosing = has("</")
        let nameStart = place + (isClosing ? 2 : 1)
        guard nameStart < bytes.count, MarkupReader.isLetter(bytes[nameStart]) else { return text(from: place + 1) }
        let nameEnd = bytes[nameStart...].firstIndex(where: MarkupReader.endsName) ?? bytes.count
        let name = isHTML ? bytes.text(nameStart..<nameEnd).lowercased() : bytes.text(nameStart..<nameEnd)
        let end = endOfTag(from: nameEnd)
        if isClosing { return take(.closeTag, to: end, name: name) }
        let isEmpty = end >= 2 && bytes[end - 1] == UInt8(ascii: ">") && bytes[end - 2] == UInt8(ascii: "/")
        if isHTML, !isEmpty, name == "script" || name == "style" { rawElement = name }
        return take(isEmpty ? .emptyTag : .openTag, to: end, name: name)
    }

    private mutating func take(_ kind: Kind, to end: Int, name: String = "") -> Token {
        defer { place = end }
        return Token(kind: kind, range: place..<end, name: name)
    }

    private mutating func text(from start: Int) -> Token {
        take(.text, to: bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count)
    }

    private func has(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard place + count <= bytes.count else { return false }
        return text.withUTF8Buffer { bytes[place..<place + count].elementsEqual($0) }
    }

    /// The position after the `>` that ends a tag; a `>` in quotation marks does not.
    private func endOfTag(from start: Int) -> Int {
        var quote: UInt8?
        for index in start..<bytes.count {
            let byte = bytes[index]
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                // A quotation mark counts only if a value can begin with it.
                if index > 0, bytes[index - 1] == UInt8(ascii: "=") || bytes[index - 1] <= 0x20 { quote = byte }
            } else if byte == UInt8(ascii: ">") {
                return index + 1
            }
        }
        return bytes.count
    }

    private func endOfRaw(_ element: String) -> Int {
        let wanted = Array("</\(element)".utf8)
        var index = place
        while index + wanted.count <= bytes.count {
            if bytes[index] == wanted[0],
                zip(bytes[index..<index + wanted.count], wanted).allSatisfy({ $0 | 0x20 == $1 | 0x20 })
            {
                return index
            }
            index += 1
        }
        return bytes.count
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (byte | 0x20) &- 0x61 < 26 || byte == UInt8(ascii: "_") || byte >= 0x80
    }

    static func endsName(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
    }
}

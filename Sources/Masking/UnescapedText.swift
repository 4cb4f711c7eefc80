/// A text without its escapes (`%2D` of URLs, `\u002d` of JSON, `&#45;` and `&#x2d;` of XML), in which secrets are found
/// however they are written.
struct UnescapedText {
    /// So many escapes may be inside one another, as in a URL in a URL.
    private static let deepest = 2

    private(set) var bytes: [UInt8] = []
    /// Where each byte begins in the text, and after them where the text ends.
    private var places: [UInt32] = []

    /// Calls `body` with the text without its escapes, and again where there are escapes in that; not at all where there are none.
    static func forEach(of bytes: UnsafeRawBufferPointer, _ body: (UnescapedText) -> Void) {
        guard var text = UnescapedText(bytes) else { return }
        body(text)
        for _ in 1..<deepest {
            guard var next = text.bytes.withUnsafeBytes({ UnescapedText($0) }) else { return }
            next.places = next.places.map { text.places[Int($0)] }
            text = next
            body(text)
        }
    }

    private init?(_ text: UnsafeRawBufferPointer) {
        guard let first = UnescapedText.firstEscape(in: text) else { return nil }
        bytes.reserveCapacity(text.count)
        places.reserveCapacity(text.count + 1)
        bytes += text[..<first]
        places += 0..<UInt32(first)
        var place = first
        while place < text.count {
            if let escape = UnescapedText.escape(at: place, in: text) {
                let start = bytes.count
                switch escape.content {
                case .byte(let byte): bytes.append(byte)
                case .character(let character): if let encoded = UTF8.encode(character) { bytes += encoded }
                }
                places += repeatElement(UInt32(place), count: bytes.count - start)
                place = escape.end
            } else {
                bytes.append(text[place])
                places.append(UInt32(place))
                place += 1
            }
        }
        places.append(UInt32(text.count))
    }

    /// For each byte: whether an escape can begin with it.
    private static let begins: [Bool] = (0...255).map { "%\\&".utf8.contains(UInt8($0)) }

    /// Where the first escape begins; most texts have no sign of one.
    private static func firstEscape(in text: UnsafeRawBufferPointer) -> Int? {
        begins.withUnsafeBufferPointer { begins in
            var place = 0
            while place < text.count {
                if begins[Int(text[place])], escape(at: place, in: text) != nil { return place }
                place += 1
            }
            return nil
        }
    }

    /// Where bytes of this text stand in the one with escapes.
    func source(of range: Range<Int>) -> Range<Int> { Int(places[range.lowerBound])..<Int(places[range.upperBound]) }

    private enum Content {
        case byte(UInt8)
        case character(UnicodeScalar)
    }

    private static func escape(at place: Int, in text: UnsafeRawBufferPointer) -> (content: Content, end: Int)? {
        switch text[place] {
        case UInt8(ascii: "%"):
            return number(text, place + 1..<place + 3, radix: 16).map { (.byte(UInt8($0)), place + 3) }
        case UInt8(ascii: "\\"):
            // In a string of JSON in another one the backslash is escaped, too.
            guard let letter = text[place...].prefix(8).firstIndex(where: { $0 != UInt8(ascii: "\\") }),
                text[letter] == UInt8(ascii: "u") || text[letter] == UInt8(ascii: "x")
            else { return nil }
            if text[letter] == UInt8(ascii: "x") {
                let code = number(text, letter + 1..<letter + 3, radix: 16)
                return code.flatMap { UnicodeScalar($0) }.map { (.character($0), letter + 3) }
            }
            let code = number(text, letter + 1..<letter + 5, radix: 16)
            return code.flatMap { UnicodeScalar($0) }.map { (.character($0), letter + 5) }
        case UInt8(ascii: "&"):
            guard place + 1 < text.count, text[place + 1] == UInt8(ascii: "#"),
                let end = text[(place + 2)...].prefix(8).firstIndex(of: UInt8(ascii: ";")), end > place + 2
            else { return nil }
            let isHexadecimal = text[place + 2] | 0x20 == UInt8(ascii: "x")
            let digits = (isHexadecimal ? place + 3 : place + 2)..<end
            let code = number(text, digits, radix: isHexadecimal ? 16 : 10)
            return code.flatMap { UnicodeScalar($0) }.map { (.character($0), end + 1) }
        default: return nil
        }
    }

    private static func number(_ text: UnsafeRawBufferPointer, _ range: Range<Int>, radix: Int) -> Int? {
        guard range.upperBound <= text.count, !range.isEmpty else { return nil }
        var number = 0
        for byte in text[range] {
            let digit: Int
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = Int(byte) - 0x30
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                digit = Int(byte | 0x20) - 0x61 + 10
            default: return nil
            }
            guard digit < radix else { return nil }
            number = number * radix + digit
        }
        return number
    }
}

/// A text without its escapes (`%2D` of URLs, `\u002d` and `\"` of JSON, `&#45;`, `&#x2d;` and `&amp;` of XML), in which
/// secrets are found however they are written.
struct UnescapedText {
    /// So many escapes may be inside one another, as in a URL in a URL.
    private static let deepest = 3

    /// The bytes of `#1114111;`, after its `&`.
    private static let longestEntity = 9

    private(set) var bytes: [UInt8] = []
    /// Where each byte begins in the text, and after them where the text ends.
    private var places: [UInt32] = []

    /// Calls `body` with the text without its escapes, and again where there are escapes in that; not at all where there are none.
    /// With `isAny` also where all of them are among the forms of a secret (`SecretForms`).
    static func forEach(of bytes: UnsafeRawBufferPointer, isAny: Bool = false, _ body: (UnescapedText) -> Void) {
        guard var text = UnescapedText(bytes, isAny) else { return }
        body(text)
        for _ in 1..<deepest {
            guard var next = text.bytes.withUnsafeBytes({ UnescapedText($0, isAny) }) else { return }
            next.places = next.places.map { text.places[Int($0)] }
            text = next
            body(text)
        }
    }

    private init?(_ text: UnsafeRawBufferPointer, _ isAny: Bool) {
        guard let first = isAny ? UnescapedText.firstEscape(in: text) : UnescapedText.firstSign(in: text) else {
            return nil
        }
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

    /// Where the first sign stands with which an escape can begin, if one of the escapes is not among the forms of a secret
    /// (`SecretForms`); most texts have none such.
    private static func firstSign(in text: UnsafeRawBufferPointer) -> Int? {
        begins.withUnsafeBufferPointer { begins in
            var (place, first) = (0, text.count)
            while place < text.count {
                if begins[Int(text[place])] {
                    first = min(first, place)
                    if isFurther(place, text) { return first }
                }
                place += 1
            }
            return nil
        }
    }

    private static func firstEscape(in text: UnsafeRawBufferPointer) -> Int? {
        begins.withUnsafeBufferPointer { begins in
            text.indices.first { begins[Int(text[$0])] && escape(at: $0, in: text) != nil }
        }
    }

    /// Whether there is an escape of a letter, or one inside another.
    private static func isFurther(_ place: Int, _ text: UnsafeRawBufferPointer) -> Bool {
        guard place + 1 < text.count else { return false }
        switch (text[place], text[place + 1]) {
        case (UInt8(ascii: "\\"), UInt8(ascii: "\\")): return true
        case (UInt8(ascii: "\\"), UInt8(ascii: "&")), (UInt8(ascii: "\\"), UInt8(ascii: "%")):
            return escape(at: place + 1, in: text) != nil
        case (UInt8(ascii: "\\"), UInt8(ascii: "u")), (UInt8(ascii: "\\"), UInt8(ascii: "x")),
            (UInt8(ascii: "%"), _), (UInt8(ascii: "&"), UInt8(ascii: "#")):
            return escape(at: place, in: text) != nil
        case (UInt8(ascii: "&"), UInt8(ascii: "a")):
            guard let first = named(at: place, in: text), first.content == UInt8(ascii: "&") else { return false }
            return text[first.end...].prefix(longestEntity).contains(UInt8(ascii: ";"))
        default: return false
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
        case UInt8(ascii: "\\"): return backslash(at: place, in: text)
        case UInt8(ascii: "&"):
            if let named = named(at: place, in: text) { return (.byte(named.content), named.end) }
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

    private static func backslash(
        at place: Int,
        in text: UnsafeRawBufferPointer
    ) -> (content: Content, end: Int)? {
        // In a string of JSON in another one the backslash is escaped, too.
        if let letter = text[place...].prefix(8).firstIndex(where: { $0 != UInt8(ascii: "\\") }) {
            if text[letter] == UInt8(ascii: "u"), let read = unicode(at: letter, in: text) { return read }
            if text[letter] == UInt8(ascii: "x"), let read = hexadecimal(at: letter, in: text) { return read }
        }
        guard place + 1 < text.count else { return nil }
        let content: UInt8
        switch text[place + 1] {
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "/"): content = text[place + 1]
        case UInt8(ascii: "n"): content = 0x0A
        case UInt8(ascii: "r"): content = 0x0D
        case UInt8(ascii: "t"): content = 0x09
        default: return nil
        }
        return (.byte(content), place + 2)
    }

    /// `u002d`, `u{2d}` of JavaScript, and two halves of a character of UTF-16.
    private static func unicode(at letter: Int, in text: UnsafeRawBufferPointer) -> (content: Content, end: Int)? {
        if letter + 1 < text.count, text[letter + 1] == UInt8(ascii: "{") {
            guard let end = text[(letter + 2)...].prefix(7).firstIndex(of: UInt8(ascii: "}")) else { return nil }
            let code = number(text, letter + 2..<end, radix: 16)
            return code.flatMap { UnicodeScalar($0) }.map { (.character($0), end + 1) }
        }
        guard let code = number(text, letter + 1..<letter + 5, radix: 16) else { return nil }
        if let character = UnicodeScalar(code) { return (.character(character), letter + 5) }
        guard (0xD800...0xDBFF).contains(code),
            let next = text[(letter + 5)...].prefix(8).firstIndex(where: { $0 != UInt8(ascii: "\\") }),
            next > letter + 5, text[next] == UInt8(ascii: "u"),
            let low = number(text, next + 1..<next + 5, radix: 16), (0xDC00...0xDFFF).contains(low)
        else { return nil }
        return UnicodeScalar(0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)).map { (.character($0), next + 5) }
    }

    /// `x2d`: a character, or with those after it the bytes of one in UTF-8.
    private static func hexadecimal(
        at letter: Int,
        in text: UnsafeRawBufferPointer
    ) -> (content: Content, end: Int)? {
        guard let code = number(text, letter + 1..<letter + 3, radix: 16) else { return nil }
        let count =
            switch code {
            case 0xC2...0xDF: 1
            case 0xE0...0xEF: 2
            case 0xF0...0xF4: 3
            default: 0
            }
        var (scalar, end) = (count == 0 ? code : code & (0x3F >> count), letter + 3)
        for _ in 0..<count {
            guard let next = text[end...].prefix(8).firstIndex(where: { $0 != UInt8(ascii: "\\") }), next > end,
                text[next] == UInt8(ascii: "x"), let byte = number(text, next + 1..<next + 3, radix: 16),
                byte & 0xC0 == 0x80
            else { return UnicodeScalar(code).map { (.character($0), letter + 3) } }
            (scalar, end) = (scalar << 6 | byte & 0x3F, next + 3)
        }
        return UnicodeScalar(scalar).map { (.character($0), end) }
    }

    private static func named(at place: Int, in text: UnsafeRawBufferPointer) -> (content: UInt8, end: Int)? {
        guard place + 3 < text.count, text[place + 1] != UInt8(ascii: "#") else { return nil }
        let rest = text[(place + 1)...]
        switch text[place + 1] {
        case UInt8(ascii: "a"):
            if rest.starts(with: "amp;".utf8) { return (UInt8(ascii: "&"), place + 5) }
            return rest.starts(with: "apos;".utf8) ? (UInt8(ascii: "'"), place + 6) : nil
        case UInt8(ascii: "l"): return rest.starts(with: "lt;".utf8) ? (UInt8(ascii: "<"), place + 4) : nil
        case UInt8(ascii: "g"): return rest.starts(with: "gt;".utf8) ? (UInt8(ascii: ">"), place + 4) : nil
        case UInt8(ascii: "q"): return rest.starts(with: "quot;".utf8) ? (UInt8(ascii: "\""), place + 6) : nil
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

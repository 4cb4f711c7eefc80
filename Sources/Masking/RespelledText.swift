import Foundation

/// Bytes of a text that are spelled otherwise than by escapes: as numbers with signs between (`47:69:6E`, `47 69 6e`,
/// `[71,105,110]`, `0x47, 0x69`), and as quoted-printable (RFC 2045 §6.7), whose lines are broken anywhere.
struct RespelledText {
    /// Whether it is a list of decimal numbers.
    let isDecimal: Bool
    private(set) var bytes: [UInt8] = []
    /// Where what stands for each byte begins in the text, and in the lowest byte how long it is.
    private var places: [UInt64] = []

    private init(isDecimal: Bool = false) { self.isDecimal = isDecimal }

    /// Where bytes of this stand in the text.
    func source(of range: Range<Int>) -> Range<Int> {
        guard let last = range.last else { return 0..<0 }
        return Int(places[range.lowerBound] >> 8)..<Int(places[last] >> 8 + places[last] & 0xFF)
    }

    private mutating func append(_ byte: UInt8, _ start: Int, _ length: Int) {
        bytes.append(byte)
        places.append(UInt64(start) << 8 | UInt64(length))
    }

    /// Ends what belongs together; more often than not it is too short for a secret.
    private mutating func flush(_ body: (RespelledText) -> Void) {
        guard !bytes.isEmpty else { return }
        if bytes.count >= SecretBook.shortestSought { body(self) }
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }

    /// Calls `body` with what is long enough to be a secret.
    static func forEach(of text: UnsafeRawBufferPointer, _ body: (RespelledText) -> Void) {
        guard text.count >= shortest else { return }
        numbers(in: text, body)
        if hasBreak(text) { body(RespelledText(quotedPrintable: text)) }
    }

    // MARK: Numbers

    /// The numbers of eight bytes and what is between have at least so many signs.
    private static let shortest = 15
    private static let longestNumber = 8
    /// Lines of a list are indented.
    private static let mostBetween = 40

    private static let between: UInt8 = 0x10
    private static let other: UInt8 = 0x20
    /// For each byte: the value of a hexadecimal digit, or whether it may stand between numbers.
    private static let kinds: [UInt8] = (0...255).map { number in
        let byte = UInt8(number)
        if ValueShape.isHexadecimal(byte) { return byte < 0x3A ? byte - 0x30 : (byte | 0x20) - 0x57 }
        return "xX:, -\n\r".utf8.contains(byte) ? between : other
    }

    private static func numbers(in text: UnsafeRawBufferPointer, _ body: (RespelledText) -> Void) {
        kinds.withUnsafeBufferPointer { kinds in
            var (pairs, decimals) = (RespelledText(), RespelledText(isDecimal: true))
            // Whatever is long enough has one of these places.
            var (place, passed) = (shortest - 1, 0)
            while place < text.count {
                var end = place
                while end < text.count, kinds[Int(text[end])] != other { end += 1 }
                if end > place {
                    var start = place
                    while start > passed, kinds[Int(text[start - 1])] != other { start -= 1 }
                    if end - start >= shortest { numbers(in: text, start..<end, kinds, &pairs, &decimals, body) }
                    passed = end
                }
                place = end + shortest
            }
        }
    }

    /// Reads the numbers in a range that has nothing else: as pairs of hexadecimal digits, and as decimal ones.
    private static func numbers(
        in text: UnsafeRawBufferPointer,
        _ range: Range<Int>,
        _ kinds: UnsafeBufferPointer<UInt8>,
        _ pairs: inout RespelledText,
        _ decimals: inout RespelledText,
        _ body: (RespelledText) -> Void
    ) {
        var (place, gap) = (range.lowerBound, 0)
        while place < range.upperBound {
            guard kinds[Int(text[place])] < between else {
                (place, gap) = (place + 1, gap + 1)
                continue
            }
            if gap > mostBetween {
                pairs.flush(body)
                decimals.flush(body)
            }
            gap = 0
            let start = place
            let isPrefixed =
                text[place] == 0x30 && place + 1 < range.upperBound && text[place + 1] | 0x20 == UInt8(ascii: "x")
            if isPrefixed { place += 2 }
            let first = place
            // What the digits say in decimal; more than a byte for what is none.
            var number = isPrefixed ? 256 : 0
            while place < range.upperBound, kinds[Int(text[place])] < between {
                let digit = Int(kinds[Int(text[place])])
                number = digit > 9 || number > 255 ? 256 : number * 10 + digit
                place += 1
            }
            let count = place - first
            if count & 1 == 0, count > 0, count <= longestNumber {
                var pair = first
                while pair < place {
                    let value = kinds[Int(text[pair])] << 4 | kinds[Int(text[pair + 1])]
                    let begin = pair == first ? start : pair
                    if isOfText(value) { pairs.append(value, begin, pair + 2 - begin) } else { pairs.flush(body) }
                    pair += 2
                }
            } else {
                pairs.flush(body)
            }
            if (1...3).contains(count), number < 256, isOfText(UInt8(number)) {
                decimals.append(UInt8(number), start, count)
            } else {
                decimals.flush(body)
            }
        }
        pairs.flush(body)
        decimals.flush(body)
    }

    /// Whether a secret may have a byte: what is a picture or a list of counts ends soon.
    private static func isOfText(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    // MARK: Quoted-printable

    /// A text without its soft line breaks; of what is encoded in a line a secret has a form of its own, too (`SecretForms`).
    private init(quotedPrintable text: UnsafeRawBufferPointer) {
        self.init()
        bytes.reserveCapacity(text.count)
        places.reserveCapacity(text.count)
        var place = 0
        while place < text.count {
            let byte = text[place]
            if byte == UInt8(ascii: "="), let next = RespelledText.afterBreak(text, place) {
                place = next
            } else if byte == UInt8(ascii: "="), place + 2 < text.count {
                let (high, low) = (
                    RespelledText.kinds[Int(text[place + 1])], RespelledText.kinds[Int(text[place + 2])]
                )
                let isPair = high < RespelledText.between && low < RespelledText.between
                append(isPair ? high << 4 | low : byte, place, isPair ? 3 : 1)
                place += isPair ? 3 : 1
            } else {
                append(byte, place, 1)
                place += 1
            }
        }
    }

    private static func hasBreak(_ text: UnsafeRawBufferPointer) -> Bool {
        guard let base = text.baseAddress else { return false }
        var place = 0
        while let found = memchr(base + place, CInt(UInt8(ascii: "=")), text.count - place) {
            let sign = base.distance(to: UnsafeRawPointer(found))
            if afterBreak(text, sign) != nil { return true }
            place = sign + 1
        }
        return false
    }

    /// Where the line goes on after a soft line break at a place, which may stand in a string of JSON.
    private static func afterBreak(_ text: UnsafeRawBufferPointer, _ place: Int) -> Int? {
        let next = place + 1
        guard next < text.count, text[next] == 0x0D || text[next] == 0x0A || text[next] == UInt8(ascii: "\\") else {
            return nil
        }
        for end in ["\r\n", "\n", "\\r\\n", "\\n"] as [StaticString] {
            let sign = UnsafeBufferPointer(start: end.utf8Start, count: end.utf8CodeUnitCount)
            if text[next...].starts(with: sign) { return next + sign.count }
        }
        return nil
    }
}

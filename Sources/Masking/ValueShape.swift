import Content
import Foundation
import HTTPModel

enum ValueShape {
    /// Long, without spaces, letters and digits mixed.
    static func isRandom(_ value: UnsafeRawBufferPointer, least: Int = 16) -> Bool {
        value.count >= least && value.allSatisfy { $0.isLetterOrDigit || "-_.+/=~:%|".utf8.contains($0) }
            && value.count(where: \.isLetter) > 1 && value.count(where: \.isDigit) > 1 && entropy(value) >= 3
    }

    static func isMadeByChance(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        isRandom(value, least: least) || isMixed(value, least: least)
    }

    /// Whether large and small letters alternate more than in words such as `getElementById`.
    static func isMixed(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        value.count >= max(least, 20) && value.first != UInt8(ascii: "/")
            && value.allSatisfy { $0.isLetterOrDigit || "-_+/=".utf8.contains($0) }
            && rarerCase(value) * 4 >= value.count && value.count { !$0.isLetterOrDigit } * 10 <= value.count
            && isInPieces(value) && entropy(value) > 3.8
    }

    /// The number of large or of small letters, whichever is smaller.
    static func rarerCase(_ value: UnsafeRawBufferPointer) -> Int {
        min(value.count(where: \.isCapital), value.count(where: \.isSmall))
    }

    /// Whether letters and digits alternate as in random text: pieces of at most three bytes on average. A large letter
    /// and the small ones after it are one piece.
    static func isInPieces(_ value: UnsafeRawBufferPointer) -> Bool {
        let pieces = value.indices.count { place in
            let byte = value[place]
            let last = place > 0 ? value[place - 1] : 0
            if byte.isDigit { return !last.isDigit }
            if byte.isCapital { return !last.isCapital || place + 1 < value.count && value[place + 1].isSmall }
            return byte.isSmall && !last.isLetter
        }
        return pieces * 10 >= value.count * 3
    }

    static func entropy(_ value: UnsafeRawBufferPointer) -> Double {
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: 256) { counts in
            counts.initialize(repeating: 0)
            for byte in value { counts[Int(byte)] += 1 }
            let total = Double(value.count)
            return counts.reduce(0) { sum, count in
                guard count > 0 else { return sum }
                let share = Double(count) / total
                return sum - share * log2(share)
            }
        }
    }

    /// Whether 13 to 19 digits have Luhn's check digit (ISO/IEC 7812-1); other characters may be between them.
    static func isCard(_ value: UnsafeRawBufferPointer) -> Bool {
        var (sum, count) = (0, 0)
        for byte in value.reversed() where byte.isDigit {
            let digit = Int(byte &- 0x30)
            let doubled = count % 2 == 1 ? digit * 2 : digit
            sum += doubled > 9 ? doubled - 9 : doubled
            count += 1
        }
        return (13...19).contains(count) && sum % 10 == 0
    }
}

/// Decodes values by the syntax around them, so that a secret has the same bytes everywhere.
enum PlainValue {
    /// The content of a JSON string within `depth - 1` other strings.
    static func ofJSON(_ value: some Collection<UInt8>, depth: Int = 1) -> [UInt8] {
        var text = Array(value)
        for _ in 0..<depth where text.contains(UInt8(ascii: "\\")) {
            let quoted = [UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")]
            text = Array(JSONTree.unescaped(quoted[...]).utf8)
        }
        return text
    }

    /// A plus sign is a space, but not in base64.
    static func ofForm(_ value: some Collection<UInt8>) -> [UInt8] {
        var text = Array(value)
        if text.contains(UInt8(ascii: "+")), !text.withUnsafeBytes({ ValueShape.isRandom($0) }) {
            text = text.map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        }
        return PercentEncoding.decoded(text) ?? text
    }

    /// A quoted string without its backslashes (RFC 9110 §5.6.4).
    static func ofQuoted(_ value: some Collection<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        var rest = Array(value)[...]
        while let byte = rest.popFirst() {
            if let next = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte { plain.append(next) }
        }
        return plain
    }

    private static let entities = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"),
        ("&#34;", "\""), ("&#43;", "+"), ("&#47;", "/"),
    ]

    /// Decodes entities (XML 1.0 §4.6).
    static func ofMarkup(_ value: some Collection<UInt8>) -> [UInt8] {
        guard value.contains(UInt8(ascii: "&")) else { return Array(value) }
        var plain: [UInt8] = []
        var rest = Array(value)[...]
        while let byte = rest.first {
            let entity = byte == UInt8(ascii: "&") ? entities.first { rest.starts(with: $0.0.utf8) } : nil
            if let entity { plain += entity.1.utf8 } else { plain.append(byte) }
            rest = rest.dropFirst(entity?.0.utf8.count ?? 1)
        }
        return plain
    }
}

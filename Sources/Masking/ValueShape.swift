import Content
import Foundation
import HTTPModel

enum ValueShape {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    static func isLetterOrDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 }

    /// Long, without spaces, letters and digits mixed.
    static func isRandom(_ value: UnsafeRawBufferPointer, least: Int = 16) -> Bool {
        guard value.count >= least, value.allSatisfy({ isLetterOrDigit($0) || "-_.+/=~:%|".utf8.contains($0) }) else {
            return false
        }
        return value.count(where: isLetter) > 1 && value.count(where: isDigit) > 1 && entropy(value) >= 3
    }

    static func isMadeByChance(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        isRandom(value, least: least) || isMixed(value, least: least)
    }

    /// Whether large and small letters mix as in no words, unlike `getElementById`.
    static func isMixed(_ value: UnsafeRawBufferPointer, least: Int) -> Bool {
        guard value.count >= max(least, 20), value.first != UInt8(ascii: "/"),
            value.allSatisfy({ isLetterOrDigit($0) || "-_+/=".utf8.contains($0) })
        else { return false }
        let (large, small) = (value.count { $0 &- 0x41 < 26 }, value.count { $0 &- 0x61 < 26 })
        let signs = value.count { !isLetterOrDigit($0) }
        return min(large, small) * 4 >= value.count && signs * 10 <= value.count && isInPieces(value)
            && entropy(value) > 3.8
    }

    static func isKey(_ value: UnsafeRawBufferPointer) -> Bool { isRandom(value) && isInPieces(value) }

    /// Whether letters and digits alternate as in random text: pieces of at most three bytes on average.
    static func isInPieces(_ value: UnsafeRawBufferPointer) -> Bool {
        enum Class { case large, small, digit, sign }
        var (pieces, last) = (0, Class.sign)
        for (place, byte) in value.enumerated() {
            let current: Class = isDigit(byte) ? .digit : !isLetter(byte) ? .sign : byte < 0x60 ? .large : .small
            let isNew =
                switch current {
                case .large: last != .large || place + 1 < value.count && value[place + 1] &- 0x61 < 26
                case .small: last != .small && last != .large
                case .digit: last != .digit
                case .sign: false
                }
            if isNew { pieces += 1 }
            last = current
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

    /// Whether 13 to 19 digits have Luhn's check digit (ISO/IEC 7812-1); other signs may be between them.
    static func isCard(_ value: UnsafeRawBufferPointer) -> Bool {
        var (sum, count) = (0, 0)
        for byte in value.reversed() where isDigit(byte) {
            let digit = Int(byte &- 0x30)
            let doubled = count % 2 == 1 ? digit * 2 : digit
            sum += doubled > 9 ? doubled - 9 : doubled
            count += 1
        }
        return (13...19).contains(count) && sum % 10 == 0
    }
}

/// Removes the coding of a value's place, so that a secret has the same bytes everywhere.
enum PlainValue {
    /// The content of a JSON string within `depth - 1` others.
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

    private static let entities: [(name: String, byte: UInt8)] = [
        ("&amp;", UInt8(ascii: "&")), ("&lt;", UInt8(ascii: "<")), ("&gt;", UInt8(ascii: ">")),
        ("&quot;", UInt8(ascii: "\"")), ("&apos;", UInt8(ascii: "'")), ("&#39;", UInt8(ascii: "'")),
        ("&#34;", UInt8(ascii: "\"")), ("&#43;", UInt8(ascii: "+")), ("&#47;", UInt8(ascii: "/")),
    ]

    /// Decodes entities (XML 1.0 §4.6).
    static func ofMarkup(_ value: some Collection<UInt8>) -> [UInt8] {
        guard value.contains(UInt8(ascii: "&")) else { return Array(value) }
        var plain: [UInt8] = []
        var rest = Array(value)[...]
        while let byte = rest.first {
            let entity = byte == UInt8(ascii: "&") ? entities.first { rest.starts(with: $0.name.utf8) } : nil
            plain.append(entity?.byte ?? byte)
            rest = rest.dropFirst(entity?.name.utf8.count ?? 1)
        }
        return plain
    }
}

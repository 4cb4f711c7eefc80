/// Percent-encoding (RFC 3986 §2.1).
enum PercentEncoding {
    static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    /// Unencoded characters in the name of a parameter.
    static let queryName = unreserved.union("!$()*,:@/?[]".utf8)
    /// Unencoded characters in the value of a parameter.
    static let queryValue = queryName.union("=".utf8)
    /// Unencoded characters in a part of a URL, with percent signs.
    static let urlText = unreserved.union("!$&'()*+,;=:@/?[]%".utf8)

    static func encode(_ text: String, keeping kept: Set<UInt8>) -> [UInt8] {
        encode(Array(text.utf8)[...], keeping: kept)
    }

    static func encode(_ bytes: ArraySlice<UInt8>, keeping kept: Set<UInt8>) -> [UInt8] {
        bytes.flatMap { kept.contains($0) ? [$0] : encoded($0) }
    }

    /// `%` and two digits.
    static func encoded(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    static func decode(_ encoded: [UInt8]) -> [UInt8] { pieces(of: encoded).map(\.byte) }

    /// Encodes bytes that replace encoded bytes; their common beginning and end keep the old encoding.
    static func edit(_ old: [UInt8], to new: [UInt8], keeping kept: Set<UInt8>) -> [UInt8] {
        let pieces = pieces(of: old)
        let head = zip(pieces, new).prefix { $0.0.byte == $0.1 }.count
        let rest = min(pieces.count, new.count) - head
        let tail = zip(pieces.reversed(), new.reversed()).prefix(rest).prefix { $0.0.byte == $0.1 }.count
        let before = pieces[..<head].flatMap { old[$0.range] }
        let after = pieces[(pieces.count - tail)...].flatMap { old[$0.range] }
        return before + encode(new[head..<(new.count - tail)], keeping: kept) + after
    }

    /// The decoded bytes with their positions in the encoded text.
    private static func pieces(of encoded: [UInt8]) -> [(byte: UInt8, range: Range<Int>)] {
        var pieces: [(byte: UInt8, range: Range<Int>)] = []
        var position = 0
        while position < encoded.count {
            let byte = encoded[position]
            if byte == UInt8(ascii: "%"), position + 2 < encoded.count,
                let value = UInt8(String(decoding: encoded[(position + 1)...(position + 2)], as: UTF8.self), radix: 16),
                encoded[position + 1] != UInt8(ascii: "+")
            {
                pieces.append((value, position..<(position + 3)))
                position += 3
            } else {
                pieces.append((byte == UInt8(ascii: "+") ? 0x20 : byte, position..<(position + 1)))
                position += 1
            }
        }
        return pieces
    }
}

/// A path with identifiers replaced by `{id}`: `/users/17/posts/9f1c2ab4` becomes `/users/{id}/posts/{id}`. Identifiers
/// are numbers, dates, UUIDs, hexadecimal of eight digits or more, and random text; each also after one word
/// (`user_17`) and before a file's ending (`17.json`).
package enum PathShape {
    package static let mostSegments = 24

    private static let placeholder = Array("{id}".utf8)
    private static let slash = UInt8(ascii: "/")

    package static func of(_ path: String) -> String {
        var path = path
        return path.withUTF8 { String(decoding: shape($0), as: UTF8.self) }
    }

    package static func isSame(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        shape(left) == shape(right)
    }

    private static func shape(_ path: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var shape: [UInt8] = []
        shape.reserveCapacity(path.count + 8)
        var start = 0
        var segments = 0
        while start <= path.count {
            var end = start
            while end < path.count, path[end] != slash { end += 1 }
            if start > 0 { shape.append(slash) }
            if segments >= mostSegments {
                shape += Array("…".utf8)
                return shape
            }
            append(UnsafeBufferPointer(rebasing: path[start..<end]), to: &shape)
            segments += 1
            start = end + 1
        }
        return shape
    }

    private static func append(_ segment: UnsafeBufferPointer<UInt8>, to shape: inout [UInt8]) {
        // Most segments are words.
        guard segment.contains(where: { $0 &- 0x30 < 10 }) || segment.count >= 16 else {
            shape += segment
            return
        }
        let stem = UnsafeBufferPointer(rebasing: segment[..<stemEnd(segment)])
        if let mark = onlyMark(stem), isWord(UnsafeBufferPointer(rebasing: stem[..<mark])),
            isIdentifier(UnsafeBufferPointer(rebasing: stem[(mark + 1)...]))
        {
            shape += stem[...mark]
            shape += placeholder
        } else if isIdentifier(stem) {
            shape += placeholder
        } else {
            shape += stem
        }
        shape += segment[stem.count...]
    }

    /// The dot of a file's ending (at most five characters); without an ending, the end of the segment.
    private static func stemEnd(_ segment: UnsafeBufferPointer<UInt8>) -> Int {
        guard let dot = segment.lastIndex(of: UInt8(ascii: ".")), dot > 0, segment.count - dot - 1 <= 5,
            segment.count - dot > 1, isLetter(segment[dot + 1])
        else { return segment.count }
        return dot
    }

    private static func onlyMark(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        guard let mark = text.firstIndex(where: isMark), !text[(mark + 1)...].contains(where: isMark) else {
            return nil
        }
        return mark
    }

    private static func isWord(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first else { return false }
        return text.allSatisfy { isLetter($0) && $0 & 0x20 == first & 0x20 }
    }

    private static func isMark(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-") }
    private static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }
    private static func isHex(_ byte: UInt8) -> Bool { byte.hexadecimalValue != nil }

    /// A number, date, UUID, hexadecimal, or random letters and digits.
    package static func isIdentifier(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { isIdentifier($0) }
    }

    package static func isIdentifier(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = text.first else { return false }
        var (digits, hexes, letters, changes) = (0, 0, 0, 0)
        var last = 0
        var isPlain = true
        for byte in text {
            let kind: Int
            if isDigit(byte) {
                (digits, hexes, kind) = (digits + 1, hexes + 1, 1)
            } else if isLetter(byte) {
                letters += 1
                if isHex(byte) { hexes += 1 }
                kind = byte & 0x20 == 0 ? 2 : 3
            } else {
                kind = 4
                if !isMark(byte), byte != UInt8(ascii: "="), byte != UInt8(ascii: "~") { isPlain = false }
            }
            if kind != last, last != 0 { changes += 1 }
            last = kind
        }
        if digits == text.count { return true }
        if isDate(text, digits: digits, first: first) || isUUID(text) { return true }
        if hexes == text.count, digits > 0 ? text.count >= 8 : text.count >= 24 { return true }
        // Letters and digits change more often than in words.
        guard isPlain, digits > 0, letters > 0, text.count >= 10 else { return false }
        let marks = text.count - digits - letters
        if marks == 0, text.count >= 32 { return true }
        return marks * 8 <= text.count && changes * 3 >= text.count && digits * 20 >= text.count
    }

    /// Digits with `-`, `:`, `_` or `,` between them: dates, lists, ranges.
    private static func isDate(_ text: UnsafeBufferPointer<UInt8>, digits: Int, first: UInt8) -> Bool {
        guard isDigit(first), digits * 2 >= text.count else { return false }
        return text.allSatisfy { isDigit($0) || [0x2D, 0x3A, 0x5F, 0x2C].contains($0) }
    }

    /// RFC 9562.
    package static func isUUID(_ text: some Collection<UInt8>) -> Bool {
        text.count == 36
            && text.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : isHex(byte)
            }
    }
}

import Content

/// Text in UTF-16 that comes in pieces, as UTF-8 and back, without a loss: units without their other half stay, too.
struct WideText {
    private let isBigEndian: Bool
    /// What was read of the next character.
    private var rest: [UInt8] = []

    /// `nil` where a body is no text in UTF-16, by its type, its byte order mark or its first characters.
    init?(_ mediaType: MediaType?, _ beginning: [UInt8]) {
        let isText = mediaType == nil || mediaType?.isTextual == true
        guard beginning.count >= 2, isText || mediaType?.essence == "application/octet-stream" else { return nil }
        guard isText || WideText.looksWide(beginning) else { return nil }
        let charset = mediaType?.parameter("charset").map { Charset($0) }
        switch (beginning[0], beginning[1]) {
        case (0xFF, 0xFE): isBigEndian = false
        case (0xFE, 0xFF): isBigEndian = true
        case _ where charset == .utf16LittleEndian: isBigEndian = false
        case _ where charset == .utf16BigEndian: isBigEndian = true
        // RFC 4627 §3 tells the encodings of JSON apart in this way.
        case (1..., 0) where beginning.count >= 4 && beginning[2] != 0 && beginning[3] == 0: isBigEndian = false
        case (0, 1...) where beginning.count >= 4 && beginning[2] == 0 && beginning[3] != 0: isBigEndian = true
        default: return nil
        }
    }

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Whether bytes without a type of text are such by their look: most characters are of ASCII.
    private static func looksWide(_ beginning: [UInt8]) -> Bool {
        let units = min(beginning.count, 1_024) / 2
        guard units >= 4 else { return false }
        var (even, odd) = (0, 0)
        for unit in 0..<units {
            if beginning[2 * unit] == 0 { even += 1 }
            if beginning[2 * unit + 1] == 0 { odd += 1 }
        }
        return min(even, odd) == 0 && max(even, odd) * 4 >= units * 3
    }

    /// The next bytes in UTF-8, in which a unit without its other half has three bytes as in WTF-8.
    mutating func narrowed(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        rest += piece
        var narrow: [UInt8] = []
        narrow.reserveCapacity(rest.count)
        var place = 0
        while place + 1 < rest.count {
            let unit = unit(at: place)
            guard unit >> 10 == 0xD800 >> 10 else {
                WideText.append(UInt32(unit), to: &narrow)
                place += 2
                continue
            }
            guard place + 3 < rest.count else { break }
            let next = self.unit(at: place + 2)
            if next >> 10 == 0xDC00 >> 10 {
                WideText.append(0x10000 + UInt32(unit & 0x3FF) << 10 + UInt32(next & 0x3FF), to: &narrow)
                place += 4
            } else {
                WideText.append(UInt32(unit), to: &narrow)
                place += 2
            }
        }
        rest.removeFirst(place)
        return narrow
    }

    /// What is no whole character, as it came; to be written behind all else at the end.
    var remainder: [UInt8] { rest }

    private func unit(at place: Int) -> UInt16 {
        let (first, second) = (UInt16(rest[place]), UInt16(rest[place + 1]))
        return isBigEndian ? first << 8 | second : second << 8 | first
    }

    private static func append(_ code: UInt32, to narrow: inout [UInt8]) {
        switch code {
        case ..<0x80: narrow.append(UInt8(code))
        case ..<0x800:
            narrow.append(0xC0 | UInt8(code >> 6))
            narrow.append(0x80 | UInt8(code & 0x3F))
        case ..<0x10000:
            narrow.append(0xE0 | UInt8(code >> 12))
            narrow.append(0x80 | UInt8(code >> 6 & 0x3F))
            narrow.append(0x80 | UInt8(code & 0x3F))
        default:
            narrow.append(0xF0 | UInt8(code >> 18 & 7))
            narrow.append(0x80 | UInt8(code >> 12 & 0x3F))
            narrow.append(0x80 | UInt8(code >> 6 & 0x3F))
            narrow.append(0x80 | UInt8(code & 0x3F))
        }
    }

    /// Bytes that ``narrowed(_:)`` gave, and words of ASCII in their place, in UTF-16 again.
    func widened(_ utf8: [UInt8]) -> [UInt8] {
        var wide: [UInt8] = []
        wide.reserveCapacity(utf8.count * 2)
        func append(_ unit: UInt16) {
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            wide.append(isBigEndian ? high : low)
            wide.append(isBigEndian ? low : high)
        }
        var place = 0
        while place < utf8.count {
            let first = utf8[place]
            let count = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3
            var code = count == 0 ? UInt32(first) : UInt32(first) & (0x3F >> UInt32(count))
            for next in utf8[(place + 1)...].prefix(count) { code = code << 6 | UInt32(next & 0x3F) }
            place += 1 + count
            if code < 0x10000 {
                append(UInt16(code))
            } else {
                append(UInt16(truncatingIfNeeded: 0xD800 + (code - 0x10000) >> 10))
                append(UInt16(truncatingIfNeeded: 0xDC00 + (code & 0x3FF)))
            }
        }
        return wide
    }
}

import Content

/// Text in UTF-16 that comes in pieces, as UTF-8 and back. Units without their other half become U+FFFD.
struct WideText {
    private let isBigEndian: Bool
    /// What was read of the next character.
    private var rest: [UInt8] = []

    /// `nil` where a body is no text in UTF-16, by its type, its byte order mark or its first characters.
    init?(_ mediaType: MediaType?, _ beginning: [UInt8]) {
        guard mediaType == nil || mediaType?.isTextual == true, beginning.count >= 2 else { return nil }
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

    mutating func narrowed(_ piece: UnsafeRawBufferPointer) -> [UInt8] {
        rest += piece
        var units: [UInt16] = []
        units.reserveCapacity(rest.count / 2)
        for place in stride(from: 0, to: rest.count - 1, by: 2) {
            let (first, second) = (UInt16(rest[place]), UInt16(rest[place + 1]))
            units.append(isBigEndian ? first << 8 | second : second << 8 | first)
        }
        var taken = units.count * 2
        if let last = units.last, UTF16.isLeadSurrogate(last) {
            units.removeLast()
            taken -= 2
        }
        rest.removeFirst(taken)
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    func widened(_ utf8: [UInt8]) -> [UInt8] {
        String(decoding: utf8, as: UTF8.self).utf16.flatMap { unit in
            let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
            return isBigEndian ? [high, low] : [low, high]
        }
    }
}

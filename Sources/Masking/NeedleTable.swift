/// Finds secrets anywhere in bytes: by their first eight bytes, then by length and digest.
///
/// Many secrets may begin alike, as JSON Web Tokens do: then bytes are digested once for each length that occurs, where one of
/// that length may end so.
struct NeedleTable: Sendable {
    private static let filterBits = 1 << 21
    /// By digest twice the entry, and one more where the needle counts, if it is short, as a whole word only.
    private var needles = DigestTable()
    private var lengths = BeginningTable()
    /// One bit for each beginning that some needle has, by its hash; sized at the first needle.
    private var filter: [UInt64] = []
    private(set) var longest = 0

    var isEmpty: Bool { needles.isEmpty }

    mutating func add(_ bytes: [UInt8], _ entry: Int32, standsAlone: Bool = true) {
        for start in stride(from: 0, to: bytes.count, by: SecretBook.longestPiece) {
            let piece = bytes[start..<min(bytes.count, start + SecretBook.longestPiece)]
            guard piece.count >= SecretBook.shortestSought else { continue }
            let digest = piece.withUnsafeBytes { NeedleTable.digest($0) }
            guard needles.add(Int(entry) << 1 | (standsAlone ? 1 : 0), for: digest) else { continue }
            let key = piece.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
            let ending = piece.suffix(8).withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
            lengths.add(piece.count, to: key, ending: ending)
            if filter.isEmpty { filter = Array(repeating: 0, count: NeedleTable.filterBits / 64) }
            let bit = NeedleTable.bit(key)
            filter[bit >> 6] |= 1 << UInt64(bit & 63)
            longest = max(longest, piece.count)
        }
    }

    /// Calls `found` for each secret from the beginning on, none inside another.
    func forEach(in bytes: UnsafeRawBufferPointer, _ found: (Range<Int>, Int32) -> Void) {
        guard !needles.isEmpty, bytes.count >= 8 else { return }
        filter.withUnsafeBufferPointer { filter in
            var place = 0
            let last = bytes.count - 8
            while place <= last {
                let key = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                let bit = NeedleTable.bit(key)
                if filter[bit >> 6] & (1 << UInt64(bit & 63)) != 0, let match = match(key, at: place, in: bytes) {
                    found(match.range, match.entry)
                    place = match.range.upperBound
                } else {
                    place += 1
                }
            }
        }
    }

    private func match(
        _ key: UInt64,
        at place: Int,
        in bytes: UnsafeRawBufferPointer
    ) -> (range: Range<Int>, entry: Int32)? {
        switch lengths[key] {
        case nil: return nil
        case .one(let length): return match(length, at: place, in: bytes)
        case .several(let lengths):
            for several in lengths where place + several.length <= bytes.count {
                let last = bytes.loadUnaligned(fromByteOffset: place + several.length - 8, as: UInt64.self)
                guard several.mayEnd(in: UInt64(littleEndian: last)) else { continue }
                if let match = match(several.length, at: place, in: bytes) { return match }
            }
            return nil
        }
    }

    private func match(
        _ length: Int,
        at place: Int,
        in bytes: UnsafeRawBufferPointer
    ) -> (range: Range<Int>, entry: Int32)? {
        let end = place + length
        guard end <= bytes.count,
            let needle = needles[NeedleTable.digest(UnsafeRawBufferPointer(rebasing: bytes[place..<end]))]
        else { return nil }
        // A short one inside a longer word or number is chance.
        if needle & 1 == 1, length < 16 {
            if place > 0, NeedleTable.joins(bytes[place - 1], bytes[place]), !isPercentEncoded(bytes, place - 1),
                !isEscape(bytes, place - 1)
            {
                return nil
            }
            if end < bytes.count, NeedleTable.joins(bytes[end - 1], bytes[end]) { return nil }
        }
        return (place..<end, Int32(needle >> 1))
    }

    /// Whether the byte at a place is the last of `%3D` or such.
    private func isPercentEncoded(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        place >= 2 && bytes[place - 2] == UInt8(ascii: "%") && ValueShape.isHexadecimal(bytes[place - 1])
            && ValueShape.isHexadecimal(bytes[place])
    }

    /// Whether the byte at a place is the last of `\n` and its like, or of a terminal's colour (`ESC[31m`).
    private func isEscape(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        guard place > 0 else { return false }
        if bytes[place - 1] == UInt8(ascii: "\\") { return "nrtbfv0".utf8.contains(bytes[place]) }
        guard bytes[place] == UInt8(ascii: "m") else { return false }
        var start = place - 1
        while start > 0, place - start < 12, bytes[start] &- 0x30 < 10 || bytes[start] == UInt8(ascii: ";") {
            start -= 1
        }
        return bytes[start] == UInt8(ascii: "[")
    }

    private static func joins(_ left: UInt8, _ right: UInt8) -> Bool {
        ValueShape.isLetterOrDigit(left) && ValueShape.isLetterOrDigit(right)
    }

    private static func bit(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 43)
    }

    static func digest(_ bytes: [UInt8]) -> Int { bytes.withUnsafeBytes { digest($0) } }

    static func digest(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}

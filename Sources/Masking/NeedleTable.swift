/// Finds secrets anywhere in bytes: by their first eight bytes, then by length and digest.
struct NeedleTable: Sendable {
    private struct Needle: Sendable {
        var length: Int
        var digest: Int
        var entry: Int32
        /// Whether it counts, where it is short, as a whole word only.
        var standsAlone: Bool
    }

    private static let filterBits = 1 << 21
    private var needles: [UInt64: [Needle]] = [:]
    /// One bit for each beginning that some needle has, by its hash; sized at the first needle.
    private var filter: [UInt64] = []
    private(set) var longest = 0

    var isEmpty: Bool { needles.isEmpty }

    mutating func add(_ bytes: [UInt8], _ entry: Int32, standsAlone: Bool = true) {
        for start in stride(from: 0, to: bytes.count, by: SecretBook.longestPiece) {
            let piece = bytes[start..<min(bytes.count, start + SecretBook.longestPiece)]
            guard piece.count >= SecretBook.shortestSought else { continue }
            let key = piece.prefix(8).enumerated().reduce(UInt64(0)) {
                $0 | UInt64($1.element) << UInt64($1.offset * 8)
            }
            let digest = NeedleTable.digest(Array(piece))
            let needle = Needle(length: piece.count, digest: digest, entry: entry, standsAlone: standsAlone)
            var known = needles[key] ?? []
            guard !known.contains(where: { $0.length == needle.length && $0.digest == needle.digest }) else { continue }
            known.append(needle)
            known.sort { $0.length > $1.length }
            needles[key] = known
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
                    found(place..<place + match.length, match.entry)
                    place += match.length
                } else {
                    place += 1
                }
            }
        }
    }

    private func match(_ key: UInt64, at place: Int, in bytes: UnsafeRawBufferPointer) -> Needle? {
        guard let candidates = needles[key] else { return nil }
        return candidates.first { needle in
            let end = place + needle.length
            guard end <= bytes.count else { return false }
            // A short one inside a longer word or number is chance.
            if needle.standsAlone, needle.length < 16 {
                if place > 0, NeedleTable.joins(bytes[place - 1], bytes[place]), !isPercentEncoded(bytes, place - 1) {
                    return false
                }
                if end < bytes.count, NeedleTable.joins(bytes[end - 1], bytes[end]) { return false }
            }
            return NeedleTable.digest(UnsafeRawBufferPointer(rebasing: bytes[place..<end])) == needle.digest
        }
    }

    /// Whether the byte at a place is the last of `%3D` or such.
    private func isPercentEncoded(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Bool {
        place >= 2 && bytes[place - 2] == UInt8(ascii: "%") && ValueShape.isHexadecimal(bytes[place - 1])
            && ValueShape.isHexadecimal(bytes[place])
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

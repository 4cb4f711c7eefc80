/// Finds secrets anywhere in bytes: by their first eight bytes, then by length and digest.
///
/// Many secrets may begin alike, as JSON Web Tokens do: then bytes are digested once for each length that occurs.
struct NeedleTable: Sendable {
    private struct Needle: Sendable {
        var entry: Int32
        /// Whether it counts, where it is short, as a whole word only.
        var standsAlone: Bool
    }

    private static let filterBits = 1 << 21
    /// By digest.
    private var needles: [Int: Needle] = [:]
    /// The lengths of the needles that begin with eight bytes, the longest first.
    private var lengths: [UInt64: [Int32]] = [:]
    /// One bit for each beginning that some needle has, by its hash; sized at the first needle.
    private var filter: [UInt64] = []
    private(set) var longest = 0

    var isEmpty: Bool { needles.isEmpty }

    mutating func add(_ bytes: [UInt8], _ entry: Int32, standsAlone: Bool = true) {
        for start in stride(from: 0, to: bytes.count, by: SecretBook.longestPiece) {
            let piece = bytes[start..<min(bytes.count, start + SecretBook.longestPiece)]
            guard piece.count >= SecretBook.shortestSought else { continue }
            let digest = NeedleTable.digest(Array(piece))
            guard needles[digest] == nil else { continue }
            needles[digest] = Needle(entry: entry, standsAlone: standsAlone)
            let key = piece.prefix(8).enumerated().reduce(UInt64(0)) {
                $0 | UInt64($1.element) << UInt64($1.offset * 8)
            }
            let length = Int32(piece.count)
            if lengths[key, default: []].contains(length) { continue }
            let place = lengths[key, default: []].firstIndex { $0 < length }
            lengths[key, default: []].insert(length, at: place ?? lengths[key, default: []].endIndex)
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
        for length in lengths[key] ?? [] {
            let end = place + Int(length)
            guard end <= bytes.count else { continue }
            let digest = NeedleTable.digest(UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
            guard let needle = needles[digest] else { continue }
            // A short one inside a longer word or number is chance.
            if needle.standsAlone, length < 16 {
                if place > 0, NeedleTable.joins(bytes[place - 1], bytes[place]), !isPercentEncoded(bytes, place - 1) {
                    continue
                }
                if end < bytes.count, NeedleTable.joins(bytes[end - 1], bytes[end]) { continue }
            }
            return (place..<end, needle.entry)
        }
        return nil
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

/// Texts that are kept once each, one after the other in memory, and named by numbers.
struct TextPool: Sendable {
    /// When there are so many bytes, further texts are cut to ``cut`` bytes.
    static let roomy = 24 << 20
    static let cut = 16

    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]
    /// Numbers of texts plus one, by hash; zero where there is none.
    private var table = [UInt32](repeating: 0, count: 1 << 10)

    var count: Int { starts.count - 1 }

    /// The number of a text, a new one where it has none.
    mutating func number(of text: UnsafeBufferPointer<UInt8>) -> Int {
        number(of: text, most: Int(Int32.max)) ?? 0
    }

    /// The number of a text; `nil` where it has none and there are so many already.
    mutating func number(of text: UnsafeBufferPointer<UInt8>, most: Int) -> Int? {
        let text = bytes.count < Self.roomy ? text : UnsafeBufferPointer(rebasing: text.prefix(Self.cut))
        var slot = Self.hash(text) & (table.count - 1)
        while table[slot] != 0 {
            let number = Int(table[slot]) - 1
            if isEqual(number, text) { return number }
            slot = (slot + 1) & (table.count - 1)
        }
        guard count < most else { return nil }
        bytes.append(contentsOf: text)
        starts.append(bytes.count)
        table[slot] = UInt32(count)
        if count * 2 > table.count { grow() }
        return count - 1
    }

    func text(_ number: Int) -> String {
        String(decoding: bytes[starts[number]..<starts[number + 1]], as: UTF8.self)
    }

    /// For each number its text's place among all of them, by their bytes.
    func ranks() -> [UInt32] {
        let order = bytes.withUnsafeBufferPointer { bytes in
            starts.withUnsafeBufferPointer { starts in
                (0..<count).sorted { left, right in
                    var first = starts[left]
                    var second = starts[right]
                    let (firstEnd, secondEnd) = (starts[left + 1], starts[right + 1])
                    while first < firstEnd, second < secondEnd {
                        if bytes[first] != bytes[second] { return bytes[first] < bytes[second] }
                        first += 1
                        second += 1
                    }
                    return firstEnd - first < secondEnd - second
                }
            }
        }
        var ranks = [UInt32](repeating: 0, count: count)
        for (rank, number) in order.enumerated() { ranks[number] = UInt32(rank) }
        return ranks
    }

    private func isEqual(_ number: Int, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let start = starts[number]
        guard starts[number + 1] - start == text.count else { return false }
        for index in 0..<text.count where bytes[start + index] != text[index] { return false }
        return true
    }

    private mutating func grow() {
        var larger = [UInt32](repeating: 0, count: table.count * 2)
        bytes.withUnsafeBufferPointer { bytes in
            for number in 0..<count {
                let text = UnsafeBufferPointer(rebasing: bytes[starts[number]..<starts[number + 1]])
                var slot = Self.hash(text) & (larger.count - 1)
                while larger[slot] != 0 { slot = (slot + 1) & (larger.count - 1) }
                larger[slot] = UInt32(number + 1)
            }
        }
        table = larger
    }

    /// FNV-1a, its bits mixed so that the low ones tell.
    private static func hash(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash ^= hash >> 32
        return Int(truncatingIfNeeded: hash & 0x7FFF_FFFF)
    }
}

/// Numbers by digests, in flat arrays of twelve bytes a place, of which three in four are used at most.
///
/// A digest is keyed, so that nobody can choose texts whose digests fall on the same place.
struct DigestTable: Sendable {
    private var digests: [Int] = []
    /// One more than the number; 0 where a place is free.
    private var numbers: [UInt32] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    subscript(digest: Int) -> Int? {
        guard count > 0 else { return nil }
        let number = numbers[place(of: digest)]
        return number == 0 ? nil : Int(number - 1)
    }

    /// Adds a number of at most 31 bits; where the digest has one, that one stays. Returns whether it was added.
    mutating func add(_ number: Int, for digest: Int) -> Bool {
        if 4 * (count + 1) > 3 * numbers.count { grow() }
        let place = place(of: digest)
        guard numbers[place] == 0 else { return false }
        (digests[place], numbers[place]) = (digest, UInt32(number) + 1)
        count += 1
        return true
    }

    /// Where a digest is, or where there is room for it.
    private func place(of digest: Int) -> Int {
        let last = numbers.count - 1
        var place = digest & last
        while numbers[place] != 0, digests[place] != digest { place = (place + 1) & last }
        return place
    }

    private mutating func grow() {
        let old = self
        let size = max(16, 2 * numbers.count)
        (digests, numbers) = (Array(repeating: 0, count: size), Array(repeating: 0, count: size))
        for (index, number) in old.numbers.enumerated() where number > 0 {
            let place = place(of: old.digests[index])
            (digests[place], numbers[place]) = (old.digests[index], number)
        }
    }
}

/// Digests that came lately: of those that fall on the same place the last one is known.
struct RecentDigests {
    private static let size = 1 << 15
    /// A place that is free has a digest of another place.
    private var places: [Int] = []

    /// Returns whether a digest is not known; then it is.
    mutating func insert(_ digest: Int) -> Bool {
        if places.isEmpty { places = (0..<RecentDigests.size).map { ~$0 } }
        let place = digest & (RecentDigests.size - 1)
        defer { places[place] = digest }
        return places[place] != digest
    }
}

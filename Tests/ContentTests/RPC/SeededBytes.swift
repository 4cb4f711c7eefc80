/// Random changes to bytes that a seed brings back (SplitMix64).
struct SeededBytes: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Changes, removes, repeats or inserts a few bytes.
    mutating func mutate(_ bytes: inout [UInt8]) {
        for _ in 0..<Int.random(in: 0...4, using: &self) {
            let place = Int.random(in: 0...bytes.count, using: &self)
            switch Int.random(in: 0..<5, using: &self) {
            case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
            case 1 where place < bytes.count: bytes[place] = [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &self) ?? 0
            case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 0...8, using: &self)))
            case 3: bytes.insert(contentsOf: bytes.prefix(Int.random(in: 0...16, using: &self)), at: place)
            default: bytes.insert(UInt8.random(in: 0...255, using: &self), at: place)
            }
        }
    }
}

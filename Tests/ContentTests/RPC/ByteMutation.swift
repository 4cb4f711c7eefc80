import Support

extension SplitMix {
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

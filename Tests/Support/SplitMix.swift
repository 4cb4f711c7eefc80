/// Random numbers that follow from a seed (SplitMix64), so that a test that failed can be run again.
package struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    /// Begins with a seed.
    package init(_ seed: UInt64) {
        state = seed
    }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &self) }

    /// Up to `count` of some pieces, one after the other.
    package mutating func text(of alphabet: [String], upTo count: Int) -> String {
        (0..<number(below: count + 1)).map { _ in alphabet[number(below: alphabet.count)] }.joined()
    }
}

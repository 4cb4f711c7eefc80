import Foundation

/// SHA-256 (FIPS 180-4), to check digests that are constants elsewhere.
enum SHA256 {
    /// The digest of a text in UTF-8, in base64.
    static func base64(_ text: String) -> String { Data(digest(Array(text.utf8))).base64EncodedString() }

    private static func digest(_ message: [UInt8]) -> [UInt8] {
        var state = primes(8).map { fraction(Double($0).squareRoot()) }
        let constants = primes(64).map { fraction(cbrt(Double($0))) }
        var bytes = message + [0x80]
        while bytes.count % 64 != 56 { bytes.append(0) }
        bytes += withUnsafeBytes(of: UInt64(message.count * 8).bigEndian) { Array($0) }
        for start in stride(from: 0, to: bytes.count, by: 64) {
            var words = (0..<16).map { word in
                bytes[(start + word * 4)..<(start + word * 4 + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<64 {
                let (early, late) = (words[index - 15], words[index - 2])
                let first = rotated(early, 7) ^ rotated(early, 18) ^ early >> 3
                let second = rotated(late, 17) ^ rotated(late, 19) ^ late >> 10
                words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
            }
            var s = state
            for index in 0..<64 {
                let high = rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)
                let choice = (s[4] & s[5]) ^ (~s[4] & s[6])
                let one = s[7] &+ high &+ choice &+ constants[index] &+ words[index]
                let low = rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)
                let majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2])
                s = [one &+ low &+ majority, s[0], s[1], s[2], s[3] &+ one, s[4], s[5], s[6]]
            }
            state = zip(state, s).map { $0 &+ $1 }
        }
        return state.flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 { word >> count | word << (32 - count) }

    private static func primes(_ count: Int) -> [Int] {
        var primes: [Int] = []
        var number = 2
        while primes.count < count {
            if primes.allSatisfy({ number % $0 != 0 }) { primes.append(number) }
            number += 1
        }
        return primes
    }

    /// The first 32 bits of a number's fraction.
    private static func fraction(_ number: Double) -> UInt32 {
        UInt32((number - number.rounded(.down)) * 4_294_967_296)
    }
}

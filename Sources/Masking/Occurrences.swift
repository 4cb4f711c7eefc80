import Synchronization

/// Which eight bytes stand one after the other in what is exported: of the secrets that other exchanges show, only those
/// count that may stand there.
///
/// It may say of bytes that they stand there though they do not, never the other way round.
final class Occurrences: Sendable {
    private static let bitCount = 1 << 24
    /// Of a secret so many bytes at its ends are looked for: in any coding they are eight and more. Of letters beyond ASCII
    /// more, as ISO 8859-1 has one byte for two.
    private static func end(of secret: [UInt8]) -> Int { secret.contains { $0 >= 0x80 } ? 24 : 12 }

    private let bits = Mutex<[UInt64]>([])

    func add(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return }
        bits.withLock { bits in
            if bits.isEmpty { bits = Array(repeating: 0, count: Occurrences.bitCount / 64) }
            bits.withUnsafeMutableBufferPointer { bits in
                for place in 0...(bytes.count - 8) {
                    let bit = Occurrences.bit(bytes, place)
                    bits[bit >> 6] |= 1 << UInt64(bit & 63)
                }
            }
        }
    }

    /// Whether a secret of at least eight bytes may stand there, in any form in which it is looked for.
    func mayHold(_ secret: [UInt8]) -> Bool {
        let end = Occurrences.end(of: secret)
        let beginning = Array(secret.prefix(end))
        if SecretForms.encoded(beginning).contains(where: { has($0, at: 0) }) { return true }
        guard SecretForms.all(of: beginning).contains(where: { has($0, at: 0) }) else { return false }
        // Many begin alike, as JSON Web Tokens do.
        let ending = Array(secret.suffix(end))
        return SecretForms.all(of: ending).contains { has($0, at: $0.count - 8) }
    }

    private func has(_ form: [UInt8], at place: Int) -> Bool {
        guard place >= 0, form.count >= place + 8 else { return false }
        let bit = form.withUnsafeBytes { Occurrences.bit($0, place) }
        return bits.withLock { !$0.isEmpty && $0[bit >> 6] & (1 << UInt64(bit & 63)) != 0 }
    }

    private static func bit(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Int {
        let eight = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
        return Int(truncatingIfNeeded: (eight &* 0x9E37_79B9_7F4A_7C15) >> 40)
    }
}

import COpenSSL

/// Makes the digits of placeholders from secrets, so that the same secret has the same placeholder in all recordings with
/// this key, and nobody without the key can try secrets.
package struct LabelKey: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// A new key of 32 random bytes.
    package init() {
        var generator = SystemRandomNumberGenerator()
        bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }

    /// The first 24 bits of the HMAC (RFC 2104) with SHA-256.
    package func label(_ secret: [UInt8]) -> UInt32 {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = HMAC(EVP_sha256(), bytes, CInt(clamping: bytes.count), secret, secret.count, &digest, nil)
        return digest.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

import Text

/// Up to four digits of base64 (RFC 4648 §4), which encode up to three bytes. gRPC-Web encodes each piece that a sender
/// flushes separately, so padding may occur after any piece.
struct Base64Group: Sendable {
    enum Step {
        case needsMore
        case whole(Decoded)
        case invalid
    }

    struct Decoded {
        /// The first byte is the highest of 24 bits.
        let bits: UInt32
        let count: Int

        func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
            try withUnsafeBytes(of: (bits << 8).bigEndian) {
                try body(UnsafeRawBufferPointer(rebasing: $0.prefix(count)))
            }
        }
    }

    private var bits: UInt32 = 0
    private var digits = 0
    private var padding = 0

    /// Whether a group has begun and not ended.
    var hasDigits: Bool { digits > 0 }

    /// Reads the next character; line breaks are ignored.
    mutating func take(_ character: UInt8) -> Step {
        if character == 0x0A || character == 0x0D { return .needsMore }
        if character == UInt8(ascii: "=") {
            guard digits >= 2 else { return .invalid }
            padding += 1
        } else if padding == 0, character != UInt8(ascii: "-"), character != UInt8(ascii: "_"),
            let value = Base64Text.value(of: character)
        {
            bits = bits << 6 | value
            digits += 1
        } else {
            return .invalid
        }
        guard digits + padding == 4 else { return .needsMore }
        return .whole(end())
    }

    /// The bytes of a last group that has no padding; `nil` if a digit is missing.
    mutating func unpadded() -> Decoded? { digits >= 2 ? end() : nil }

    private mutating func end() -> Decoded {
        let decoded = Decoded(bits: bits << (6 * UInt32(4 - digits)), count: digits - 1)
        self = Base64Group()
        return decoded
    }
}

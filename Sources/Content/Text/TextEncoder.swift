package import NIOCore

/// Writes text in the encodings that ``TextDecoder`` reads, without a byte order mark.
package enum TextEncoder {
    package enum Refusal: Error, Equatable {
        case charset
        /// The first character that the encoding does not have.
        case character(Unicode.Scalar)
    }

    /// Whether each text has only one encoded form, so that encoding decoded text gives the original bytes.
    package static func hasOneForm(_ charset: Charset) -> Bool {
        [.utf8, .windows1252, .utf16LittleEndian, .utf16BigEndian].contains(charset)
    }

    package static func encode(_ utf8: [UInt8], as charset: Charset) throws(Refusal) -> [UInt8] {
        switch charset {
        case .utf8: return utf8
        case .utf16LittleEndian, .utf16BigEndian:
            return String(decoding: utf8, as: UTF8.self).utf16.flatMap { unit in
                let bytes = [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
                return charset == .utf16LittleEndian ? bytes : bytes.reversed()
            }
        case .windows1252:
            var bytes: [UInt8] = []
            bytes.reserveCapacity(utf8.count)
            for scalar in String(decoding: utf8, as: UTF8.self).unicodeScalars {
                let isLatin1 = scalar.value < 0x80 || (0xA0...0xFF).contains(scalar.value)
                guard let byte = isLatin1 ? UInt8(exactly: scalar.value) : windows1252[scalar] else {
                    throw .character(scalar)
                }
                bytes.append(byte)
            }
            return bytes
        default: return try convert(utf8, to: charset)
        }
    }

    /// Encodes a text; `nil` if ``TextDecoder`` would not read exactly the same text back.
    package static func exactly(_ text: String, as charset: Charset) -> ByteBuffer? {
        guard charset != .utf8 else { return ByteBuffer(string: text) }
        guard let bytes = try? encode(Array(text.utf8), as: charset) else { return nil }
        let buffer = ByteBuffer(bytes: bytes)
        let read = TextDecoder.decode(buffer, as: charset)
        return read.invalidCount == 0 && !read.isFallback && read.text == text ? buffer : nil
    }

    private static let windows1252 = [Unicode.Scalar: UInt8](
        (UInt8(0x80)...0x9F).map { (TextDecoder.windows1252Scalar($0), $0) },
        uniquingKeysWith: { first, _ in first }
    )

    private static func convert(_ utf8: [UInt8], to charset: Charset) throws(Refusal) -> [UInt8] {
        var refused: Int?
        let output = TextConversion.convert(utf8, from: "UTF-8", to: charset.name) { offset, _ in
            refused = offset
            return nil
        }
        guard let output else { throw .charset }
        guard let refused else { return output }
        throw .character(String(decoding: utf8[refused...].prefix(4), as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}")
    }
}

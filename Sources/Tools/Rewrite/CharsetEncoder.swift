import Content
import NIOCore
import Rules

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Encodes text in the character encodings that `TextDecoder` reads: UTF-16 and windows-1252 here, others by `iconv`.
enum CharsetEncoder {
    /// Whether decoded text is always encoded as it was.
    static func isExact(_ charset: Charset) -> Bool {
        [.utf8, .windows1252, .utf16LittleEndian, .utf16BigEndian].contains(charset)
    }

    /// Encodes valid UTF-8, without a byte order mark.
    ///
    /// - Throws: ``UnusableEditError`` where the encoding is not known, or does not have a character.
    static func encode(_ utf8: [UInt8], as charset: Charset) throws(UnusableEditError) -> [UInt8] {
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
                    throw refusal(scalar, charset)
                }
                bytes.append(byte)
            }
            return bytes
        default: return try convert(utf8, to: charset)
        }
    }

    private static func refusal(_ scalar: Unicode.Scalar, _ charset: Charset) -> UnusableEditError {
        UnusableEditError(reason: "'\(scalar)' cannot be written in \(charset)")
    }

    /// The characters of 0x80...0x9F, as the decoder reads them.
    private static let windows1252: [Unicode.Scalar: UInt8] = {
        var bytes: [Unicode.Scalar: UInt8] = [:]
        for byte in UInt8(0x80)...0x9F {
            let text = TextDecoder.decode(ByteBuffer(bytes: [byte]), as: .windows1252).text
            if let scalar = text.unicodeScalars.first { bytes[scalar] = byte }
        }
        return bytes
    }()

    private static func convert(_ utf8: [UInt8], to charset: Charset) throws(UnusableEditError) -> [UInt8] {
        // More than a name would be an option to the converter.
        let isName = charset.name.utf8.allSatisfy { $0.isTokenByte || $0 == UInt8(ascii: ":") }
        guard isName, let converter = iconv_open(charset.name, "UTF-8"), converter != iconv_t(bitPattern: -1) else {
            throw UnusableEditError(reason: "nothing can be written in its charset '\(charset)'")
        }
        defer { iconv_close(converter) }
        var input = utf8
        var output: [UInt8] = []
        var refused: Int?
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        input.withUnsafeMutableBytes { source in
            var next = source.assumingMemoryBound(to: CChar.self).baseAddress
            var left = source.count
            var isFlushing = false
            while true {
                let (code, written) = piece.withUnsafeMutableBytes { target in
                    var place = target.assumingMemoryBound(to: CChar.self).baseAddress
                    var room = target.count
                    // Without input it writes what ends a text, as in ISO-2022-JP.
                    let result =
                        isFlushing
                        ? iconv(converter, nil, nil, &place, &room) : iconv(converter, &next, &left, &place, &room)
                    return (Int(bitPattern: UInt(bitPattern: result)) == -1 ? errno : 0, target.count - room)
                }
                output.append(contentsOf: piece[..<written])
                if code == E2BIG, written > 0 { continue }
                if code != 0 {
                    refused = source.count - left
                    return
                }
                if isFlushing { return }
                isFlushing = true
            }
        }
        guard let refused else { return output }
        let scalar = String(decoding: utf8[refused...].prefix(4), as: UTF8.self).unicodeScalars.first ?? "\u{FFFD}"
        throw refusal(scalar, charset)
    }
}

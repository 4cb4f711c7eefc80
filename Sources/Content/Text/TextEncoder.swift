import Foundation
package import NIOCore

/// Writes text as bytes in the character encodings that ``TextDecoder`` reads.
package enum TextEncoder {
    /// The bytes of a text, without a byte order mark; `nil` where the encoding is unknown, or lacks one of the characters,
    /// so that reading the bytes would give another text.
    package static func encode(_ text: String, as charset: Charset) -> ByteBuffer? {
        guard charset != .utf8 else { return ByteBuffer(string: text) }
        let bytes = charset == .windows1252 ? windows1252(text) : convert(Array(text.utf8), to: charset)
        guard let bytes else { return nil }
        let read = TextDecoder.decode(bytes, as: charset)
        return read.invalidCount == 0 && !read.isFallback && read.text == text ? bytes : nil
    }

    private static func windows1252(_ text: String) -> ByteBuffer? {
        var bytes = ByteBuffer()
        bytes.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if scalar.value < 0x80 || (0xA0...0xFF).contains(scalar.value) {
                bytes.writeInteger(UInt8(scalar.value))
            } else if let byte = (UInt8(0x80)...0x9F).first(where: { TextDecoder.windows1252Scalar($0) == scalar }) {
                bytes.writeInteger(byte)
            } else {
                return nil
            }
        }
        return bytes
    }

    private static func convert(_ input: [UInt8], to charset: Charset) -> ByteBuffer? {
        guard Charset.isPlausible(charset.name), let converter = iconv_open(charset.name, "UTF-8"),
            converter != iconv_t(bitPattern: -1)
        else { return nil }
        defer { iconv_close(converter) }
        var input = input
        var output = ByteBuffer()
        var piece = [UInt8](repeating: 0, count: 16 * 1024)
        let isWhole = input.withUnsafeMutableBytes { source in
            var next = source.assumingMemoryBound(to: CChar.self).baseAddress
            var left = source.count
            var isEnding = left == 0
            while true {
                let (isDone, written) = piece.withUnsafeMutableBytes { target in
                    var place = target.assumingMemoryBound(to: CChar.self).baseAddress
                    var room = target.count
                    // At the end it goes back to its first state, for encodings that have several.
                    let result =
                        isEnding
                        ? iconv(converter, nil, nil, &place, &room) : iconv(converter, &next, &left, &place, &room)
                    let failed = result == Int(bitPattern: UInt.max) || result == -1
                    return (failed ? errno == E2BIG ? false : nil : true, target.count - room)
                }
                output.writeBytes(piece[..<written])
                guard let isDone, isDone || written > 0 else { return false }
                if isDone, isEnding { return true }
                if isDone { isEnding = true }
            }
        }
        return isWhole ? output : nil
    }
}

import NIOCore

/// Converts text files piece by piece to UTF-8, from UTF-8, UTF-16, or the encoding that XML declares.
package enum UTF8Pieces {
    package struct EncodingError: Error, CustomStringConvertible {
        package let description: String
    }

    private enum Encoding {
        case utf8, windows1252
        case utf16(isBigEndian: Bool)
    }

    /// How many bytes determine the encoding: a byte order mark, the first characters, or the XML declaration.
    private static let tellingBytes = 256

    /// Converts pieces to UTF-8; an empty piece means the end.
    package static func utf8(_ refill: @escaping () throws -> [UInt8]) -> () throws -> [UInt8] {
        var encoding: Encoding?
        var rest: [UInt8] = []
        return {
            while true {
                var piece = try refill()
                let isEnd = piece.isEmpty
                piece = rest + piece
                rest = []
                if encoding == nil, piece.count < tellingBytes, !isEnd {
                    rest = piece
                    continue
                }
                let known = try encoding ?? UTF8Pieces.encoding(of: piece)
                encoding = known
                let text: [UInt8]
                (text, rest) = converted(piece, known, isEnd: isEnd)
                if isEnd || !text.isEmpty { return text }
            }
        }
    }

    /// Converts the beginning of a file to UTF-8; returns it unchanged if the encoding is not supported.
    package static func utf8(beginning bytes: [UInt8]) -> [UInt8] {
        guard let encoding = try? encoding(of: bytes) else { return bytes }
        return converted(bytes, encoding, isEnd: false).text
    }

    private static func encoding(of bytes: [UInt8]) throws -> Encoding {
        if let (mark, _) = Charset.byteOrderMark(bytes), mark != .utf8 {
            return .utf16(isBigEndian: mark == .utf16BigEndian)
        }
        let start = bytes.prefix(2)
        let signs = "<{[".utf8
        if start.count == 2, start.last == 0, signs.contains(bytes[0]) { return .utf16(isBigEndian: false) }
        if start.count == 2, start.first == 0, signs.contains(bytes[1]) { return .utf16(isBigEndian: true) }
        let text = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
        guard text.starts(with: "<?xml".utf8) else { return .utf8 }
        let charset = Charset.detect(in: ByteBuffer(bytes: text.prefix(tellingBytes)), mediaType: MediaType("text/xml"))
        switch charset {
        case .utf8: return .utf8
        case .windows1252: return .windows1252
        default:
            let message = "its encoding '\(charset)' is not read; there are UTF-8, UTF-16 and ISO-8859-1"
            throw EncodingError(description: message)
        }
    }

    private static func converted(
        _ bytes: [UInt8],
        _ encoding: Encoding,
        isEnd: Bool
    ) -> (text: [UInt8], rest: [UInt8]) {
        switch encoding {
        case .utf8: return (bytes, [])
        case .windows1252:
            return (Array(TextDecoder.decode(ByteBuffer(bytes: bytes), as: .windows1252).text.utf8), [])
        case .utf16(let isBigEndian):
            var units = stride(from: 0, to: bytes.count - 1, by: 2).map { place in
                UInt16(bytes[place + (isBigEndian ? 0 : 1)]) << 8 | UInt16(bytes[place + (isBigEndian ? 1 : 0)])
            }
            // The other half of a surrogate pair is in the next piece.
            if !isEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
            let rest = Array(bytes[(units.count * 2)...])
            if units.first == 0xFEFF { units.removeFirst() }
            return (Array(String(decoding: units, as: UTF16.self).utf8), isEnd ? [] : rest)
        }
    }
}

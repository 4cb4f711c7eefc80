package import NIOCore

package struct DecodedText: Sendable, Hashable {
    /// The text without a byte order mark; invalid bytes became U+FFFD.
    package var text: String
    package var charset: Charset
    package var invalidCount: Int
    /// Whether the requested encoding is unknown, so that another one was used.
    package var isFallback: Bool
}

/// Reads text in the encodings of HTTP messages: UTF-8 and windows-1252 here, the others by the system's `iconv`.
package enum TextDecoder {
    /// Reads bytes in an encoding; falls back to UTF-8 or windows-1252 if the system does not know it.
    package static func decode(_ bytes: ByteBuffer, as charset: Charset) -> DecodedText {
        var view = bytes.readableBytesView
        if let (marked, length) = Charset.byteOrderMark(view), marked == charset { view = view.dropFirst(length) }
        switch charset {
        case .utf8: return readUTF8(view)
        case .windows1252:
            let text = String(String.UnicodeScalarView(view.map(windows1252Scalar)))
            return DecodedText(text: text, charset: charset, invalidCount: 0, isFallback: false)
        default:
            if let converted = convert(Array(view), from: charset) { return converted }
            var fallback = decode(bytes, as: UTF8Check.isValid(view, allowingCutEnd: true) ? .utf8 : .windows1252)
            fallback.isFallback = true
            return fallback
        }
    }

    /// Whether the first 4 KiB can be read as text: no NUL, few control characters, or a byte order mark of UTF-16.
    package static func isText(_ bytes: ByteBuffer) -> Bool {
        let view = bytes.readableBytesView.prefix(4096)
        if let (marked, _) = Charset.byteOrderMark(view), marked != .utf8 { return true }
        var controls = 0
        for byte in view {
            if byte == 0 { return false }
            let isLayout = (0x09...0x0D).contains(byte) || byte == 0x1B
            if byte < 0x20 && !isLayout || byte == 0x7F { controls += 1 }
        }
        guard controls * 100 <= view.count else { return false }
        if UTF8Check.isValid(view, allowingCutEnd: true) { return true }
        // Text in an older encoding is mostly ASCII or in runs of high bytes, without any control characters.
        let highBytes = view.lazy.filter { $0 >= 0x80 }.count
        return controls == 0 && highBytes * 3 <= view.count
    }

    private static func readUTF8(_ bytes: some Collection<UInt8>) -> DecodedText {
        if let text = String(validating: bytes, as: UTF8.self) {
            return DecodedText(text: text, charset: .utf8, invalidCount: 0, isFallback: false)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let replaced = text.unicodeScalars.lazy.filter { $0 == "\u{FFFD}" }.count
        return DecodedText(text: text, charset: .utf8, invalidCount: max(replaced, 1), isFallback: false)
    }

    /// The WHATWG reading of 0x80...0x9F: the five bytes without a character stay control characters.
    private static let windows1252High: [UInt16] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ]

    static func windows1252Scalar(_ byte: UInt8) -> Unicode.Scalar {
        guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
        return Unicode.Scalar(windows1252High[Int(byte - 0x80)]) ?? "\u{FFFD}"
    }

    private static func convert(_ input: [UInt8], from charset: Charset) -> DecodedText? {
        var invalidCount = 0
        let output = TextConversion.convert(input, from: charset.name, to: "UTF-8") { offset, isCutOff in
            invalidCount += 1
            return isCutOff ? input.count - offset : 1
        }
        return output.map { output in
            let text = String(decoding: output, as: UTF8.self)
            return DecodedText(text: text, charset: charset, invalidCount: invalidCount, isFallback: false)
        }
    }
}

/// Converts the encodings of settings files to UTF-8.
///
/// A byte-order mark decides; without one, what the first bytes show of the XML declaration does (XML 1.0, appendix F).
enum XMLEncoding {
    /// The text in UTF-8, without a byte-order mark.
    ///
    /// - Throws: ``CharlesError`` for other encodings, and for bytes that are not what they are said to be.
    static func utf8(_ bytes: [UInt8]) throws(CharlesError) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return try checked(Array(bytes.dropFirst(3))) }
        if bytes.starts(with: [0xFE, 0xFF]) { return try fromUTF16(bytes.dropFirst(2), isBigEndian: true) }
        if bytes.starts(with: [0xFF, 0xFE]) { return try fromUTF16(bytes.dropFirst(2), isBigEndian: false) }
        if bytes.starts(with: [0x00, 0x3C]) { return try fromUTF16(bytes[...], isBigEndian: true) }
        if bytes.starts(with: [0x3C, 0x00]) { return try fromUTF16(bytes[...], isBigEndian: false) }
        let name = declared(bytes)
        switch name.lowercased() {
        case "", "utf-8", "utf8", "us-ascii", "ascii": return try checked(bytes)
        case "iso-8859-1", "iso8859-1", "latin1", "latin-1":
            return bytes.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
        case "utf-16", "utf16": throw CharlesError(message: "the file says that it is UTF-16, but its bytes are not")
        default:
            let message = "the encoding '\(name.prefix(40))' is not taken; there are UTF-8, UTF-16 and ISO-8859-1"
            throw CharlesError(message: message)
        }
    }

    /// The encoding that the XML declaration names; empty where it names none.
    private static func declared(_ bytes: [UInt8]) -> String {
        guard bytes.starts(with: "<?xml".utf8) else { return "" }
        let start = String(decoding: bytes.prefix(256), as: UTF8.self)
        guard let end = start.firstRange(of: "?>"), let key = start[..<end.lowerBound].firstRange(of: "encoding") else {
            return ""
        }
        let rest = start[key.upperBound..<end.lowerBound].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = rest.first, quote == "'" || quote == "\"" else { return "" }
        return String(rest.dropFirst().prefix { $0 != quote })
    }

    private static func checked(_ bytes: [UInt8]) throws(CharlesError) -> [UInt8] {
        if String(validating: bytes, as: UTF8.self) != nil { return bytes }
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var offset = 0
        while case .valid(let character) = parser.parseScalar(from: &rest) { offset += character.count }
        throw XMLReader.failure("these bytes are not UTF-8, as the file says or leaves open", in: bytes, at: offset)
    }

    private static func fromUTF16(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) throws(CharlesError) -> [UInt8] {
        guard bytes.count.isMultiple(of: 2) else { throw CharlesError(message: "the file ends within a UTF-16 unit") }
        let units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw CharlesError(message: "the file has half a UTF-16 surrogate pair in it")
        }
        return Array(text.utf8)
    }
}

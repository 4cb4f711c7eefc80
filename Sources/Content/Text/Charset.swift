package import NIOCore

/// An encoding with its name in lower case.
package struct Charset: Sendable, Hashable, CustomStringConvertible {
    package let name: String

    /// As in browsers, `iso-8859-1` and `us-ascii` mean windows-1252, a superset of both.
    package init(_ label: some StringProtocol) {
        let label = label.lowercased()
        switch label {
        case "utf8", "unicode-1-1-utf-8": name = "utf-8"
        case "utf-16", "utf16", "ucs-2": name = "utf-16le"
        case "latin1", "latin-1", "l1", "iso-8859-1", "iso8859-1", "iso_8859-1", "us-ascii", "ascii", "cp1252",
            "x-cp1252", "ansi_x3.4-1968":
            name = "windows-1252"
        case "sjis", "x-sjis", "shift-jis", "windows-31j", "ms_kanji": name = "shift_jis"
        case "gb2312", "x-gbk": name = "gbk"
        case "ks_c_5601-1987", "korean": name = "euc-kr"
        default: name = label
        }
    }

    package static let utf8 = Charset("utf-8")
    package static let utf16LittleEndian = Charset("utf-16le")
    package static let utf16BigEndian = Charset("utf-16be")
    /// The superset of Latin-1 that browsers use instead of Latin-1.
    package static let windows1252 = Charset("windows-1252")

    package var description: String { name }

    /// How many bytes of a document are searched for a declaration of its encoding (HTML §13.2.3.2).
    private static let declarationPrefix = 1024

    /// Finds the character encoding of a body without content coding, or of its beginning. In this order: byte order
    /// mark, `charset` parameter, declaration inside HTML or XML, UTF-8 if the bytes are valid, windows-1252.
    package static func detect(in bytes: ByteBuffer, mediaType: MediaType?) -> Charset {
        let view = bytes.readableBytesView
        if let (charset, _) = byteOrderMark(view) { return charset }
        if let label = mediaType?.parameter("charset"), isPlausible(label) { return Charset(label) }
        if mediaType?.isXML == true || mediaType?.essence == "text/html", let label = declared(in: view) {
            // A declaration that can be read as ASCII is not in UTF-16 (HTML §13.2.3.2, last steps).
            let charset = Charset(label)
            return charset.name.hasPrefix("utf-16") ? .utf8 : charset
        }
        return UTF8Check.isValid(view, allowingCutEnd: true) ? .utf8 : .windows1252
    }

    /// The encoding of a byte order mark, and the mark's length in bytes.
    static func byteOrderMark(_ bytes: some Collection<UInt8>) -> (Charset, length: Int)? {
        let start = Array(bytes.prefix(3))
        if start == [0xEF, 0xBB, 0xBF] { return (.utf8, 3) }
        if start.starts(with: [0xFF, 0xFE]) { return (.utf16LittleEndian, 2) }
        if start.starts(with: [0xFE, 0xFF]) { return (.utf16BigEndian, 2) }
        return nil
    }

    /// Whether a label is safe to pass to the system's converter, which reads other characters as options.
    static func isPlausible(_ label: some StringProtocol) -> Bool {
        (1...40).contains(label.utf8.count)
            && label.utf8.allSatisfy { byte in
                byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "._:-".utf8.contains(byte)
            }
    }

    /// The label in `<meta charset=…>`, `<meta … content="…; charset=…">` or `<?xml … encoding=…?>`.
    private static func declared(in bytes: ByteBufferView) -> String? {
        let head = String(decoding: bytes.prefix(declarationPrefix).map { $0 < 0x80 ? $0 : 0x3F }, as: UTF8.self)
            .lowercased()
        if head.hasPrefix("<?xml"), let end = head.range(ofASCII: "?>") {
            return label(after: "encoding", in: head[..<end.lowerBound])
        }
        var rest = head[...]
        while let meta = rest.range(ofASCII: "<meta") {
            let tag = rest[meta.upperBound...].prefix { $0 != ">" }
            if let label = label(after: "charset", in: tag) { return label }
            rest = rest[tag.endIndex...]
        }
        return nil
    }

    private static func label(after name: String, in text: Substring) -> String? {
        guard let found = text.range(ofASCII: name) else { return nil }
        let rest = text[found.upperBound...].drop { $0.isWhitespace }
        guard rest.first == "=" else { return nil }
        let value = rest.dropFirst().drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
        let label = value.prefix { !$0.isWhitespace && !"\"';/>".contains($0) }
        return isPlausible(label) ? String(label) : nil
    }
}

extension StringProtocol {
    func range(ofASCII needle: String) -> Range<Index>? {
        let needle = Array(needle.utf8)
        var start = utf8.startIndex
        while let first = utf8[start...].firstIndex(where: { $0 == needle.first }) {
            if utf8[first...].starts(with: needle) {
                return first..<utf8.index(first, offsetBy: needle.count)
            }
            start = utf8.index(after: first)
        }
        return nil
    }
}

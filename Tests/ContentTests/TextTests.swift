import Content
import NIOCore
import Support
import Testing

@Suite("Media types, character encodings, text")
struct TextTests {
    @Test("a media type is read with its parameters")
    func mediaType() throws {
        let type = try #require(MediaType(" Text/HTML ; Charset=\"utf\\-8\" ;x; boundary=\"a;b\\\"c\";y=z "))
        #expect(type.essence == "text/html")
        #expect(type.parameter("CHARSET") == "utf-8")
        #expect(type.parameter("boundary") == "a;b\"c")
        #expect(type.parameter("y") == "z")
        #expect(type.parameters.count == 3)
        #expect(type.description == "text/html; charset=utf-8; boundary=\"a;b\\\"c\"; y=z")
        #expect(MediaType(type.description) == type)
    }

    @Test("A type has the extension of files that have the type")
    func extensions() {
        let types = [
            "text/html": "html", "text/plain": "txt", "application/json": "json", "application/xml": "xml",
            "image/jpeg": "jpg", "text/javascript": "js", "application/gzip": "gz", "video/mp4": "mp4",
            "application/x-ndjson": "ndjson", "font/woff2": "woff2", "multipart/related": "mhtml",
        ]
        for (type, name) in types {
            #expect(MediaType(type)?.fileExtension == name, "\(type)")
            #expect(MediaTypes.contentType(of: "a.\(name)").hasPrefix(type), "\(type)")
        }
        #expect(MediaType("text/xml")?.fileExtension == "xml")
        #expect(MediaType("application/javascript; charset=utf-8")?.fileExtension == "js")
        #expect(MediaType("application/vnd.x+json")?.fileExtension == "json")
        #expect(MediaType("application/vnd.x+xml")?.fileExtension == "xml")
        for unknown in ["application/octet-stream", "application/x-www-form-urlencoded", "image/unheard-of"] {
            #expect(MediaType(unknown)?.fileExtension == nil, "\(unknown)")
        }
        #expect(MediaTypes.contentType(of: "a.TXT") == "text/plain; charset=utf-8")
        #expect(["a", ".txt", "a.", "a.unheard"].allSatisfy { MediaTypes.contentType(of: $0) == MediaTypes.unknown })
    }

    @Test(
        "a text is written in an encoding that has all of its characters, and in no other",
        arguments: [
            ("windows-1252", "a\u{E9}\u{20AC}", [0x61, 0xE9, 0x80]), ("windows-1252", "\u{434}", nil),
            ("utf-16le", "a\u{1F600}", [0x61, 0, 0x3D, 0xD8, 0, 0xDE]), ("utf-8", "\u{E9}", [0xC3, 0xA9]),
            ("shift_jis", "\u{65E5}", [0x93, 0xFA]), ("shift_jis", "\u{1F600}", nil), ("no-such", "a", nil),
            ("iso-2022-jp", "\u{65E5}", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42]), ("koi8-r", "", []),
        ] as [(String, String, [UInt8]?)]
    )
    func encoding(charset: String, text: String, bytes: [UInt8]?) {
        #expect(TextEncoder.exactly(text, as: Charset(charset)).map { Array($0.readableBytesView) } == bytes)
        let long = String(repeating: text, count: 50_000)
        guard bytes != nil, let encoded = TextEncoder.exactly(long, as: Charset(charset)) else { return }
        #expect(TextDecoder.decode(encoded, as: Charset(charset)).text == long)
    }

    @Test(
        "what is no media type is refused",
        arguments: ["", "text", "/", "text/", "/x", "a b/c", "text/html/x", ";a=b"]
    )
    func noMediaType(_ text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(
        "textual types are known",
        arguments: [
            ("text/csv", true), ("application/json", true), ("application/problem+json", true), ("image/svg+xml", true),
            ("application/javascript", true), ("image/png", false), ("application/octet-stream", false),
        ]
    )
    func textual(_ essence: String, _ isTextual: Bool) {
        #expect(MediaType(essence)?.isTextual == isTextual)
    }

    static let encoded: [(charset: String, bytes: [UInt8], text: String)] = [
        ("utf-8", [0x63, 0xC3, 0xA9], "cé"), ("utf-8", [0xEF, 0xBB, 0xBF, 0x61], "a"),
        ("UTF-16LE", [0x61, 0, 0xAC, 0x20], "a€"), ("utf-16be", [0, 0x61, 0x20, 0xAC], "a€"),
        ("utf-16", [0xFE, 0xFF, 0, 0x61], "a"), ("iso-8859-1", [0xE9], "é"), ("windows-1252", [0x80, 0x81], "€\u{81}"),
        ("us-ascii", [0x61], "a"), ("iso-8859-15", [0xA4], "€"), ("shift_jis", [0x93, 0xFA, 0x96, 0x7B], "日本"),
        ("euc-jp", [0xC6, 0xFC, 0xCB, 0xDC], "日本"), ("gb18030", [0xD6, 0xD0], "中"), ("gbk", [0xD6, 0xD0], "中"),
        ("big5", [0xA4, 0xA4], "中"), ("euc-kr", [0xC7, 0xD1], "한"), ("koi8-r", [0xF2], "Р"),
        ("windows-1251", [0xD0], "Р"),
    ]

    @Test("text in many encodings is read", arguments: encoded)
    func reads(_ charset: String, _ bytes: [UInt8], _ text: String) {
        let body = ByteBuffer(bytes: bytes)
        let detected = Charset.detect(in: body, mediaType: MediaType("text/plain; charset=\(charset)"))
        let decoded = TextDecoder.decode(body, as: detected)
        #expect(decoded.text == text)
        #expect(decoded.invalidCount == 0)
        #expect(!decoded.isFallback)
    }

    @Test("invalid places become U+FFFD and are counted")
    func invalid() {
        let japanese = TextDecoder.decode(ByteBuffer(bytes: [0x61, 0xFF, 0x62, 0x93]), as: Charset("shift_jis"))
        #expect(japanese.text == "a\u{FFFD}b\u{FFFD}")
        #expect(japanese.invalidCount == 2)
        let utf8 = TextDecoder.decode(ByteBuffer(bytes: [0x61, 0xFF, 0x62]), as: .utf8)
        #expect(utf8.text == "a\u{FFFD}b")
        #expect(utf8.invalidCount == 1)
    }

    @Test("long text is converted whole")
    func long() {
        let bytes = [[UInt8]](repeating: [0x93, 0xFA], count: 200_000).flatMap { $0 }
        let decoded = TextDecoder.decode(ByteBuffer(bytes: bytes), as: Charset("shift_jis"))
        #expect(decoded.text.unicodeScalars.count == 200_000)
        #expect(decoded.text.unicodeScalars.allSatisfy { $0 == "日" })
    }

    @Test(
        "an unknown label, or one with converter options, falls back",
        arguments: ["no-such", "utf-8//translit", "", "a b"]
    )
    func fallback(_ label: String) {
        let decoded = TextDecoder.decode(ByteBuffer(string: "é"), as: Charset(label))
        #expect(decoded.text == "é")
        #expect(decoded.isFallback)
    }

    static let declarations: [(type: String, body: String, charset: String)] = [
        ("text/html", "<html><META charset='Shift_JIS'>", "shift_jis"),
        ("text/html", "<meta http-equiv=content-type content=\"text/html; charset=euc-jp\">", "euc-jp"),
        ("text/html; charset=big5", "<meta charset=euc-jp>", "big5"),
        ("text/xml", "<?xml version=\"1.0\" encoding=\"ISO-8859-15\"?><a/>", "iso-8859-15"),
        ("text/html", "<meta charset=utf-16le>", "utf-8"), ("text/plain", "<meta charset=big5>", "utf-8"),
        ("text/html", "<meta charset", "utf-8"), ("text/html", "\u{FEFF}<meta charset=big5>", "utf-8"),
    ]

    @Test("declarations are found in the right order", arguments: declarations)
    func declared(_ type: String, _ body: String, _ charset: String) {
        #expect(Charset.detect(in: ByteBuffer(string: body), mediaType: MediaType(type)).name == charset)
    }

    @Test("undeclared bytes are UTF-8 where valid, else windows-1252")
    func undeclared() {
        #expect(Charset.detect(in: ByteBuffer(bytes: [0x61, 0xC3]), mediaType: nil) == .utf8)
        #expect(Charset.detect(in: ByteBuffer(bytes: [0xE9, 0x61]), mediaType: nil) == .windows1252)
    }

    @Test("UTF-8 is checked as strictly in pieces as in whole")
    func strictUTF8() {
        var random = SplitMix(11)
        let leads: [UInt8] = [
            0x41, 0xC1, 0xC3, 0xE0, 0xE2, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0x80, 0x8F, 0x9F, 0xA0, 0xBF, 0x00,
        ]
        for _ in 0..<20_000 {
            let bytes = (0..<Int(random.next() % 6)).map { _ in leads[Int(random.next() % 16)] }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            var check = UTF8Check()
            for byte in bytes { check.feed([byte]) }
            #expect(check.isValid == expected, "seed 11: \(bytes)")
            #expect(UTF8Check.isValid(bytes) == expected, "seed 11: \(bytes)")
        }
    }

    @Test(
        "text is told from binary",
        arguments: [
            (Array("plain\n".utf8), true), ([0x89, 0x50, 0x4E, 0x47, 0, 1], false), ([0x61, 0], false),
            (Array("café au lait".utf8), true), ([0x63, 0x61, 0x66, 0xE9, 0x20], true), ([0xFF, 0xFE, 0x61, 0], true),
            ([1, 2, 3, 4], false), ([], true),
        ] as [([UInt8], Bool)]
    )
    func isText(_ bytes: [UInt8], _ expected: Bool) {
        #expect(TextDecoder.isText(ByteBuffer(bytes: bytes)) == expected)
    }
}

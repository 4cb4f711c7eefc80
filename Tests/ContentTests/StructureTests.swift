import Content
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("JSON, forms, multipart, previews")
struct StructureTests {
    /// The tokens of a text, as they are spelled.
    private static func tokens(_ text: some Sequence<UInt8>) throws -> [String] {
        var reader = JSONTokenReader(Array(text))
        var tokens: [String] = []
        while let token = try reader.next() { tokens.append(reader.text(token)) }
        return tokens
    }

    @Test("JSON is read with its spelling, order and duplicates")
    func spelling() throws {
        let input = #" {"b":1.50e+05,"a":[ ],"a":{},"c":[1,"x\u00e9\"{[,",{"d":null}],"é":-0,"":true} "#
        let expected = [
            "{", "\"b\"", "1.50e+05", "\"a\"", "[", "]", "\"a\"", "{", "}", "\"c\"", "[", "1", #""x\u00e9\"{[,""#, "{",
            "\"d\"",
            "null", "}", "]", "\"é\"", "-0", "\"\"", "true", "}",
        ]
        #expect(try Self.tokens(input.utf8) == expected)
        #expect(try Self.tokens(" 12345678901234567890.10 ".utf8) == ["12345678901234567890.10"])
    }

    static let wrong: [(text: String, offset: Int)] = [
        ("", 0), (" ", 1), ("{", 1), ("[1,]", 3), ("{\"a\"}", 4), ("{\"a\":}", 5), ("[1 2]", 3), ("01", 1), ("1.", 2),
        ("-", 1), ("1e", 2), ("\"a", 2), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("\"\n\"", 1), ("tru", 3), ("nul1", 3),
        ("[}", 1), ("{a:1}", 1), ("1 1", 2), ("[1}", 2), ("{,}", 1), ("]", 0), ("'a'", 0), ("+1", 0), (".5", 0),
    ]

    @Test("what is no JSON is refused at the offending byte", arguments: wrong)
    func refuses(_ text: String, _ offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try Self.tokens(text.utf8) }
        #expect(error?.offset == offset)
    }

    @Test("the place of an error is told in lines and columns")
    func place() {
        let error = #expect(throws: JSONSyntaxError.self) { try Self.tokens("{\n \"a\": x}".utf8) }
        #expect(error?.description == "line 2, column 7: a value is missing")
    }

    @Test("nesting is bounded")
    func bounds() throws {
        let deep = String(repeating: "[", count: 100_000)
        let error = #expect(throws: JSONSyntaxError.self) { try Self.tokens(deep.utf8) }
        #expect(error?.message.contains("256") == true)
        let nested = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
        #expect(try Self.tokens(nested.utf8).count == 512)
        // What is passed over costs a byte for each level.
        let deeper = String(repeating: "[", count: 1_000) + String(repeating: "]", count: 1_000)
        var reader = JSONTokenReader(Array(deeper.utf8))
        let first = try #require(try reader.next())
        try reader.skip(first)
        #expect(try reader.depth == 0 && reader.next() == nil)
        reader = JSONTokenReader(Array(String(repeating: "[", count: 1_100_000).utf8))
        let second = try #require(try reader.next())
        #expect(throws: JSONSyntaxError.self) { try reader.skip(second) }
    }

    @Test("a text that comes in pieces has the tokens and the errors of the whole one")
    func pieces() throws {
        let texts =
            ["\u{FEFF}" + #" {"b" : 1.50e+05,\n"é\\u00e9":[true,"x\\"\\\\y", null ],"c":{}} "#] + Self.wrong.map(\.text)
        for text in texts {
            for size in 1...5 {
                var rest = Array(text.utf8)[...]
                var pieces = JSONTokenReader(tokenLimit: 100) {
                    defer { rest = rest.dropFirst(size) }
                    return Array(rest.prefix(size))
                }
                var whole = JSONTokenReader(Array(text.utf8))
                #expect(throws: Never.self) { try Self.compare(&whole, &pieces) }
            }
        }
    }

    /// Reads both to the end, or to their error.
    private static func compare(_ whole: inout JSONTokenReader, _ pieces: inout JSONTokenReader) throws {
        while true {
            let one = Result { try whole.next().map { ($0.kind, whole.text($0)) } }
            let other = Result { try pieces.next().map { ($0.kind, pieces.text($0)) } }
            switch (one, other) {
            case (.success(let one?), .success(let other?)): #expect(one == other)
            case (.success(nil), .success(nil)): return
            case (.failure(let one), .failure(let other)):
                #expect(one as? JSONSyntaxError == other as? JSONSyntaxError)
                return
            default: return #expect(Bool(false), "\(one) and \(other)")
            }
        }
    }

    @Test("a token that is too long is cut off, and what follows it is read")
    func longToken() throws {
        var rest = Array("[\"\(String(repeating: "ab", count: 5_000))\", 7, \"é\"]".utf8)[...]
        var reader = JSONTokenReader(tokenLimit: 9) {
            defer { rest = rest.dropFirst(1_000) }
            return Array(rest.prefix(1_000))
        }
        var texts: [String] = []
        while let token = try reader.next() { texts.append(reader.text(token)) }
        #expect(texts == ["[", "\"abababab", "7", "\"é\"", "]"])
        #expect(reader.error("").column == 10_014)
    }

    @Test("a piece that cannot be read is an error with its place")
    func noPiece() {
        struct Broken: Error {}
        var isFirst = true
        var reader = JSONTokenReader(tokenLimit: 9) {
            defer { isFirst = false }
            guard isFirst else { throw Broken() }
            return Array("[1,".utf8)
        }
        let error = #expect(throws: JSONSyntaxError.self) { while try reader.next() != nil {} }
        #expect(error?.message == "reading it failed: Broken()" && error?.offset == 3)
    }

    @Test("random JSON-like bytes never crash the reader")
    func noise() {
        var random = SplitMix(3)
        let alphabet = Array("{}[],:\"\\u0123e.-truefalsnl \n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int(random.next() % 24)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            _ = try? Self.tokens(bytes)
        }
    }

    @Test("forms and queries are read")
    func forms() {
        let fields = FormFields.parse(query: "a=1&b=x+y%20z&c&=d&&e=%zz%4&a=caf%C3%A9&f=%E9&g=1=2")
        #expect(fields.map(\.name) == ["a", "b", "c", "", "e", "a", "f", "g"])
        #expect(fields.map(\.value) == ["1", "x y z", "", "d", "%zz%4", "café", "é", "1=2"])
        #expect(FormFields.parse(query: "").isEmpty)
        #expect(FormFields.parse(Array(String(repeating: "a&", count: 500).utf8), limit: 10).count == 10)
    }

    @Test("a multipart form is split into its parts")
    func multipart() throws {
        let body = ByteBuffer(
            string: "preamble\r\n--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--Xlonger\r\n--X \r\n"
                + "content-disposition: form-data; name=f; filename=\"a\\\"b.png\"\r\nContent-Type: image/png\r\n\r\n"
                + "\r\n--X\r\n\r\nno head\r\n--X--\r\nepilogue"
        )
        let type = try #require(MediaType("multipart/form-data; boundary=X"))
        let parsed = try #require(Multipart(body, mediaType: type))
        #expect(parsed.isComplete)
        #expect(parsed.parts.map { String(buffer: $0.content) } == ["1\r\n--Xlonger", "", "no head"])
        #expect(parsed.parts.map(\.name) == ["a", "f", nil])
        #expect(parsed.parts[1].fileName == "a\"b.png")
        #expect(parsed.parts[1].mediaType?.essence == "image/png")
    }

    @Test("a multipart body cut off anywhere is read as far as it goes")
    func cutMultipart() throws {
        let whole = "--X\r\nA: b\r\n\r\none\r\n--X\nC: d\n\ntwo\n--X--"
        let type = try #require(MediaType("multipart/mixed; boundary=X"))
        for count in 0...whole.utf8.count {
            let body = ByteBuffer(string: String(whole.prefix(count)))
            let parsed = try #require(Multipart(body, mediaType: type))
            #expect(parsed.parts.reduce(0) { $0 + $1.content.readableBytes } <= body.readableBytes)
        }
        #expect(
            Multipart(ByteBuffer(string: whole), mediaType: type)?.parts.map { String(buffer: $0.content) } == [
                "one", "two",
            ]
        )
        #expect(Multipart(ByteBuffer(string: whole), mediaType: type, limit: 1)?.parts.count == 1)
        #expect(MediaType("multipart/mixed").map { Multipart(ByteBuffer(), mediaType: $0) == nil } == true)
    }

    @Test("binary, mislabelled and empty bodies are told apart")
    func kinds() {
        let png = ByteBuffer(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
        #expect(BodyPreview(png, contentType: "image/png").content == .binary("PNG image"))
        #expect(BodyPreview(png, contentType: "text/html").content == .binary("PNG image"))
        #expect(BodyPreview(ByteBuffer(), contentType: nil).content == .empty)
        let text = BodyPreview(ByteBuffer(string: "hi"), contentType: nil)
        #expect(text.content == .text("hi", charset: .utf8))
        let japanese = ByteBuffer(bytes: [0x93, 0xFA])
        let shown = BodyPreview(japanese, contentType: "text/plain; charset=Shift_JIS")
        #expect(shown.content == .text("日", charset: Charset("shift_jis")))
    }
}

extension StructureTests {
    /// How a string is written, one character after the other.
    private static func reference(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "\"") { json, scalar in
            switch scalar {
            case "\"": json += "\\\""
            case "\\": json += "\\\\"
            case "\n": json += "\\n"
            case "\r": json += "\\r"
            case "\t": json += "\\t"
            default:
                let isHidden =
                    scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value) || scalar == "\u{202E}"
                    || scalar == "\u{E0001}"
                guard isHidden else { return json.unicodeScalars.append(scalar) }
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            }
        } + "\""
    }

    @Test("Strings are escaped the same wherever in a word, a run or a piece a character stands")
    func escapes() throws {
        let special: [Unicode.Scalar] = [
            "\"", "\\", "\n", "\r", "\t", "\0", "\u{1B}", "\u{1F}", " ", "~", "\u{7F}", "\u{80}", "\u{9F}", "\u{A0}",
            "é", "中", "😀", "\u{202E}", "\u{E0001}",
        ]
        var random = SplitMix(5)
        for length in [0, 1, 7, 8, 9, 15, 16, 17, 63, 200, 4_095, 4_096, 4_097, 9_000] {
            for _ in 0..<(length < 300 ? 60 : 3) {
                var text = String.UnicodeScalarView()
                for _ in 0..<length {
                    let isSpecial = Int.random(in: 0..<6, using: &random) == 0
                    text.append(isSpecial ? special.randomElement(using: &random) ?? "x" : "x")
                }
                let whole = String(text)
                #expect(JSONWriter.quoted(whole) == Self.reference(whole))
                var writer = JSONWriter()
                writer.key(whole)
                #expect(String(buffer: writer.buffer) == Self.reference(whole) + ":")
                // The same as a long string, in pieces that cut characters.
                var pieces = JSONWriter()
                pieces.beginString()
                var rest = Array(whole.utf8)[...]
                while !rest.isEmpty {
                    let piece = Array(rest.prefix(Int.random(in: 1...700, using: &random)))
                    rest = rest.dropFirst(piece.count)
                    try piece.withUnsafeBytes { try pieces.stringPiece($0) }
                }
                pieces.endString()
                #expect(String(buffer: pieces.buffer) == Self.reference(whole))
            }
        }
    }

    @Test("Numbers are written with all their digits, and decimals as they are asked for")
    func numbers() throws {
        var writer = JSONWriter()
        try writer.array { writer in
            for number: Int64 in [0, 9, 10, -1, -10, 1_234_567_890, .max, .min] { writer.value(number) }
            for number: Int64 in [0, 5, 1_000, 1_500, -1_250, 12_345, .min] {
                writer.value(number, decimals: 3, trimsZeros: true)
            }
            for number: Int64 in [0, 1_700_000_000_000_001, -1] { writer.value(number, decimals: 6, trimsZeros: false) }
        }
        #expect(
            String(buffer: writer.buffer)
                == "[0,9,10,-1,-10,1234567890,9223372036854775807,-9223372036854775808,"
                + "0,0.005,1,1.5,-1.25,12.345,-9223372036854775.808,0.000000,1700000000.000001,-0.000001]"
        )
    }

    @Test("Bytes of a field are text in UTF-8 or Latin-1")
    func fieldBytes() throws {
        var writer = JSONWriter()
        try writer.object { writer in
            for bytes: [UInt8] in [Array("plain \"x\" text".utf8), Array("é".utf8), [0x61, 0xE9, 0x62]] {
                bytes.withUnsafeBytes { writer.member("v", fieldBytes: $0) }
            }
        }
        #expect(String(buffer: writer.buffer) == #"{"v":"plain \"x\" text","v":"é","v":"aéb"}"#)
    }

    @Test("Elements that were written elsewhere are joined")
    func joined() throws {
        var writer = JSONWriter()
        try writer.array { writer in
            try writer.add(ByteBuffer(string: "1,"), isContinued: false)
            try writer.add(ByteBuffer(string: "2"), isContinued: true)
            try writer.add(ByteBuffer(string: "3"), isContinued: false)
        }
        #expect(String(buffer: writer.buffer) == "[1,2,3]")
    }

    @Test("UTF-8 is checked the same in words, in pieces and byte by byte")
    func checkedInWords() {
        let units: [[UInt8]] = [
            Array("x".utf8), Array("é".utf8), Array("中".utf8), Array("😀".utf8), [0x80], [0xC3], [0xED, 0xA0, 0x80], [0],
        ]
        var random = SplitMix(6)
        for _ in 0..<3_000 {
            let isOrdinary = Int.random(in: 0..<3, using: &random) > 0
            let last = isOrdinary ? 3 : 7
            let bytes = (0..<Int.random(in: 0...40, using: &random)).flatMap { _ in
                Int.random(in: 0..<8, using: &random) > 0 ? units[0] : units[Int.random(in: 0...last, using: &random)]
            }
            var single = UTF8Check()
            for byte in bytes { single.feed([byte]) }
            var words = UTF8Check()
            let cut = Int.random(in: 0...bytes.count, using: &random)
            bytes[..<cut].withUnsafeBytes { words.feed($0) }
            bytes[cut...].withUnsafeBytes { words.feed($0) }
            #expect(words.isValid == single.isValid && words.isValidSoFar == single.isValidSoFar)
            #expect(single.isValid == (String(validating: bytes, as: UTF8.self) != nil))
            if single.isValidSoFar {
                #expect(words.hasNUL == single.hasNUL && words.unfinishedCount == single.unfinishedCount)
            }
        }
    }
}

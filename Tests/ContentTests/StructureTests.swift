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
        for part in parsed.parts {
            #expect(body.getSlice(at: part.range.lowerBound, length: part.range.count) == part.content)
        }
    }

    @Test("a multipart body cut off anywhere is read as far as it goes")
    func cutMultipart() throws {
        let whole = "--X\r\nA: b\r\n\r\none\r\n--X\nC: d\n\ntwo\n--X--"
        let type = try #require(MediaType("multipart/mixed; boundary=X"))
        for count in 0...whole.utf8.count {
            let body = ByteBuffer(string: String(whole.prefix(count)))
            let parsed = try #require(Multipart(body, mediaType: type))
            for part in parsed.parts { #expect(part.range.upperBound <= body.readableBytes) }
        }
        #expect(
            Multipart(ByteBuffer(string: whole), mediaType: type)?.parts.map { String(buffer: $0.content) } == [
                "one", "two",
            ]
        )
        #expect(Multipart(ByteBuffer(string: whole), mediaType: type, limit: 1)?.parts.count == 1)
        #expect(MediaType("multipart/mixed").map { Multipart(ByteBuffer(), mediaType: $0) == nil } == true)
    }

    @Test("a compressed body is shown decoded")
    func preview() throws {
        let body = try ContentEncoder.encode(ByteBuffer(string: "{\"a\":1}"), coding: .gzip)
        let preview = BodyPreview(body, contentType: "application/json", contentEncoding: "gzip")
        #expect(preview.content == .text("{\"a\":1}", charset: .utf8))
        #expect(preview.notes == ["decoded from gzip"])
        #expect(preview.encodedSize == body.readableBytes)
        #expect(preview.decodedSize == 7)
    }

    @Test("binary, mislabelled and empty bodies are told apart")
    func kinds() {
        let png = ByteBuffer(bytes: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
        #expect(
            BodyPreview(png, contentType: "image/png", contentEncoding: nil).content
                == .binary(png, description: "PNG image")
        )
        #expect(
            BodyPreview(png, contentType: "text/html", contentEncoding: nil).content
                == .binary(png, description: "PNG image")
        )
        #expect(BodyPreview(ByteBuffer(), contentType: nil, contentEncoding: "gzip").content == .empty)
        let text = BodyPreview(ByteBuffer(string: "hi"), contentType: nil, contentEncoding: nil)
        #expect(text.content == .text("hi", charset: .utf8))
        let japanese = ByteBuffer(bytes: [0x93, 0xFA])
        let shown = BodyPreview(japanese, contentType: "text/plain; charset=Shift_JIS", contentEncoding: nil)
        #expect(shown.content == .text("日", charset: Charset("shift_jis")))
    }
}

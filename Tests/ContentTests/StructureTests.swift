import Content
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("JSON, forms, multipart, previews")
struct StructureTests {
    @Test("JSON is laid out with its spelling, order and duplicates")
    func pretty() throws {
        let input = #" {"b":1.50e+05,"a":[ ],"a":{},"c":[1,[2,"x\u00e9\"{[,"],{"d":null}],"é":-0,"":true} "#
        let output = """
            {
              "b": 1.50e+05,
              "a": [],
              "a": {},
              "c": [
                1,
                [
                  2,
                  "x\\u00e9\\"{[,"
                ],
                {
                  "d": null
                }
              ],
              "é": -0,
              "": true
            }
            """
        #expect(try JSONText.pretty(input.utf8) == output)
        #expect(try JSONText.pretty(output.utf8) == output)
        #expect(try JSONText.pretty(" 12345678901234567890.10 ".utf8) == "12345678901234567890.10")
    }

    static let wrong: [(text: String, offset: Int)] = [
        ("", 0), (" ", 1), ("{", 1), ("[1,]", 3), ("{\"a\"}", 4), ("{\"a\":}", 5), ("[1 2]", 3), ("01", 1), ("1.", 2),
        ("-", 1), ("1e", 2), ("\"a", 2), ("\"\\x\"", 2), ("\"\\u12g4\"", 5), ("\"\n\"", 1), ("tru", 3), ("nul1", 3),
        ("[}", 1), ("{a:1}", 1), ("1 1", 2), ("[1}", 2), ("{,}", 1), ("]", 0), ("'a'", 0), ("+1", 0), (".5", 0),
    ]

    @Test("what is no JSON is refused at the offending byte", arguments: wrong)
    func refuses(_ text: String, _ offset: Int) {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONText.pretty(text.utf8) }
        #expect(error?.offset == offset)
    }

    @Test("the place of an error is told in lines and columns")
    func place() {
        let error = #expect(throws: JSONSyntaxError.self) { try JSONText.pretty("{\n \"a\": x}".utf8) }
        #expect(error?.description == "line 2, column 7: a value is missing")
    }

    @Test("nesting and growth are bounded")
    func bounds() throws {
        let deep = String(repeating: "[", count: 100_000)
        let error = #expect(throws: JSONSyntaxError.self) { try JSONText.pretty(deep.utf8) }
        #expect(error?.message.contains("256") == true)
        let nested = String(repeating: "[", count: 256) + String(repeating: "]", count: 256)
        #expect(try JSONText.pretty(nested.utf8).utf8.count > 512)
        let wide = String(repeating: "[", count: 200) + String(repeating: "0,", count: 50_000)
        let long = #expect(throws: JSONSyntaxError.self) { try JSONText.pretty(wide.utf8, outputLimit: 100_000) }
        #expect(long?.message.contains("100000") == true)
    }

    @Test("random JSON-like bytes never crash the layout")
    func noise() {
        var random = SplitMix(3)
        let alphabet = Array("{}[],:\"\\u0123e.-truefalsnl \n".utf8)
        for _ in 0..<20_000 {
            let bytes = (0..<Int(random.next() % 24)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
            if let text = try? JSONText.pretty(bytes), let again = try? JSONText.pretty(text.utf8) {
                #expect(again == text, "seed 3: \(bytes)")
            }
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

    @Test("a compressed JSON body is shown decoded and laid out")
    func preview() throws {
        let body = try ContentEncoder.encode(ByteBuffer(string: "{\"a\":1}"), coding: .gzip)
        let preview = BodyPreview(body, contentType: "application/json", contentEncoding: "gzip")
        #expect(preview.content == .text("{\n  \"a\": 1\n}", charset: .utf8))
        #expect(preview.notes == ["decoded from gzip"])
        #expect(preview.encodedSize == body.readableBytes)
        #expect(preview.decodedSize == 7)
    }

    @Test("broken JSON is shown as it is, with the place of the error")
    func brokenPreview() {
        let preview = BodyPreview(ByteBuffer(string: "{\"a\":"), contentType: "application/json", contentEncoding: nil)
        #expect(preview.content == .text("{\"a\":", charset: .utf8))
        #expect(preview.notes == ["not valid JSON: line 1, column 6: a value is missing"])
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

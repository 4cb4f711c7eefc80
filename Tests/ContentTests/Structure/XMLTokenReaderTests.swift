import Content
import Testing

/// The tokens of a text in short, or its error as `line:column message`.
private func tokens(_ bytes: [UInt8], piece: Int = .max) -> [String] {
    var rest = bytes[...]
    var reader = XMLTokenReader(
        refill: UTF8Pieces.utf8 {
            defer { rest = rest.dropFirst(piece) }
            return Array(rest.prefix(piece))
        }
    )
    var tokens: [String] = []
    var text = ""
    func endText() {
        if !text.isEmpty { tokens.append(text) }
        text = ""
    }
    do throws(XMLSyntaxError) {
        while let token = try reader.next() {
            switch token {
            case .start(let name, let attributes):
                endText()
                let pairs = attributes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
                tokens.append("<\(name)\(pairs.joined())>")
            case .end:
                endText()
                tokens.append("</>")
            case .text(let part): text += part
            }
        }
        return tokens
    } catch {
        return ["\(error.line):\(error.column) \(error.message)"]
    }
}

private func tokens(_ text: String) -> [String] { tokens(Array(text.utf8)) }

@Suite("XML as tokens")
struct XMLTokenReaderTests {
    @Test("Elements, text, empty elements, attributes, comments and instructions, in pieces of any size")
    func pieces() {
        let text = """
            <?xml version='1.0' encoding='UTF-8' ?>
            <?charles serialisation-version='2.0' ?>
            <!-- a - b -->
            <a x="1" y = '&lt;&#65;'><b/><c >t\r\nu</c ></a>
            <?end?>

            """
        let expected = ["<a x=1 y=<A>", "<b>", "</>", "<c>", "t\nu", "</>", "</>"]
        for piece in [1, 2, 3, 7, .max] { #expect(ContentTests.tokens(Array(text.utf8), piece: piece) == expected) }
    }

    @Test("References, CDATA and line ends are undone")
    func text() {
        for (xml, text) in [
            ("&lt;&gt;&amp;&quot;&apos;", "<>&\"'"), ("&#x1F600;&#233;&#10;", "😀é\n"), ("1\r\n2\r3\n", "1\n2\n3\n"),
            ("x<![CDATA[<b>&amp;]]>y", "x<b>&amp;y"), ("]]>", "]]>"),
        ] { #expect(ContentTests.tokens("<a>\(xml)</a>") == ["<a>", text, "</>"]) }
    }

    @Test(
        "A text that is not well-formed is refused with its place",
        arguments: [
            ("", "1:1 there is no element in it"), ("hello", "1:1 this is not XML: it begins with text"),
            ("<a>", "1:4 the file ends, and <a> is not closed"),
            ("<a>\n  <b></a>", "2:10 </a> stands where </b> is to be closed"),
            ("<a/><b/>", "1:7 <b> stands after the end of the outermost element"),
            ("<a/>x", "1:5 text stands outside of the outermost element"),
            ("<a>&nbsp;</a>", "1:10 there is no character or entity of that name, and files cannot define any"),
            ("<a>&#xD800;</a>", "1:12 there is no character or entity of that name, and files cannot define any"),
            ("<a x=1/>", "1:7 the value of x has no quotes"),
            ("<a x='1' x='2'/>", "1:15 the attribute x stands twice in <a>"),
            ("<a><!-- </a>", "1:13 the comment does not end"),
            ("<a><![CDATA[</a>", "1:17 the CDATA section does not end"),
            ("<a><!DOCTYPE a></a>", "1:6 a document type that stands there is not read"),
            ("</a>", "1:5 </a> stands where nothing is to be closed"),
        ]
    )
    func malformed(text: String, message: String) { #expect(ContentTests.tokens(text) == [message]) }

    @Test("A document type that only names a file is skipped, and one that defines something is refused")
    func documentType() {
        let named = "<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'file:///etc/passwd?[>'><a/>"
        #expect(ContentTests.tokens(named) == ["<a>", "</>"])
        let laughs = "<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>"
        let message = "1:14 a document type with definitions is not read, as it could define entities"
        #expect(ContentTests.tokens(laughs) == [message])
    }

    @Test("UTF-8 with a mark, UTF-16 both ways and ISO-8859-1 are read, others refused", arguments: [1, 5, .max])
    func encodings(piece: Int) {
        let text = "<a>é€😀</a>"
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        for bytes in [[0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big] {
            #expect(ContentTests.tokens(bytes, piece: piece) == ["<a>", "é€😀", "</>"])
        }
        let latin = Array("<?xml version='1.0' encoding=\"ISO-8859-1\"?><a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(ContentTests.tokens(latin, piece: piece) == ["<a>", "é", "</>"])
        let other = Array("<?xml version='1.0' encoding='Shift_JIS'?><a/>".utf8)
        let message = "1:1 its encoding 'shift_jis' is not read; there are UTF-8, UTF-16 and ISO-8859-1"
        #expect(ContentTests.tokens(other, piece: piece) == [message])
    }

    @Test("Depth is bounded")
    func depth() {
        let deep = String(repeating: "<a>", count: 64) + String(repeating: "</a>", count: 64)
        #expect(ContentTests.tokens(deep).count == 128)
        #expect(ContentTests.tokens("<a>" + deep + "</a>") == ["1:195 elements are nested deeper than 64 levels"])
    }

    @Test("A long text comes in parts, also if no byte in it begins a character")
    func endless() throws {
        var pieces = ["<a>", "</a>"].map { Array($0.utf8) }
        pieces.insert([UInt8](repeating: 0x61, count: 64 << 10) + [UInt8](repeating: 0x80, count: 1 << 20), at: 1)
        pieces.reverse()
        var xml = XMLTokenReader { pieces.popLast() ?? [] }
        var lengths: [Int] = []
        while let token = try xml.next() {
            if case .text(let text) = token { lengths.append(text.utf8.count) }
        }
        // A byte that is no character becomes one of three bytes.
        #expect(lengths.count > 15 && lengths.allSatisfy { $0 <= 3 * (64 << 10 + 3) }, "\(lengths)")
    }
}

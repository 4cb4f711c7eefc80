import CharlesFiles
import HTTPModel
import Support
import Testing
import Text

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// The events of a text in short, or its error as `line:column message`.
private func events(_ bytes: [UInt8]) -> [String] {
    do throws(CharlesError) {
        var reader = try XMLReader(bytes)
        var events: [String] = []
        while let event = try reader.next() {
            switch event {
            case .start(let name): events.append("<\(name)>")
            case .end: events.append("</>")
            case .text(let text): events.append(text)
            case .instruction(let target, let content): events.append("?\(target) \(content)")
            }
        }
        return events
    } catch {
        return ["\(error.line):\(error.column) \(error.message)"]
    }
}

private func events(_ text: String) -> [String] { events(Array(text.utf8)) }

@Suite("XML is read strictly")
struct XMLReaderTests {
    @Test("Elements, text, empty elements, attributes, comments and instructions")
    func pieces() {
        let text = """
            <?xml version='1.0' encoding='UTF-8' ?>
            <?charles serialisation-version='2.0' ?>
            <!-- a - b -->
            <a x="1" y = '&lt;&#65;'><b/><c >t</c ></a>
            <?end?>

            """
        #expect(
            events(text) == [
                "?charles serialisation-version='2.0'", "<a>", "<b>", "</>", "<c>", "t", "</>", "</>", "?end ",
            ]
        )
    }

    @Test("References, CDATA and line ends are undone")
    func text() {
        #expect(events("<a>&lt;&gt;&amp;&quot;&apos;</a>") == ["<a>", "<>&\"'", "</>"])
        #expect(events("<a>&#x1F600;&#233;&#10;</a>") == ["<a>", "😀é\n", "</>"])
        #expect(events("<a>x<![CDATA[<b>&amp;]]>y</a>") == ["<a>", "x", "<b>&amp;", "y", "</>"])
        #expect(events("<a>1\r\n2\r3\n</a>") == ["<a>", "1\n2\n3\n", "</>"])
        #expect(events("<a>]]></a>") == ["<a>", "]]>", "</>"])
    }

    @Test(
        "What is not well-formed is refused with its place",
        arguments: [
            ("", "1:1 there is no XML element in the file"),
            ("hello", "1:1 this is no XML: it begins with text"),
            ("<a>", "1:4 the file ends inside <a>, which was opened in line 1"),
            ("<a>\n  <b></a>", "2:6 </a> stands where <b> ends, which was opened in line 2"),
            ("<a/><b/>", "1:5 there is a second element after the end of the first"),
            ("<a/>x", "1:5 text stands after the end of the outermost element"),
            ("<a>&nbsp;</a>", "1:4 the entity &nbsp; is not known, and files cannot define any"),
            ("<a>a & b</a>", "1:6 '&' begins no reference; as a character it is written &amp;"),
            ("<a>&#0;</a>", "1:4 &#0; is no character that XML can have"),
            ("<a>&#xD800;</a>", "1:4 &#xD800; is no character that XML can have"),
            ("<a>&#+65;</a>", "1:4 &#+65; is no character that XML can have"),
            ("<a>é\u{1}</a>", "1:5 there is a control character, which XML cannot have"),
            ("<a x=1/>", "1:6 the value of 'x' is not in quotes"),
            ("<a x='1' x='2'/>", "1:10 the attribute 'x' stands twice"),
            ("<a x='<'/>", "1:7 '<' cannot stand in an attribute's value"),
            ("<a x='1'y='2'/>", "1:9 there is no blank before an attribute"),
            ("<a x/>", "1:5 the attribute 'x' has no value"),
            ("<1/>", "1:2 an element's name is missing or begins with a wrong character"),
            ("<a><!-- -- --></a>", "1:9 '--' cannot stand in a comment"),
            ("<a><!-- </a>", "1:4 the comment does not end"),
            ("<a><![CDATA[</a>", "1:4 the CDATA section does not end"),
            (" <?xml version='1.0'?><a/>", "1:2 the XML declaration can only stand at the very beginning of the file"),
            ("<a><!ENTITY x 'y'></a>", "1:4 a declaration cannot stand here"),
            ("<a></a", "1:7 the end tag of <a> does not end"),
            ("</a>", "1:1 </a> ends nothing"),
            ("<a", "1:1 the file ends inside <a>"),
        ]
    )
    func malformed(text: String, message: String) {
        let found = events(text)
        // Places within a tag are where the wrong character stands, else where the piece begins.
        #expect(found == [message], "\(text)")
    }

    @Test("A document type that only names one is passed over, and one that defines something is refused")
    func doctype() {
        let message = "document types that define something are not taken: they can read other files"
        #expect(events("<?xml version='1.0'?>\n<!DOCTYPE a SYSTEM 'file:///etc/passwd?[>'><a/>") == ["<a>", "</>"])
        #expect(events("<a><!DOCTYPE a></a>").last == "1:4 a declaration cannot stand here")
        let laughs = "<!DOCTYPE a [<!ENTITY b 'ha'><!ENTITY c '&b;&b;&b;'>]><a>&c;</a>"
        #expect(events(laughs) == ["1:1 \(message)"])
    }

    @Test("UTF-8 with a mark, UTF-16 both ways and ISO-8859-1 are taken, others refused")
    func encodings() {
        let text = "<a>é€😀</a>"
        let expected = ["<a>", "é€😀", "</>"]
        #expect(events([0xEF, 0xBB, 0xBF] + Array(text.utf8)) == expected)
        let little = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(events([0xFF, 0xFE] + little) == expected)
        #expect(events([0xFE, 0xFF] + big) == expected)
        #expect(events(little) == expected)
        #expect(events(big) == expected)
        let latin = Array("<?xml version='1.0' encoding=\"ISO-8859-1\"?><a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(events(latin) == ["<a>", "é", "</>"])
        #expect(
            events("<?xml version='1.0' encoding='Shift_JIS'?><a/>")
                == ["1:1 the encoding 'Shift_JIS' is not taken; there are UTF-8, UTF-16 and ISO-8859-1"]
        )
        #expect(
            events(Array("<a>\né".utf8) + [0xE9] + Array("</a>".utf8))
                == ["2:2 these bytes are not UTF-8, as the file says or leaves open"]
        )
        #expect(events([0xFF, 0xFE, 0x3C]) == ["1:1 the file ends within a UTF-16 unit"])
        #expect(
            events([0xFF, 0xFE, 0x00, 0xD8]) == ["1:1 the file has half a UTF-16 surrogate pair in it"]
        )
    }

    @Test("Depth and size are bounded")
    func bounds() {
        let deep = String(repeating: "<a>", count: 100) + String(repeating: "</a>", count: 100)
        #expect(events(deep).count == 200)
        #expect(events("<a>" + deep + "</a>") == ["1:301 elements are nested more than 100 deep"])
        let large = [UInt8](repeating: 0x20, count: (64 << 20) + 1)
        #expect(events(large) == ["1:1 the file is larger than 64 MiB, which no settings are"])
    }

    @Test("Lines are counted on, and what is not kept is forgotten")
    func elements() throws {
        let text = "<a>\n<b>1<secret><k>x</k></secret>2</b>\n<c/>\n</a>"
        let root = try XMLElement.read(Array(text.utf8)) { $0.last != "secret" }
        #expect(root.name == "a")
        #expect(root.children.map(\.name) == ["b", "c"])
        #expect(root.children.map(\.line) == [2, 3])
        #expect(root["b"]?.text == "12")
        #expect(root["b"]?.children == [])
    }

    @Test("What is written reads back")
    func roundTrip() throws {
        let text = "a <b> & \"c\" 'd' ]]> \r\n\té😀 \u{7F}\u{9B}\u{202E}\u{E0041} "
        var written = ""
        XMLElement("x", [XMLElement("y", text), XMLElement("z")]).write(to: &written)
        #expect(VisibleText.lines(written) == written)
        #expect(written.hasPrefix("<x>\n  <y>a &lt;b&gt; &amp; \"c\""))
        let root = try XMLElement.read(Array(written.utf8)) { _ in true }
        #expect(root["y"]?.text == text)
        #expect(root["z"]?.text == "")
        #expect(XMLElement.canHold(text))
        #expect(!XMLElement.canHold("\u{1}"))
    }

    @Test("Mutated settings are read or refused, never more")
    func fuzz() {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let pieces = [
            "<", ">", "&", ";", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "&#x", "'", "\"", "/", "\u{0}", "é",
        ]
        let source = Array(CharlesSamples.all.utf8)
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = source
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<40, using: &random)))
                case 2: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "<").utf8, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { bytes = [0x3C] }
            }
            do throws(CharlesError) {
                _ = try CharlesSettings.read(bytes)
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.column >= 1 && !error.message.isEmpty, "seed \(seed)")
            }
        }
        #expect(refused > 500 && refused < 2_000, "seed \(seed)")
    }
}

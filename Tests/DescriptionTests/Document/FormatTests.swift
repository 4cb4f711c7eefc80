import Content
import HTTPModel
import NIOCore
import Testing

@testable import Description

struct FormatTests {
    private func lines(_ body: (inout DetailWriter) -> Void) -> [String] {
        var writer = DetailWriter(DetailOptions())
        body(&writer)
        return writer.document().lines.map(\.plain)
    }

    private func markup(_ text: String, isHTML: Bool = true) -> [String] {
        lines { writer in
            var layout = MarkupLayout(Array(text.utf8), isHTML: isHTML)
            layout.write(into: &writer)
        }
    }

    @Test func `HTML gets a line for each element, its script and style their own layout`() {
        let html =
            "<!DOCTYPE html><html><head><title>A  b</title><style>p{color:red;margin:0}</style>"
            + "<script>if(a){b(\"</p>\");c()}</script></head><body><ul><li>one<li>two<br>x</ul><img src=a.png alt='x'></body></html>"
        #expect(
            markup(html) == [
                "<!DOCTYPE html>", "<html>", "  <head>", "    <title>A b</title>", "    <style>", "      p {",
                "        color: red;", "        margin: 0", "      }", "    </style>", "    <script>",
                "      if(a){b(\"</p>\");c()}", "    </script>", "  </head>", "  <body>", "    <ul>",
                "      <li>", "        one", "      <li>", "        two", "        <br>", "        x", "    </ul>",
                "    <img src=a.png alt='x'>", "  </body>", "</html>",
            ]
        )
    }

    @Test func `XML keeps the case of its names, and tolerates what nobody closes`() {
        let xml = "<?xml version=\"1.0\"?><Root a=\"1 > 0\"><Item/><x>t</x></Wrong><![CDATA[<raw>]]>"
        #expect(
            markup(xml, isHTML: false) == [
                "<?xml version=\"1.0\"?>", "<Root a=\"1 > 0\">", "  <Item/>", "  <x>t</x>", "  </Wrong>",
                "  <![CDATA[<raw>]]>",
            ]
        )
    }

    @Test func `a dense script is broken at its braces and semicolons`() {
        let filler = String(repeating: "x(1);", count: 110)
        let script = "function f(a,b){for(var i=0;i<3;i++){g(i)}return/[/}]/.test(a)?\"a;b\":`c`}" + filler
        let shown = lines { ScriptLayout(Array(script.utf8)).write(into: &$0) }
        #expect(
            shown.prefix(6) == [
                "function f(a,b){", "  for(var i=0;i<3;i++){", "    g(i)", "  }",
                "  return/[/}]/.test(a)?\"a;b\":`c`", "}",
            ]
        )
    }

    @Test func `a script with lines of its own keeps them`() {
        let script = "// one\nfunction f() {\n\treturn 1 / 2 / 3\n}\n"
        let shown = lines { ScriptLayout(Array(script.utf8)).write(into: &$0) }
        #expect(shown == ["// one", "function f() {", "    return 1 / 2 / 3", "}"])
    }

    @Test func `a style sheet with comments and nested rules is laid out`() {
        let css = "/* a */@media print{a,b{color:red}}@import url(data:x;y);"
        let shown = lines { StyleSheetLayout(Array(css.utf8)).write(into: &$0) }
        #expect(
            shown == [
                "/* a */", "@media print {", "  a,b {", "    color: red", "  }", "}", "@import url(data:x;y);",
            ]
        )
    }

    // MARK: Hostile input

    @Test(arguments: ["[", "{\"a\":", "<a>", "<", "<!--", "((", "{", "`${", "a{", "/*", "\"\\", "\u{FFFD}\u{202E}"])
    func `the same beginning again and again does no harm`(piece: String) {
        let text = String(repeating: piece, count: 4000)
        let bytes = Array(text.utf8)
        for type in ["application/json", "text/html", "application/xml", "text/css", "text/javascript", "text/plain"] {
            let source = BodySource()
            source.set(.responseReceived, bytes)
            let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n")
            let document = Example.document(.response, exchange, source)
            #expect(document.lines.count <= DetailWriter.mostLines + 10)
            for line in document.lines {
                #expect(line.indent <= DetailWriter.deepestIndent)
                if line.plain.utf8.count > 41_000 { Issue.record("a line of \(line.plain.utf8.count) bytes") }
            }
        }
    }

    @Test func `a hundred thousand brackets are refused, not followed`() {
        let source = BodySource()
        source.set(.responseReceived, [UInt8](repeating: UInt8(ascii: "["), count: 100_000))
        let lines = Example.lines(.response, Example.exchange(), source)
        #expect(lines.contains { $0.hasSuffix("line 1, column 257: nested deeper than 256 levels") })
        #expect(lines.count < 20)
    }

    @Test func `random bytes of every type are shown in some way`() {
        var state: UInt64 = 42
        func random() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
        let signs = Array("<>{}[]()\"'`/*\\,:;=&!-a1 \n\t".utf8)
        let types = [
            "application/json", "text/html", "application/xml", "text/css", "text/javascript", "text/plain",
            "image/png",
            "multipart/form-data; boundary=a", "application/x-protobuf", "application/graphql", "application/x-ndjson",
            "application/x-www-form-urlencoded", "text/event-stream",
        ]
        for round in 0..<8 {
            let isText = round % 2 == 0
            let bytes = (0..<500).map { _ in isText ? signs[Int(random()) % signs.count] : random() }
            for type in types {
                let source = BodySource()
                source.set(.responseReceived, bytes)
                let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\n\r\n")
                for form in BodyForm.allCases {
                    let document = Example.document(.response, exchange, source) { $0.bodyForm = form }
                    for (index, line) in document.lines.enumerated() {
                        if let fold = line.fold { #expect(fold.end > index && fold.end <= document.lines.count) }
                        let isClean = line.plain.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
                        if !isClean { Issue.record("a control character in \(type)") }
                    }
                }
            }
        }
    }

    @Test func `a long line of a laid out body is cut and says by how much; the raw form has all of it`() {
        let source = BodySource()
        source.set(.responseReceived, [UInt8](repeating: UInt8(ascii: "x"), count: 50_000))
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
        let last = Example.lines(.response, exchange, source).last ?? ""
        #expect(last.hasSuffix("x … and 40,000 more bytes in this line, which the raw form shows"))
        let raw = Example.lines(.response, exchange, source) { $0.bodyForm = .raw }
        #expect(raw.last?.filter { $0 == "x" }.count == 50_000)
    }
}

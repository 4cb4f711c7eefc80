import Formats
import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Description

/// Copying: of exchanges, and of what is open.
struct CopyTests {
    /// A model with the detail open at a line of a document that has a header line and a value of JSON.
    private static func reading(_ line: Int) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        model.press("enter")
        var header = DetailLine([Span("Server  nginx")], indent: 2)
        header.copyable = .field(name: "Server", value: "nginx", place: Place(.response, .header, [.member("Server")]))
        var value = DetailLine([Span("\"a\": "), Span("[")], indent: 2, fold: Fold(end: 4, summary: "[ 1 element ]"))
        value.copyable = .json(JSONPlace(Array(#"{"a":[1.50],"b":"x"}"#.utf8), 5, in: Place(.response, .json)))
        let document = DetailDocument(lines: [
            DetailLine([Span("Response", .heading)]), header, value, DetailLine([Span("1.50")], indent: 4),
            DetailLine([Span("]")], indent: 2),
        ])
        let id = model.detail.id ?? ExchangeID(0)
        model.answer { $0.show(document, [.overview, .response], of: id, $0.detail.generation) }
        for _ in 0..<line { model.press("down") }
        return model
    }

    @Test func `the marked ones are copied, each after the other, else the selected one`() {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        #expect(model.perform(.copy, "fetch").words == ["copy fetch 9"])
        model.marks = [ExchangeID(3), ExchangeID(2)]
        #expect(model.perform(.copy, "curl").words == ["copy curl 3 2"])
        #expect(model.perform(.copyCurl, nil).words == ["copy curl 3 2"])
        #expect(model.perform(.copy, "url 4").words == ["copy url 4"])
    }

    @Test func `the choice begins with the form that was copied last`() {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        _ = model.perform(.copy, "python")
        model.press("c")
        #expect(model.press("enter").words == ["copy python 9"])
    }

    @Test func `the last copy is copied again without its secrets`() {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        #expect(model.press("Q").isEmpty && model.told == "Nothing was copied yet; c copies.")
        model.marks = [ExchangeID(3), ExchangeID(2)]
        _ = model.perform(.copy, "fetch")
        // What is selected by then does not matter: the same is copied.
        model.marks = []
        #expect(model.press("Q").words == ["masked copy fetch 3 2"])
        #expect(model.perform(.copy, "curl 4 masked").words == ["masked copy curl 4"])
        #expect(model.perform(.copy, "url masked").words == ["masked copy url 9"])
        #expect(model.perform(.copy, "nothing masked").isEmpty)
    }

    @Test func `a rewrite rule is made from the value under the cursor, which it sets`() {
        var header = CopyTests.reading(1)
        #expect(header.press("a", "r").words == ["draft rewrite 9 res.header.server=nginx 0"])
        var value = CopyTests.reading(2)
        #expect(value.press("a", "r").words == ["draft rewrite 9 res.json.a=[1.50] 0"])
        #expect(value.press("a", "b").words == ["draft block 9 0"])
        // The heading has no value.
        var heading = CopyTests.reading(0)
        #expect(heading.press("a", "r").words == ["draft rewrite 9 0"])
    }

    @Test func `the notice of a copy says how many secrets it holds, and the key`() {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        model.answer { $0.tellCopied("URL copied.", 2) }
        #expect(model.told == "URL copied. It holds 2 secrets; Q copies it masked.")
        model.answer { $0.tellCopied("URL copied.", 1) }
        #expect(model.told == "URL copied. It holds 1 secret; Q copies it masked.")
        model.answer { $0.tellCopied("URL copied.", 0) }
        #expect(model.told == "URL copied.")
    }

    @Test func `what is shown is copied masked: a line as it was, a page made anew`() {
        var line = CopyTests.reading(1)
        _ = line.perform(.copy, "value")
        guard case .shown("nginx", "Value", let ids)? = line.copying.last else {
            Issue.record("\(String(describing: line.copying.last))")
            return
        }
        #expect(ids == line.detail.id.map { [$0] })
        #expect(line.press("Q").words == ["masked copy text nginx"])
        _ = line.perform(.copy, "page")
        guard case .part(.page, "", let id, let options)? = line.copying.last else {
            Issue.record("\(String(describing: line.copying.last))")
            return
        }
        #expect(id == line.detail.id && options == line.detail.options)
    }

    @Test func `of a page that is no longer on the screen no line is offered, and none is copied`() {
        var model = CopyTests.reading(1)
        let open = model.copyChoices(.copy).items.first { $0.value == "page" }
        #expect(open?.disabled == nil)
        model.press("esc")
        model.press("esc")
        #expect(!model.detail.isOpen && model.detail.text.document != nil)
        model.press("down")
        let closed = model.copyChoices(.copy).items.filter { ["line", "page", "value"].contains($0.value) }
        #expect(closed.count == 3 && closed.allSatisfy { $0.disabled != nil })
        for form in ["page", "line", "value"] {
            #expect(model.perform(.copy, form).isEmpty)
            #expect(model.told.hasPrefix("No exchange is open"), "\(model.told)")
        }
    }

    @Test func `what the line under the cursor shows is copied`() {
        var header = CopyTests.reading(1)
        #expect(header.perform(.copy, "value").words == ["copy text nginx"])
        #expect(header.perform(.copy, "header").words == ["copy text Server: nginx"])
        #expect(header.perform(.copy, "line").words == ["copy text Server  nginx"])
        #expect(header.perform(.copy, "path").isEmpty && header.told.contains("not on a JSON value that has a path"))
        var value = CopyTests.reading(2)
        #expect(value.perform(.copy, "value").words == ["copy text [1.50]"])
        #expect(value.perform(.copy, "path").words == ["copy text res.json.a"])
        #expect(value.perform(.copy, "header").isEmpty && value.told == "The cursor is not on a header line.")
        #expect(
            value.perform(.copy, "page").words
                == ["copy text Response\n  Server  nginx\n  \"a\": [\n    1.50\n  ]"]
        )
    }

    @Test func `parts are named where there is no cursor`() {
        var model = CopyTests.reading(0)
        #expect(model.perform(.copy, "value json.a[0] 4").words == ["copy value json.a[0] 4"])
        #expect(model.perform(.copy, "header Server").words == ["copy header Server 9"])
        var closed = ModelFixture.listing(ModelFixture.plain(9), Size(width: 160, height: 30))
        #expect(closed.perform(.copy, "line").isEmpty && closed.told.hasPrefix("No exchange is open"))
    }

    @Test(arguments: [
        ("json.items[*].id", "res.json.items[*].id"), ("res.json", "res.json"), ("json[0]", "res.json[0]"),
        ("req.json.a", "req.json.a"),
    ])
    func `a place shows only its values until it is removed`(_ text: String, _ place: String) throws {
        var model = CopyTests.reading(0)
        #expect(model.perform(.findInDetail, text).words.count == 1)
        #expect(try model.detail.options.place == Place(place) && model.detail.sought == place)
        #expect(model.detail.options.page == (place.hasPrefix("req") ? .request : .response))
        #expect(model.perform(.findInDetail, "json.items[").isEmpty)
        #expect(model.told == "json.items[: the brackets are empty; write [*] for any, at character 11.")
        #expect(model.perform(.findInDetail, ".items[].id").isEmpty)
        #expect(model.told.contains("for a path in JSON write \(place.prefix(3)).json.items[*].id"))
        #expect(try model.detail.options.place == Place(place))
        let removes = place.hasPrefix("req") ? "." : ""
        #expect(model.perform(.findInDetail, removes).words.count == 1 && model.detail.options.place == nil)
    }

    @Test(arguments: ["json", "status", "header.server", "jsonp", "res.header.x"])
    func `other texts are found as text`(_ text: String) {
        var model = CopyTests.reading(0)
        _ = model.perform(.findInDetail, text)
        #expect(model.detail.options.place == nil && model.detail.sought == text)
    }

    @Test func `values are shown with what they may mean, and as they are`() {
        var model = CopyTests.reading(0)
        #expect(model.press("^").words.count == 1 && model.detail.options.decodesValues)
        // What is explained begins folded, and lines are other ones than before.
        let document = DetailDocument(lines: [
            DetailLine([Span("a")], fold: Fold(end: 2, summary: "(JWT)", startsFolded: true)), DetailLine([Span("b")]),
        ])
        let id = model.detail.id ?? ExchangeID(0)
        model.answer { $0.show(document, [.overview, .response], of: id, $0.detail.generation) }
        #expect(model.detail.text.reading.folds == [0])
        model.press("^")
        #expect(!model.detail.options.decodesValues)
    }
}

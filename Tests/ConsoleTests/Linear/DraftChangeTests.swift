import Testing

@testable import Console
@testable import Runner

@Suite("A draft is changed by lines")
struct DraftChangeTests {
    private static let rule = """
        # from exchange 3
        at: "http://localhost:1/a"
        # where to
        to: "http://localhost:3000"
        rules:
          - { add: header, name: X-A, to: one }

        """

    @Test(
        "A key of a rule is set, and nothing else changes",
        arguments: [
            ("to http://localhost:4000", "to: \"http://localhost:3000\"", "to: http://localhost:4000"),
            ("to: https://a.example/b#c", "to: \"http://localhost:3000\"", "to: https://a.example/b#c"),
            ("to=http://h", "to: \"http://localhost:3000\"", "to: http://h"),
            ("at */ads/*", "at: \"http://localhost:1/a\"", "at: \"*/ads/*\""),
            ("at a: b", "at: \"http://localhost:1/a\"", "at: \"a: b\""),
            ("at [a.example, b.example]", "at: \"http://localhost:1/a\"", "at: [a.example, b.example]"),
            (
                "6 - { remove: header, name: X-B }", "- { add: header, name: X-A, to: one }",
                "- { remove: header, name: X-B }"
            ),
            ("remove to", "to: \"http://localhost:3000\"\n", ""),
            ("remove 1", "# from exchange 3\n", ""),
            ("insert 1 name: mine", "# from", "name: mine\n# from"),
        ]
    )
    func key(words: String, old: String, new: String) throws {
        #expect(try DraftChange(words).rule(Self.rule) == Self.rule.replacing(old, with: new))
    }

    @Test("What is not there yet comes last; a rule in braces or of one word becomes lines")
    func newKey() throws {
        #expect(try DraftChange("action 404").rule("at: a.example\n\n") == "at: a.example\naction: 404\n")
        #expect(try DraftChange("action 404").rule("{at: \"*/x\"}") == "at: \"*/x\"\naction: 404\n")
        #expect(try DraftChange("only [a.example]").rule("true\n") == "only: [a.example]\n")
        #expect(try DraftChange("at b.example").rule("{at: \"*/x\", action: 403}").contains("b.example"))
        // Several lines of a value go together.
        #expect(try DraftChange("rules []").rule("rules:\n  - one\n  - two\nname: x\n") == "rules: []\nname: x\n")
    }

    @Test(
        "What is no change is refused, with what to write",
        arguments: ["to", "insert", "insert x y", "insert 2", "9 text", "0 text", "remove nothing", "insert 99 text"]
    )
    func wrong(words: String) {
        #expect(throws: ConsoleError.self) { try DraftChange(words).rule("at: a.example\n") }
    }

    @Test("A rule that cannot be read is mended by its lines, not by its keys")
    func broken() throws {
        let text = "at: [\nto: x\n"
        #expect(throws: ConsoleError.self) { try DraftChange("to y").rule(text) }
        #expect(try DraftChange("1 at: a.example").rule(text) == "at: a.example\nto: x\n")
    }

    @Test("A part of a message is changed by its name, with or without quotes")
    func message() throws {
        #expect(try DraftChange.edit("method PUT").method == "PUT")
        #expect(try DraftChange.edit("header X-Mode: a b").headers == [.init("X-Mode", "a b")])
        #expect(try DraftChange.edit("body {\"a\": 1}").body?.text == "{\"a\": 1}")
        let both = try DraftChange.edit("method=PUT header=\"X-Mode: a b\"")
        #expect(both.method == "PUT" && both.headers.count == 1)
        #expect(try DraftChange.edit("remove Cookie").removeHeaders == ["Cookie"])
        for wrong in ["colour red", "status many", "body @-"] {
            #expect(throws: (any Error).self, "\(wrong)") { try DraftChange.edit(wrong) }
        }
    }
}

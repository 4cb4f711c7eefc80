import Testing

@testable import Rules

@Suite("Nodes of YAML")
struct NodeTests {
    @Test("know where they stand, how they are written, and what they say")
    func read() throws {
        let text = "# top\nname: 'a'\nlist:\n  - ~\n  - |\n    b\n  - {c: \"d\", e: 1}\n"
        let root = try #require(try Node.read(text, file: "f.yaml"))
        #expect(root["name"]?.string == "a" && root["name"]?.line == 2 && root["name"]?.column == 7)
        #expect(root["name"]?.quoteWidth == 1 && root["none"] == nil && root["name"]?["a"] == nil)
        let list = try #require(root["list"]?.sequence)
        #expect(list.map(\.isNothing) == [true, false, false] && list[0].string == "")
        #expect(list[1].string == "b\n" && list[1].quoteWidth == 0)
        #expect(list[2].flow == "{ c: d, e: 1 }" && list[2].members == [list[2]])
        #expect(list[2].issue("no", in: "f.yaml").description == "f.yaml:7:5: no")
        #expect(try Node.read("# nothing\n", file: "f.yaml") == nil)
    }

    @Test("say the same whatever the quotes, comments, blanks and the order of keys")
    func meaning() throws {
        let one = try Node.read("a: [1, 'x']  # c\nb: {c: d}\n", file: "f")
        let other = try Node.read("b:\n  \"c\": d\na:\n  - \"1\"\n  - x\n", file: "f")
        #expect(one?.text() == other?.text() && one?.text(without: "b") == "{\"a\":[\"1\",\"x\"]}")
        #expect(one?.text() != (try Node.read("a: [x, 1]\nb: {c: d}\n", file: "f"))?.text())
    }

    @Test("that are made read back as the same, and texts never as numbers or flags")
    func write() throws {
        let texts = [
            "", "true", "4g", "8.5", "~", "null", "a b", "- x", "é: #", "'\"\\", "&a", "? b", "\u{7}\n", "*", "{",
        ]
        let made = Node.mapping([
            Node.Member("texts", .texts(texts)), Node.Member("on", .word("true")), Node.Member("4: é", .number(2.5)),
            Node.Member("one", .texts(["x"])), Node.Member("none", .list([])), Node.Member("map", .mapping([])),
        ])
        let back = try #require(try Node.read(made.flow, file: "f"))
        #expect(back.text() == made.text() && back.flow == made.flow)
        let read = try #require(back["texts"]?.sequence)
        #expect(
            read.allSatisfy { !$0.isNothing } && read.filter { Double($0.flow) != nil || $0.flow == "true" }.isEmpty
        )
        #expect(made.flow.contains("on: true, \"4: é\": 2.5, one: x, none: [], map: {}"))
    }

    @Test("take values by key in the order in which they come")
    func members() {
        var members: [Node.Member] = []
        members["b"] = "1"
        members["a"] = .word("2")
        members["b"] = .list(["3", "4"])
        #expect(Node.mapping(members).flow == "{ b: [\"3\", \"4\"], a: 2 }")
        members["b"] = nil
        members["c"] = nil
        #expect(Node.mapping(members).flow == "{ a: 2 }")
    }
}

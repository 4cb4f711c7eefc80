import Testing

@testable import Guide

@Suite("Pages of the guide are read")
struct GuideBlockTests {
    @Test("Headings, paragraphs, lists, tables, code and comments are told apart")
    func blocks() {
        let text = """
            # Title

            One **bold** and `code`,
            on two lines.

            - an item
              that goes on
            - another, see <doc:trust>
            1. first

            | a | b |
            | --- | --- |
            | `x \\| y` | [RFC](https://x/) |

            ```sh
            - no item

            $ last
            ```
            <!-- given: a
            b -->
            ### Sub
            """
        let expected: [GuideBlock] = [
            .heading(1, [GuideRun("Title")]),
            .paragraph([
                GuideRun("One "), GuideRun("bold", .bold), GuideRun(" and "), GuideRun("code", .code),
                GuideRun(", on two lines."),
            ]),
            .item(mark: "-", [GuideRun("an item that goes on")]),
            .item(mark: "-", [GuideRun("another, see "), GuideRun("sluice guide trust", .code)]),
            .item(mark: "1.", [GuideRun("first")]),
            .table([
                [[GuideRun("a")], [GuideRun("b")]], [[GuideRun("x | y", .code)], [GuideRun("RFC (https://x/)")]],
            ]),
            .code(language: "sh", ["- no item", "", "$ last"]),
            .comment("given: a\nb"),
            .heading(3, [GuideRun("Sub")]),
        ]
        let blocks = GuideBlock.read(text)
        for (block, wanted) in zip(blocks, expected) { #expect(block == wanted) }
        #expect(blocks.count == expected.count)
    }

    @Test(
        "What is not closed is text, and nothing hangs",
        arguments: [
            "`", "**", "**a", "<doc:a", "[a](b", "[a", "\\", "`` ` ``", "|", "| a", "```", "<!--", "- ", "#", "1.",
        ]
    )
    func open(text: String) {
        for cut in [text, "a \(text)", "\(text)\n\nb", "\(text) b"] { _ = GuideBlock.read(cut).map(\.lines) }
        #expect(GuideBlock.read("a \(text) b").map(\.lines).joined().joined().contains("a "))
    }

    @Test("A table that the program knows stands where its name does; one that it does not know is left out")
    func tables() {
        let page = GuidePage(
            group: "g",
            topic: "t",
            text: "# T\n\nFirst. Second.\n\n<!-- table: known -->\n<!-- table: other -->\n"
        ) { $0 == "known" ? "| a |\n| --- |\n| b |" : nil }
        #expect(page.markdown == "# T\n\nFirst. Second.\n\n| a |\n| --- |\n| b |\n\n")
        #expect(page.title == "T")
        #expect(page.abstract == "First. Second.")
        #expect(page.blocks.dropFirst() == [.table([[[GuideRun("a")]], [[GuideRun("b")]]])])
    }
}

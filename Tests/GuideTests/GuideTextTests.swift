import Testing

@testable import Guide

@Suite("Pages of the guide are laid out")
struct GuideTextTests {
    private func page(_ text: String) -> GuidePage { GuidePage(group: "g", topic: "t", text: text) }

    @Test("Words are wrapped, code is not, cells of a table are wrapped in their columns")
    func layout() {
        let text = GuideText(width: 24, isStyled: false)
            .text(
                of: page(
                    """
                    # Title
                    Some words that take more than one line.
                    - an item that takes two lines
                    - b
                    ```sh
                    a line of code that is long
                    ```
                    | option | meaning |
                    | --- | --- |
                    | `-o` | where it is written to |
                    """
                )
            )
        #expect(
            text == """
                TITLE

                Some words that take
                more than one line.

                - an item that takes two
                  lines
                - b

                    a line of code that is long

                option  meaning
                ──────  ────────────────
                -o      where it is
                        written to

                """
        )
    }

    @Test("Styles do not count as columns, and are closed on each line")
    func styles() {
        let styled = GuideText(width: 20, isStyled: true)
        let text = styled.text(
            of: page("# T\n\n**bold words that go on and on**\n\n| `a` | b |\n| --- | --- |\n| `cc` | d |")
        )
        #expect(text.contains("\u{1B}[1mthat\u{1B}[22m \u{1B}[1mgo\u{1B}[22m\n\u{1B}[1mon\u{1B}[22m"))
        #expect(text.contains("\u{1B}[36mcc\u{1B}[39m  d"))
        let plain = GuideText(width: 20, isStyled: false)
        #expect(
            plain.text(of: page("# T\n\nGive `a b` or **c**.\n\n| `a` | `b` c |\n| --- | --- |")) == """
                T

                Give `a b` or c.

                a  `b` c
                ─  ─────

                """
        )
    }
}

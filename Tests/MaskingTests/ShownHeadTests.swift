import Testing

@testable import Masking

@Suite("Lines of a head in a text that shows one")
struct ShownHeadTests {
    @Test(
        "The marks of curl, and of logs",
        arguments: [
            "", "> ", "< ", "* ", "| ", "  > ", ">  ", "| > ", "- ", "api-1  | ", "api-1  | < ", "11:08:41.123456 > ",
            "11:08:41 ", "[2026-11-27T11:08:41.123Z] > ", "2026-11-27 11:08:41,123 DEBUG http > ", "[11:08:41] ",
            "2026-11-27T11:08:41+01:00 * ", ">> ", "00a0: ",
            "2026-11-27 11:08:41.123 DEBUG org.apache.http.headers:135 - http-outgoing-0 << ",
        ]
    )
    func marks(prefix: String) {
        let lines = [
            "\(prefix)X-Api-Key: maple-otter", "\(prefix)Cookie: a=Maple-42; b=Otter-17",
            "\(prefix)Authorization: Basic bWFwbGU6b3R0ZXI=", "\(prefix)Accept: */*", "",
        ]
        let masked = [
            "\(prefix)X-Api-Key: sluice-key-1", "\(prefix)Cookie: a=sluice-cookie-1; b=sluice-cookie-2",
            "\(prefix)Authorization: Basic sluice-credential-1", "\(prefix)Accept: */*", "",
        ]
        for (start, end) in [("", "\n"), ("log:\n", "\r\n")] {
            #expect(
                Masked.text(start + lines.joined(separator: end)) == start + masked.joined(separator: end)
            )
        }
        // In a string of JSON, as it is and as Go writes its marks.
        for escape in [(String) -> String]([
            { $0 }, { $0.replacing(">", with: #"\u003e"#).replacing("<", with: #"\u003c"#) },
        ]) {
            #expect(
                Masked.text("{\"log\":\"x\\n\(escape(lines.joined(separator: "\\n")))\",\"a\":1}")
                    == "{\"log\":\"x\\n\(escape(masked.joined(separator: "\\n")))\",\"a\":1}"
            )
        }
        #expect(
            Masked.text("[\"\(prefix)Cookie: a=Maple-42\",\"b\"]") == "[\"\(prefix)Cookie: a=sluice-cookie-1\",\"b\"]"
        )
    }

    @Test("Behind words of a log a value counts that looks made by chance")
    func words() {
        #expect(
            Masked.text("11:08:41 DEBUG sent X-Api-Key: \(chance)\n11:08:41 INFO x")
                == "11:08:41 DEBUG sent X-Api-Key: sluice-key-1\n11:08:41 INFO x"
        )
        for text in [
            "11:08:41 ERROR Unexpected token: identifier\n", "11:08:41 WARN Authorization: absent\n",
            "11:08:41 INFO Password: changed\n", "11:08:41 WARN Set-Cookie: rejected\n",
        ] { #expect(Masked.text(text) == text) }
    }

    @Test(
        "What is no line of a head stays",
        arguments: [
            "the server said X-Api-Key: maple-otter", "if a > token: maple", "> token: the token to use",
            "a|password: x",
            "see 11:08:41 or later", "* Pass: 12 of 13", "> pin: in the mail", "[11:08:41] Pass: 12 of 13",
            "* password: the password of the user", "<password: maple",
        ]
    )
    func others(text: String) { #expect(Masked.text(text) == text) }
}

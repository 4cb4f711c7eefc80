import Foundation
import Testing

@testable import Masking

@Suite("A secret with spaces or signs is one in every coding")
struct SpacedSecretTests {
    /// The text masked after another one in which the secret has its name.
    private func masked(_ text: String, after first: String, _ syntax: ScanSyntax) -> String {
        let mask = TextMask()
        _ = mask.masked(first, syntax)
        _ = mask.masked(text, .text)
        mask.endCollecting()
        return mask.masked(text, .text) ?? text
    }

    @Test(
        "A plus sign of a form or a query is a space",
        arguments: [
            "abc def ghijk12", "abc%20def%20ghijk12", "abc+def+ghijk12", "abc&#32;def&#32;ghijk12",
            "abc\\u0020def\\u0020ghijk12", "abc\\x20def\\x20ghijk12",
        ]
    )
    func spaces(form: String) {
        for first in ["a=1&password=abc+def+ghijk12&b=2", "password=abc%20def+ghijk12"] {
            #expect(masked("x \(form) y", after: first, .form) == "x sluice-password-1 y", "\(first)")
        }
        let url = "https://h/x?a=1&password=abc+def+ghijk12"
        #expect(masked("x \(form) y", after: url, .text) == "x sluice-password-1 y")
    }

    @Test("A space of a form in base64 and in hexadecimal")
    func encoded() {
        let secret = Data("abc def ghijk12".utf8)
        let hexadecimal = secret.map { String($0, radix: 16) }.joined()
        let first = "password=abc+def+ghijk12"
        #expect(masked("x \(hexadecimal) y", after: first, .form) == "x sluice-password-1 y")
        #expect(masked("x \(secret.base64EncodedString()) y", after: first, .form) == "x sluice-password-1 y")
    }

    @Test("A token whose plus sign is none is the same secret, whichever of them comes first")
    func plus() {
        let (query, json) = ("/x?token=ab+cd/ef12&y", #"{"token":"ab+cd/ef12","z":"ab%2Bcd%2Fef12","u":"ab cd/ef12"}"#)
        for texts in [[(query, ScanSyntax.field), (json, .text)], [(json, .text), (query, .field)]] {
            let mask = TextMask()
            for text in texts { _ = mask.masked(text.0, text.1) }
            mask.endCollecting()
            #expect(mask.masked(query, .field) == "/x?token=sluice-token-1&y")
            #expect(
                mask.masked(json, .text) == #"{"token":"sluice-token-1","z":"sluice-token-1","u":"sluice-token-1"}"#
            )
            #expect(mask.book.entries.count == 1)
        }
    }

    @Test("In a program each reading has a variable of its own")
    func variables() {
        let mask = TextMask()
        let text = "token=ab+cd/ef12&x=ab%20cd/ef12"
        _ = mask.masked(text, .form)
        mask.endCollecting()
        mask.book.isForPrograms = true
        let masked = mask.masked(text, .form).map { mask.book.unmarked($0) }
        #expect(masked == "token=sluice-token-1e1&x=sluice-token-1e2")
    }

    @Test("Found on another thread, both readings are known")
    func threads() {
        let main = TextMask()
        let worker = TextMask(main.copy)
        _ = worker.masked("password=abc+def+ghijk12", .form)
        main.add(worker.takeFindings())
        main.endCollecting()
        #expect(main.masked("abc def ghijk12, abc+def+ghijk12", .text) == "sluice-password-1, sluice-password-1")
    }

    @Test(
        "Signs as JSON, JavaScript and HTML write them",
        arguments: [
            #"a'b\"c\\d\t<e>&f12"#, #"a\'b"c\\d\t<e>&f12"#, "a&apos;b&quot;c\\d\t&lt;e&gt;&amp;f12",
            "a&#x27;b&quot;c\\d\t&lt;e&gt;&amp;f12", "a'b\"c\\d\t&lt;e&gt;&amp;f12", "a'b&quot;c\\d\t&lt;e>&amp;f12",
            #"a\x27b\x22c\x5Cd\x09\x3ce\x3E\x26f12"#,
        ]
    )
    func signs(form: String) {
        #expect(Masked.text("x \(form) y", .script, knowing: ["a'b\"c\\d\t<e>&f12"]) == "x sluice-token-1 y")
    }
}

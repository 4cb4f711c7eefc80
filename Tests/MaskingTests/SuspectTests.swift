import HTTPModel
import NIOCore
import Testing

@testable import Masking

@Suite("What looks like a secret")
struct SuspectTests {
    private func suspects(_ text: String, _ syntax: ScanSyntax = .text) -> [TextMask.Suspect] {
        let mask = TextMask()
        _ = mask.masked(text, syntax)
        return mask.suspects
    }

    private static let long = chance + chance

    @Test(
        "has the name of its place",
        arguments: [
            (#"{"reference":"\#(long)"}"#, "reference", ScanSyntax.text), ("a=1&ref=\(long)", "ref", .form),
            ("<data:ref x='1'>\(long)</data:ref>", "data:ref", .markup), ("some \(long) words", "", .text),
            ("ref[inner]=\(long)", "inner", .form),
        ]
    )
    func names(text: String, name: String, syntax: ScanSyntax) {
        #expect(suspects(text, syntax).map(\.name) == [name])
    }

    @Test("has the name of its field in a head")
    func fields() {
        let mask = TextMask()
        let head = ByteBuffer(string: "GET / HTTP/1.1\r\nX-Reference: \(Self.long)\r\nAge: 0\r\n\r\n\(Self.long)9z")
        _ = HeadMask(mask: mask).masked(head, isRequest: true)
        #expect(mask.suspects.map(\.name) == ["X-Reference", ""])
    }

    @Test(
        "may have hardly a digit, and signs of base64",
        arguments: [
            "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "QwErTyUiOpAsDfGhJkLzXcVb", "uXbWqPzRtKmNsLvYcDfGhJkE",
            "kT9vQm/ZxR2pLw8NcYb4HsJdFgUaEiOo1VtXqWeR", "Vx3kPq_9TzLmWd7RbYcN2g", "V1StGXR8_Z5jdHi6B-myT",
        ]
    )
    func letters(text: String) {
        #expect(suspects("x \(text) y").map(\.beginning) == [String(text.prefix(6))])
    }

    @Test(
        "is no name, path or word",
        arguments: [
            "getElementsByTagNameAndClassName", "XMLHttpRequestEventTargetPrototype",
            "Donaudampfschifffahrtsgesellschaft",
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "/assets/Images/Products/XBox/OneS/ProductDetail",
            "com.example.App/MainActivity/OnCreateOptionsMenu",
            "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC",
            "getElementById2Version3", "XMLHttpRequestEventTar", "my-component-2024-01-02", "d41d8cd98f00b204e9800",
            "SCREAMING_SNAKE_CASE_OF_A_CONSTANT", "application/vnd.oai.openapi+json",
        ]
    )
    func ordinary(text: String) { #expect(suspects("x \(text) y").isEmpty) }
}

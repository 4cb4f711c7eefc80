import HTTPModel
import NIOCore
import Testing

@testable import Masking

@Suite("What looks like a secret")
struct SuspectTests {
    private func suspects(_ text: String, _ syntax: ScanSyntax? = .text) -> [TextMask.Suspect] {
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

    @Test(
        "may be a segment of a path",
        arguments: [
            "/s/8fK2mQ9zLw4TbV7n8fK2mQ", "/invite/Vx3kPq_9TzLmWd7RbYcN2g/accept",
            "https://h/s/8fK2mQ9zLw4TbV7n8fK2mQ?x=1",
        ]
    )
    func segments(path: String) {
        let segment = path.split(separator: "/").first { $0.count >= 20 } ?? ""
        #expect(suspects(path, .field).map(\.beginning) == [String(segment.prefix(6))])
        #expect(suspects(#"{"url":"\#(path)"}"#).count == 1)
    }

    @Test(
        "is no segment with the name of a file, a number of a well-known shape, a digest or words",
        arguments: [
            "/static/js/main-8d3f2a1b9c4e5f60718293a4.js", "/app.3f2a9c41b7d84e0a9c4e5f60.js",
            "/x/507f1f77bcf86cd799439011",
            "/x/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/x/550e8400-e29b-41d4-a716-446655440000",
            "/a/b/commits/9fceb02d0ae598e95dc970b74767f19372d61af8", "/_next/static/8fK2mQ9zLw4TbV7n8fK2mQ/_build.js",
            "/blog/2024/05/how-to-write-a-parser-in-swift-6", "/users/12345678901234567890/orders",
            "/x/2024-05-17T12-34-56Z", "/a/getElementsByTagNameAndClassName/x", "/jobs/build-1234-ubuntu-22-04-amd64",
        ]
    )
    func ordinarySegments(path: String) { #expect(suspects(path, .field).isEmpty) }

    @Test("is no identifier that is well known")
    func identifiers() {
        let value = "9f3A7c21Bd08e6QzKm41Wx77Lp"
        for name in [
            "x-amz-id-2", "X-Request-Id", "X-Correlation-ID", "ETag", "traceparent", "X-Trace", "X-Amz-Cf-Id",
            "Content-Digest",
        ] {
            let mask = TextMask()
            let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(name): \(value)\r\n\r\n")
            _ = HeadMask(mask: mask).masked(head, isRequest: false)
            #expect(mask.suspects.isEmpty, "\(name)")
        }
        for text in [
            #"{"requestId":"\#(value)","trace_id":"\#(value)","fileHash":"\#(value)","etag":"\#(value)"}"#,
            "<id>\(value)</id>", "a=1&visitor_id=\(value)", "d41d8cd98f00b204e9800998ecf8427e",
            "9fceb02d0ae598e95dc970b74767f19372d61af8", "sha256-oqVuAfXRKap7fdgcCY5uykM6R9GqQ8K",
        ] { #expect(suspects(text).isEmpty, "\(text)") }
    }
}

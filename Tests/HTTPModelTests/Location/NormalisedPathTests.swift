import Testing

@testable import HTTPModel

@Suite("Normalised paths")
struct NormalisedPathTests {
    @Test(
        "are what servers read",
        arguments: [
            ("/%73ecret", "/secret"), ("//secret", "/secret"), ("/./secret", "/secret"), ("/a/../secret", "/secret"),
            ("/%2e%2E/secret", "/secret"), ("/a/%2e./secret", "/secret"), ("/..//../secret", "/secret"),
            ("/a//../secret", "/secret"), ("/%2Fsecret", "/secret"), ("/a%2f..%2fsecret", "/secret"),
            ("/secret/.", "/secret/"), ("/secret/x/..", "/secret/"), ("/..", "/"), ("/a%20b", "/a b"),
            ("/caf%c3%a9", "/caf%C3%A9"), ("/a%2ab%25", "/a%2Ab%25"), ("/a%", "/a%"), ("/a%4", "/a%4"),
            ("/a%zz", "/a%zz"), ("/#/../secret", "/secret"),
        ]
    )
    func normalised(path: String, expected: String) {
        #expect(NormalisedPath.of(path) ?? path == expected)
    }

    @Test(
        "are not made where the path is normal",
        arguments: ["/", "", "*", "/a/b/", "/.well-known/x", "/a..b/c.d", "/%C3%A9"]
    )
    func normal(path: String) {
        #expect(NormalisedPath.of(path) == nil)
    }

    @Test(
        "are two if a backslash may be a slash",
        arguments: [
            ("/a", []), ("/a/..\\b", ["/b"]),
            ("/a%5c..%5Cb", ["/a%5C..%5Cb", "/b"]), ("/./a\\..\\b", ["/a\\..\\b", "/b"]),
        ]
    )
    func backslashes(path: String, expected: [String]) {
        #expect(NormalisedPath.all(of: path) == expected)
    }

    @Test(
        "are matched by the locations for what they were",
        arguments: [
            ("h/secret*", "/%73ecret"), ("h/%73ecret", "//secret"), ("h//ads/*", "///ads/x"), ("h/a%20b", "/./a%20b"),
            ("h/*.html", "/x//y.html"),
        ]
    )
    func locations(pattern: String, path: String) throws {
        let location = try Location(pattern).withNormalisedPath
        let url = RequestURL(scheme: "http", host: "h", port: 80, path: try #require(NormalisedPath.of(path)))
        #expect(location.matches(url))
    }
}

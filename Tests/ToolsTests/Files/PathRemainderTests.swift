import HTTPModel
import Rules
import Testing

@testable import Tools

@Suite("What a location leaves of a path")
struct PathRemainderTests {
    @Test(
        "The literal part up to the last slash before a wildcard is consumed",
        arguments: [
            // Charles' own table, and a real file.
            ("xk72.com", "/charles/index.php", "charles/index.php"),
            ("xk72.com/charles/*", "/charles/index.php", "index.php"),
            ("xk72.com/*.php", "/charles/index.php", "charles/index.php"),
            ("xk72.com/charles/*.php", "/charles/index.php", "index.php"),
            ("*", "/data/2.5/f", "data/2.5/f"),
            // What follows from it.
            ("*/charles/", "/charles/", ""), ("*/a/b.php", "/a/b.php", ""), ("*/a*", "/a/b/c", "a/b/c"),
            ("*/a/x[12]/*", "/a/x1/y", "x1/y"), ("*/a/x\\?/*", "/a/x1/y", "x1/y"), ("*/a/\\*/b*", "/a/*/bc", "bc"),
            ("*/a/*/b/*", "/a/1/b/2", "1/b/2"), ("*/*", "/", ""), ("*/a/*", "/a/", ""), ("*/*", "//x", "/x"),
            ("*", "//x", "/x"), ("*/%61/*", "/%61/b", "b"),
        ]
    )
    func remainders(location: String, path: String, remainder: String) throws {
        let location = try Location(location)
        let url = RequestURL(scheme: "http", host: "xk72.com", port: 80, path: path)
        #expect(location.matches(url))
        #expect(location.remainder(of: path) == remainder)
    }

    @Test("Each star stands for something, those too that are a field by themselves")
    func stars() throws {
        let url = try #require(RequestURL("https://api.example.com:8443/v1/users/7?page=2"))
        for (text, stars) in [
            ("*", ["api.example.com"]), ("https://*.example.com/v1/*", ["api", "users/7"]),
            ("*://*/*/users/*", ["https", "api.example.com", "v1", "7"]),
            ("*:*/*", ["api.example.com", "8443", "v1/users/7"]),
            ("**.com/v?/*?page=*", []), ("api.example.com/*?page=*", ["v1/users/7", "2"]),
            ("*/**/7?*", ["api.example.com", "v1/users", "page=2"]),
        ] {
            let location = try Location(text)
            if stars.isEmpty { continue }
            #expect(location.stars(of: url) == stars, "\(text)")
            #expect(location.starCount == stars.count, "\(text)")
        }
    }
}

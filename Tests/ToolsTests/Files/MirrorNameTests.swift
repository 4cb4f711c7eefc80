import HTTPModel
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Names of mirrored files")
struct MirrorNameTests {
    private func path(_ text: String) throws -> String {
        let names = MirrorNames(try #require(RequestURL(text)))
        return (names.directories + [names.file]).joined(separator: "/")
    }

    @Test(
        "A URL becomes a path of plain names",
        arguments: [
            ("https://a.example/", "a.example/index.html"), ("http://a.example/b", "a.example/b"),
            ("https://a.example:8443/b/c.json", "a.example_8443/b/c.json"),
            ("http://a.example:443/", "a.example_443/index.html"),
            ("http://[::1]:3000/x", "%3A%3A1_3000/x"), ("https://a.example/b/", "a.example/b/index.html"),
            ("https://a.example/v1/items?page=2&q=a%2Fb", "a.example/v1/items?page=2&q=a%2Fb"),
            ("https://a.example/?q=/etc/passwd", "a.example/index.html?q=%2Fetc%2Fpasswd"),
            ("https://a.example/a?", "a.example/a?"), ("https://a.example/caf%C3%A9%20x", "a.example/café x"),
            ("https://a.example/a%2Fb", "a.example/a%2Fb"), ("https://a.example/a%252Fb", "a.example/a%252Fb"),
            ("https://a.example/a%5Cb", "a.example/a%5Cb"), ("https://a.example/%00", "a.example/%00"),
            ("https://a.example/%ff", "a.example/%FF"), ("https://a.example/x%3Fy", "a.example/x%3Fy"),
            ("https://a.example/100%25", "a.example/100%25"), ("https://a.example/%zz", "a.example/%25zz"),
            ("https://a.example/%4", "a.example/%254"), ("https://a.example/%4g", "a.example/%254g"),
            ("https://a.example/../../etc/passwd", "a.example/%2E./%2E./etc/passwd"),
            ("https://a.example/%2e%2e/x", "a.example/%2E./x"), ("https://a.example/./x", "a.example/%2E/x"),
            ("https://a.example//x", "a.example/%empty/x"), ("https://a.example/.git", "a.example/.git"),
            ("https://a.example/users.headers", "a.example/users%2Eheaders"),
            ("https://a.example/a\\..\\b", "a.example/a%5C..%5Cb"),
        ]
    )
    func names(url: String, path: String) throws {
        #expect(try self.path(url) == path)
    }

    @Test(
        "A host of dots, which no request has but a session may, leads nowhere else",
        arguments: [("..", "%2E./x"), (".", "%2E/x"), (".hidden", "%2Ehidden/x")]
    )
    func dots(host: String, path: String) {
        let names = MirrorNames(RequestURL(scheme: "http", host: host, port: 80, path: "/x"))
        #expect((names.directories + [names.file]).joined(separator: "/") == path)
    }

    @Test("Names are never longer than a disk takes, and long ones differ by a hash")
    func long() throws {
        let front = "https://a.example/" + String(repeating: "é", count: 3_000)
        let one = try path(front + "1")
        let other = try path(front + "2")
        #expect(one != other)
        #expect(one.split(separator: "/").allSatisfy { $0.utf8.count <= 200 })
        #expect(one.hasPrefix("a.example/ééé"))
        let deep = try path("https://a.example/" + String(repeating: "a/", count: 30_000))
        #expect(deep.split(separator: "/").count == 35)
        #expect(deep.split(separator: "/").allSatisfy { $0.utf8.count <= 200 })
    }

    @Test("No name leads elsewhere, whatever bytes a URL has")
    func random() throws {
        let seed: UInt64 = 0x510C_E005
        print("seed \(seed)")
        var state = seed
        let pieces = [
            "/", ".", "..", "%2e", "%2F", "%5c", "\\", "%00", "%", "?", "&", "a", "é", "%c0%af", ":", "~", "*", " ",
        ]
        for _ in 0..<5_000 {
            var text = "/"
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            var url = RequestURL(scheme: "http", host: "a.example", port: 80, path: "/")
            url.setPathAndQuery(text)
            let names = MirrorNames(url)
            for name in names.directories + [names.file] {
                #expect(!name.isEmpty && name != "." && name != "..", "\(text)")
                #expect(!name.utf8.contains { $0 == 0x2F || $0 == 0x5C || $0 < 0x20 }, "\(text)")
                #expect(!name.hasSuffix("%") || name.contains("?"), "\(text)")
            }
        }
    }
}

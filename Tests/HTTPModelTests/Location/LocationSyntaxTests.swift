import Support
import Testing

@testable import HTTPModel

@Suite("The string form of locations")
struct LocationSyntaxTests {
    @Test(
        "is split over the five fields",
        arguments: [
            ("*", LocationPattern(host: "*")), ("example.com", LocationPattern(host: "example.com")),
            ("localhost:3000", LocationPattern(host: "localhost", port: "3000")),
            ("*:*", LocationPattern(host: "*", port: "*")),
            (
                "*.example.com/v1/*?page=*", LocationPattern(host: "*.example.com", path: "/v1/*", query: "page=*")
            ),
            (
                "https://api.example.com:8443/a/b?c=d",
                LocationPattern(protocol: "https", host: "api.example.com", port: "8443", path: "/a/b", query: "c=d")
            ),
            ("*://h/", LocationPattern(protocol: "*", host: "h", path: "/")), ("/v1/*", LocationPattern(path: "/v1/*")),
            ("?a=1", LocationPattern(query: "a=1")),
            ("example.com?a=1", LocationPattern(host: "example.com", query: "a=1")),
            ("*?a=1", LocationPattern(host: "*", query: "a=1")),
            ("h:80?a=1", LocationPattern(host: "h", port: "80", query: "a=1")),
            ("api?.example.com/x", LocationPattern(host: "api?.example.com", path: "/x")),
            ("h:808?/x", LocationPattern(host: "h", port: "808?", path: "/x")), ("h?", LocationPattern(host: "h?")),
            ("[::1]:8080/x", LocationPattern(host: "::1", port: "8080", path: "/x")),
            ("[fe80::*]", LocationPattern(host: "fe80::*")),
            ("[a-c]*.test:80", LocationPattern(host: "[a-c]*.test", port: "80")),
            ("h/a\\?b?c", LocationPattern(host: "h", path: "/a?b", query: "c")),
            ("h/a[?]b?c", LocationPattern(host: "h", path: "/a[?]b", query: "c")),
            ("h/a\\*b", LocationPattern(host: "h", path: "/a\\*b")), ("h/?", LocationPattern(host: "h", path: "/")),
            ("h/go?to=http://x/y", LocationPattern(host: "h", path: "/go", query: "to=http://x/y")),
            ("h?to=http://x/y", LocationPattern(host: "h", query: "to=http://x/y")),
            ("http://", LocationPattern(protocol: "http")), (" example.com\t", LocationPattern(host: "example.com")),
            ("h/a?b?c", LocationPattern(host: "h", path: "/a", query: "b?c")),
        ]
    )
    func splits(text: String, expected: LocationPattern) throws {
        #expect(try LocationPattern(text) == expected)
    }

    @Test(
        "points at what is wrong",
        arguments: [
            ("", 1, "the location is empty"), ("  ", 1, "the location is empty"),
            ("h:", 3, "the port after the colon is missing"),
            ("::1", 2, "this is a second colon"), ("a:1:2", 4, "this is a second colon"),
            ("[::1]x", 6, "only a port or a path can follow an address in brackets"),
            ("https://exa mple.com", 12, "a host cannot have ' '"), ("user@h", 5, "a host cannot have '@'"),
            ("h:99999/x", 3, "99999 is no port"), ("h:8a", 4, "a port cannot have 'a'"),
            ("http://h/x/[ab", 12, "'[' has no ']'"),
            ("h/a\\?[", 6, "'[' has no ']'"), ("  h/[", 5, "'[' has no ']'"), ("h/?a[", 5, "'[' has no ']'"),
            ("[ab", 1, "'[' has no ']'"), ("h/x\\", 4, "'\\' ends the pattern"),
        ]
    )
    func errors(text: String, column: Int, message: String) {
        let error = #expect(throws: LocationError.self) { try Location(text) }
        #expect(error?.message == message)
        #expect(error?.column == column)
    }

    @Test("reads back from the description")
    func roundTrip() throws {
        let seed: UInt64 = 0x510C_E002
        var random = SplitMix(seed)
        let hosts = ["", "*", "example.com", "*.example.com", "a?.test", "[a-c]x", "::1"]
        let paths = ["", "/", "/a/*", "*.html", "/a?b", "/x\\?y", "/[?]", "*", "/a\\*", "/[\\]]"]
        let urls = [
            "http://example.com/", "https://a.example.com:8443/a/b?x=1", "http://[::1]/a.html", "ws://ax.test/axb",
            "http://ax/]",
        ]
        for _ in 0..<3_000 {
            let pattern = LocationPattern(
                protocol: ["", "http", "*", "https"][random.number(below: 4)],
                host: hosts[random.number(below: hosts.count)],
                port: ["", "80", "8*", "84?3"][random.number(below: 4)],
                path: paths[random.number(below: paths.count)],
                query: ["", "x=1", "*", "a?b", "x=\\?"][random.number(below: 5)]
            )
            let location = try Location(pattern)
            let reread = try Location(location.description)
            for text in urls {
                let url = try #require(RequestURL(text))
                #expect(
                    location.matches(url) == reread.matches(url),
                    "seed \(seed): \(pattern) as \(location) on \(text)"
                )
            }
        }
    }

    @Test("made of anything is read or refused, and never crashes")
    func anything() {
        let seed: UInt64 = 0x510C_E003
        var random = SplitMix(seed)
        let alphabet = [
            "*", "?", "[", "]", "\\", ":", "/", "//", "://", "a", "1", ".", "-", " ", "é", "=", "@", "#", "!", "\r\n",
            "👩‍👩‍👧",
        ]
        var compiled = 0
        for _ in 0..<20_000 {
            let text = random.text(of: alphabet, upTo: 12)
            do {
                let location = try Location(text)
                compiled += 1
                _ = location.mismatch(RequestURL(scheme: "http", host: "a", port: 1, path: "/1"))?.description
                #expect(throws: Never.self, "seed \(seed): \(text) printed \(location)") {
                    try Location(location.description)
                }
            } catch {
                #expect(error.column >= 1 && error.column <= text.count + 1, "seed \(seed): \(text): \(error)")
            }
        }
        #expect(compiled > 1_000)
        #expect(throws: LocationError.self) { try Location(String(repeating: "[", count: 1_000_000)) }
    }
}

import Testing

@testable import HTTPModel

@Suite("Locations")
struct LocationTests {
    private func url(_ text: String) throws -> RequestURL { try #require(RequestURL(text)) }

    @Test(
        "follow the table of path rules",
        arguments: [
            ("example.com", "", "http://example.com/", true), ("example.com", "", "https://example.com/a/b?c", true),
            ("example.com", "", "http://www.example.com/", false), ("*.example.com", "", "http://a.example.com/", true),
            ("*.example.com", "", "http://a.b.example.com/", true), ("*.example.com", "", "http://example.com/", false),
            ("example.com", "/charles/", "http://example.com/charles/", true),
            ("example.com", "/charles/", "http://example.com/charles/x", false),
            ("example.com", "/charles/", "http://example.com/charles", false),
            ("example.com", "/charles", "http://example.com/charles", true),
            ("example.com", "/charles", "http://example.com/charles/", false),
            ("example.com", "/charles/*", "http://example.com/charles/", true),
            ("example.com", "/charles/*", "http://example.com/charles/a/b", true),
            ("example.com", "/charles/*", "http://example.com/charles", false),
            ("example.com", "/*.html", "http://example.com/a.html", true),
            ("example.com", "/*.html", "http://example.com/a/b/c.html", true),
            ("example.com", "/*.html", "http://example.com/a.htm", false),
            ("", "/charles/*.html", "http://any.test/charles/a.html", true),
            ("", "/charles/*.html", "https://other.test/charles/a/b.html", true),
            ("", "/charles/*.html", "http://any.test/a.html", false),
            ("example.com", "/charles", "http://example.com/charles?q=1", true),
        ]
    )
    func pathRules(host: String, path: String, url text: String, expected: Bool) throws {
        let location = try Location(LocationPattern(host: host, path: path))
        #expect(try location.matches(url(text)) == expected)
        #expect(try (location.mismatch(url(text)) == nil) == expected)
    }

    @Test(
        "compare each field by its own rules",
        arguments: [
            (LocationPattern(), "http://h/", true),
            (LocationPattern(protocol: "HTTP"), "http://h/", true),
            (LocationPattern(protocol: "http"), "ws://h/", true),
            (LocationPattern(protocol: "https"), "wss://h/", true),
            (LocationPattern(protocol: "http"), "https://h/", false),
            (LocationPattern(protocol: "ws"), "http://h/", false), (LocationPattern(protocol: "wss"), "wss://h/", true),
            (LocationPattern(protocol: "http*"), "wss://h/", true), (LocationPattern(protocol: "*"), "ws://h/", true),
            (LocationPattern(host: "EXAMPLE.com"), "http://example.COM/", true),
            (LocationPattern(host: "example.com"), "http://example.com./", true),
            (LocationPattern(host: "example.com."), "http://example.com/", true),
            (LocationPattern(host: "127.0.0.1"), "http://0x7f.1/", true),
            (LocationPattern(host: "0177.1"), "http://127.0.0.1/", true),
            (LocationPattern(host: "[0::1]"), "http://[::1]/", true),
            (LocationPattern(host: "::ffff:127.0.0.1"), "http://127.1/", true),
            (LocationPattern(host: "127.*"), "http://2130706433/", true),
            (LocationPattern(host: "127.1"), "http://127.1.example/", false),
            (LocationPattern(host: "*.com\\."), "http://example.com./", true),
            (LocationPattern(port: "443"), "https://h/", true), (LocationPattern(port: "80"), "ws://h/", true),
            (LocationPattern(port: "443"), "https://h:8443/", false),
            (LocationPattern(port: "*443"), "https://h:8443/", true),
            (LocationPattern(port: "80[0-9]?"), "http://h:8080/", true),
            (LocationPattern(port: "8[0-9]8?"), "http://h:8080/", true),
            (LocationPattern(path: "/A"), "http://h/a", false),
            (LocationPattern(query: "*page=1*"), "http://h/?a=1&page=10", true),
            (LocationPattern(query: "page=1"), "http://h/?page=1", true),
            (LocationPattern(query: "Page=1"), "http://h/?page=1", false),
            (LocationPattern(query: "?page=1"), "http://h/?page=1", false),
            (LocationPattern(query: "*"), "http://h/", true),
            (LocationPattern(query: "?*"), "http://h/", false), (LocationPattern(query: "a"), "http://h/", false),
            (LocationPattern(path: "mobileapi/video/get*"), "http://h/mobileapi/video/getAll", true),
            (LocationPattern(path: "*"), "http://h/x", true),
            (LocationPattern(host: " *example* "), "http://www.example.com/", true),
            (LocationPattern(host: "[::1]"), "http://[::1]:8080/", true),
            (LocationPattern(host: "::1"), "http://[::1]/", true),
        ]
    )
    func fields(pattern: LocationPattern, url text: String, expected: Bool) throws {
        let location = try Location(pattern)
        #expect(try location.matches(url(text)) == expected)
        let reread = try Location(location.description)
        #expect(try reread.matches(url(text)) == expected, "string form \(location)")
    }

    @Test("of hosts also mean tunnels, and https does")
    func tunnels() throws {
        let tunnel = RequestURL(scheme: "tunnel", host: "example.com", port: 443, path: "")
        #expect(try Location("example.com").matches(tunnel))
        #expect(try Location("https://example.com:443").matches(tunnel))
        #expect(try !Location("http://example.com").matches(tunnel))
        #expect(try Location("*").matchesEverything)
        let mismatch = try Location("https://example.com/*").mismatch(tunnel)
        #expect(mismatch?.hint == "not decrypted, so the path is not known")
    }

    @Test("know what the hosts they match have in common")
    func hostKeys() throws {
        #expect(try Location("API.example.com/x").hostKey == .exact("api.example.com"))
        #expect(try Location("*.example.com").hostKey == .suffix(".example.com"))
        #expect(try Location("https://*.example.com.:443/x").hostKey == .suffix(".example.com"))
        #expect(try Location("api-*.example.com").hostKey == .suffix(".example.com"))
        #expect(try Location("api.*").hostKey == .any)
        #expect(try Location("/v1/*").hostKey == .any)
        #expect(try Location("[::1]:80").hostKey == .exact("::1"))
    }

    @Test("lint what is hardly meant")
    func lints() throws {
        func fields(_ pattern: LocationPattern) throws -> [LocationPattern.Field] {
            try Location(pattern).lints.map(\.field)
        }
        #expect(try fields(LocationPattern(host: "example.com", path: "/a")) == [])
        #expect(try fields(LocationPattern(host: "*clarovideo* ")) == [.host])
        #expect(try fields(LocationPattern(path: "api/beta")) == [.path])
        #expect(try fields(LocationPattern(path: "*")) == [])
        #expect(try fields(LocationPattern(query: "?a=1")) == [.query])
        #expect(try fields(LocationPattern(query: "a=?")) == [.query])
        #expect(try fields(LocationPattern(query: "a=\\?")) == [])
        #expect(try fields(LocationPattern(protocol: "htp")) == [.protocol])
        #expect(try fields(LocationPattern(path: "/a#b c")) == [.path, .path])
        #expect(try Location("example.com ").lints.map(\.message) == ["leading and trailing spaces were removed"])
        #expect(try Location(LocationPattern(path: "api/beta")).pattern.path == "/api/beta")
    }

    @Test("report what their stars stood for")
    func captures() throws {
        let location = try Location("http*://*.example.com:8*/v1/*/x/*?*page=*")
        let captures = location.captures(try url("https://api.example.com:8443/v1/a/x/b/c?q=1&page=2"))
        #expect(
            LocationPattern.Field.allCases.flatMap { captures?[$0] ?? [] } == [
                "s", "api", "443", "a", "b/c", "q=1&", "2",
            ]
        )
        #expect(captures?[.path] == ["a", "b/c"])
        #expect(location.captures(try url("http://example.com/")) == nil)
    }

    @Test(
        "that are wrong say in which field and column",
        arguments: [
            (LocationPattern(host: "a b"), LocationPattern.Field.host, 2), (LocationPattern(host: " a/b"), .host, 3),
            (LocationPattern(port: "0"), .port, 1), (LocationPattern(port: "65536"), .port, 1),
            (LocationPattern(port: "http"), .port, 1),
            (LocationPattern(protocol: "ht/tp"), .protocol, 3), (LocationPattern(path: "/a[b"), .path, 3),
            (LocationPattern(path: "a[b"), .path, 2), (LocationPattern(query: "a\\"), .query, 2),
        ]
    )
    func fieldErrors(pattern: LocationPattern, field: LocationPattern.Field, column: Int) {
        let error = #expect(throws: LocationError.self) { try Location(pattern) }
        #expect(error?.field == field)
        #expect(error?.column == column)
    }
}

@Suite("Mismatches of locations")
struct LocationMismatchTests {
    @Test(
        "name the first field, both values, and what may have been meant",
        arguments: [
            ("/v1/users", "http://h/v1/users/", "path: pattern /v1/users does not match /v1/users/ (add /*?)"),
            ("/v1/users", "http://h/v1/users/7", "path: pattern /v1/users does not match /v1/users/7 (add /*?)"),
            ("/v1/users/", "http://h/v1/users/7", "path: pattern /v1/users/ does not match /v1/users/7 (add *?)"),
            ("/v1/users/", "http://h/v1/users", "path: pattern /v1/users/ does not match /v1/users (drop the last /?)"),
            ("/v1/*", "http://h/v1", "path: pattern /v1/* does not match /v1 (write /v1*?)"),
            ("/V1", "http://h/v1", "path: pattern /V1 does not match /v1 (case counts)"),
            ("/x", "http://h/v1", "path: pattern /x does not match /v1"),
            (
                "*.example.com/x", "http://example.com/y",
                "host: pattern *.example.com does not match example.com (*. needs a subdomain; add example.com as well?)"
            ),
            (
                "example.com", "http://a.example.com/",
                "host: pattern example.com does not match a.example.com (write *.example.com?)"
            ),
            ("https://h", "http://h/", "protocol: pattern https does not match http"),
            ("h:80", "https://h/", "port: pattern 80 does not match 443 (443 is the port of https)"),
            ("h/*?page=1", "http://h/?page=1&b", "query: pattern page=1 does not match page=1&b (write *page=1*?)"),
            ("h/*?page=1", "http://h/", "query: pattern page=1 does not match an empty one (there is no query)"),
        ]
    )
    func descriptions(pattern: String, url: String, expected: String) throws {
        let mismatch = try Location(pattern).mismatch(#require(RequestURL(url)))
        #expect(mismatch?.description == expected)
    }

    @Test("are none where the URL is meant")
    func none() throws {
        #expect(try Location("h/v1/*").mismatch(#require(RequestURL("http://h/v1/x"))) == nil)
    }
}

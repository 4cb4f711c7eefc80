import CharlesFiles
import HTTPModel
import Rules
import Testing

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// The location as a profile has it, written and read again, with what had to be changed.
private func converted(_ location: CharlesLocation) throws -> (location: Location, notes: [String]) {
    var notes: [String] = []
    let pattern = location.pattern(&notes)
    let node = Node.location(pattern)
    if let text = node.string { return (try Location(text), notes) }
    var fields = LocationPattern()
    for member in try #require(node.mapping) {
        let field = try #require(member.key.string.flatMap { LocationPattern.Field(rawValue: $0) })
        fields[field] = try #require(member.value.string)
    }
    return (try Location(fields), notes)
}

private func matches(_ location: CharlesLocation, _ url: String) throws -> Bool {
    try converted(location).location.matches(try #require(RequestURL(url)))
}

@Suite("Charles' locations mean the same in a profile")
struct CharlesLocationTests {
    @Test(
        "Path rules",
        arguments: [
            ("example.com", "", "https://example.com/any/thing?x", true),
            ("example.com", "", "https://www.example.com/", false),
            ("*.example.com", "", "http://a.b.example.com/", true),
            ("*.example.com", "", "http://example.com/", false),
            ("example.com", "/charles/", "http://example.com/charles/", true),
            ("example.com", "/charles/", "http://example.com/charles/a", false),
            ("example.com", "/charles", "http://example.com/charles", true),
            ("example.com", "/charles", "http://example.com/charles/", false),
            ("example.com", "/charles/*", "http://example.com/charles/", true),
            ("example.com", "/charles/*", "http://example.com/charles/a/b?c", true),
            ("example.com", "/*.html", "http://example.com/a/b.html", true),
            ("", "/charles/*.html", "http://any.example/charles/a/b.html", true),
            ("", "/charles/*.html", "http://any.example/b.html", false),
            ("*", "*", "http://any.example/b.html", true),
            ("", "", "http://any.example/", true),
            ("h?st.example", "/a?c", "http://host.example/abc", true),
            ("h?st.example", "/a?c", "http://host.example/ac", false),
            ("h", "/[a-c]/[xyz]", "http://h/b/z", true),
            ("h", "/[a-c]/[xyz]", "http://h/d/z", false),
        ]
    )
    func paths(host: String, path: String, url: String, isMatch: Bool) throws {
        #expect(try matches(CharlesLocation(host: host, path: path), url) == isMatch)
    }

    @Test("Wildcards are taken in every field, queries without their question mark")
    func fields() throws {
        let all = CharlesLocation(protocol: "*", host: "*", port: "*", path: "*", query: "*")
        #expect(try matches(all, "https://h:8443/a?b"))
        #expect(try matches(CharlesLocation(port: "443"), "https://h/"))
        #expect(try !matches(CharlesLocation(port: "443"), "http://h/"))
        #expect(try matches(CharlesLocation(port: "80?0"), "http://h:8080/"))
        #expect(try matches(CharlesLocation(query: "*page=1*"), "http://h/?a&page=10"))
        #expect(try !matches(CharlesLocation(query: "*page=1*"), "http://h/?page=2"))
        #expect(try matches(CharlesLocation(host: "h", query: "a=1"), "http://h/?a=1"))
        #expect(try !matches(CharlesLocation(query: "?a=1"), "http://h/?a=1"))
        #expect(try matches(CharlesLocation(protocol: "https"), "wss://h/"))
        #expect(try !matches(CharlesLocation(path: "/", query: "a"), "http://h/x?a"))
    }

    @Test("What was typed or written by other programs carelessly is put right and told")
    func quirks() throws {
        func quirk(_ location: CharlesLocation, _ url: String, _ note: String) throws {
            let (converted, notes) = try converted(location)
            #expect(converted.matches(try #require(RequestURL(url))), "\(converted)")
            #expect(converted.lints == [])
            #expect(notes == [note])
        }
        try quirk(
            CharlesLocation(host: "*clarovideo* "),
            "http://a.clarovideo.example/",
            "blanks at the ends of the host are left out"
        )
        try quirk(
            CharlesLocation(path: "mobileapi/video/get*"),
            "http://h/mobileapi/video/get/1",
            "a slash is put before the path"
        )
        try quirk(
            CharlesLocation(host: "https://h:8443/a/*"),
            "https://h:8443/a/b",
            "the host is a whole URL, and is split into its parts"
        )
        try quirk(
            CharlesLocation(path: "/a[b"),
            "http://h/a[b",
            "a bracket in the path that is not closed stands for itself"
        )
        #expect(try converted(CharlesLocation(host: "h", port: "0")).notes == [])
        #expect(try matches(CharlesLocation(host: "h", port: "0"), "http://h:81/"))
        #expect(try matches(CharlesLocation(path: "/a\\b"), "http://h/a\\b"))
        #expect(try matches(CharlesLocation(path: "/a[\\x]b"), "http://h/a\\b"))
        #expect(try converted(CharlesLocation(host: "\n  h\n  ")).notes == [])
    }

    @Test("A path between slashes is no regular expression")
    func slashes() {
        let field = Node.location(LocationPattern(path: "/a/"))
        #expect(field.flow == "{ path: /a/ }")
        #expect(Node.location(LocationPattern(host: "h", path: "/a/")).flow == "h/a/")
    }
}

import Testing

@testable import ProxyServer

@Suite("Redirects of a server that a listener stands in for")
struct ReverseRedirectsTests {
    private static func rewrite(
        _ location: String,
        by target: ReverseTarget = ReverseTarget(.https, host: "api.example.com", port: 443),
        clientScheme: String = "http",
        host: String = "localhost:8080"
    ) -> ReverseRedirects.Outcome {
        let place = ReverseStages.Place(target: target, clientScheme: clientScheme)
        return ReverseRedirects(place: place, clientAuthority: host).outcome(of: location)
    }

    @Test(
        "Those to the server lead to the listener, as the client spoke to it",
        arguments: [
            ("https://api.example.com/a?b#c", "http://localhost:8080/a?b#c"),
            ("https://API.example.com:443/a", "http://localhost:8080/a"),
            ("HTTPS://api.example.com./a", "http://localhost:8080/a"),
            ("https://api.example.com", "http://localhost:8080/"),
            ("https://api.example.com?q", "http://localhost:8080/?q"),
            ("https://api.example.com#top", "http://localhost:8080/#top"),
            ("//api.example.com/a", "http://localhost:8080/a"),
            ("https://user@api.example.com/a//b", "http://localhost:8080/a//b"),
        ]
    )
    func local(location: String, expected: String) { #expect(Self.rewrite(location) == .rewritten(expected)) }

    @Test(
        "Others stay",
        arguments: [
            "/a", "a", "?q", "", "https://login.example.com/a", "https://api.example.com.evil.example/",
            "https://api.example.com:8443/", "http://api.example.com:8080/", "mailto:a@api.example.com", "https://",
            "//localhost/", "https:///a", "http://localhost:8080/a", "javascript://api.example.com/%0aalert(1)",
        ]
    )
    func kept(location: String) { #expect(Self.rewrite(location) == .kept) }

    @Test("One to the same host by the other scheme is named, as this listener would answer it with the same redirect")
    func otherScheme() {
        let target = ReverseTarget(.http, host: "api.example.com", port: 80)
        #expect(
            Self.rewrite("https://api.example.com/a", by: target) == .otherScheme("reverse:https://api.example.com")
        )
        #expect(Self.rewrite("http://api.example.com/a") == .otherScheme("reverse:http://api.example.com"))
    }

    @Test("The client's scheme is the client's")
    func scheme() {
        #expect(
            Self.rewrite("https://api.example.com/", clientScheme: "https", host: "h:1") == .rewritten("https://h:1/")
        )
    }

    @Test(
        "A client that calls the listener by the server's name, or not at all, gets a path",
        arguments: ["", "API.example.com"]
    )
    func path(host: String) {
        #expect(Self.rewrite("https://api.example.com/a?b", host: host) == .rewritten("/a?b"))
        // That would be the name of another host.
        #expect(Self.rewrite("https://api.example.com//evil.example/", host: host) == .kept)
    }
}

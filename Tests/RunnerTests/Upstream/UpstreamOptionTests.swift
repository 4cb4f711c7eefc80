import HTTPModel
import ProxyServer
import Testing

@testable import Jobs
@testable import Runner

@Suite("--upstream-proxy")
struct UpstreamOptionTests {
    private func routes(
        _ text: String = "env",
        _ environment: [String: String] = [:],
        _ set: (inout UpstreamOption) -> Void = { _ in }
    ) throws -> (String) throws -> String {
        var option = try UpstreamOption(text, environment: environment)
        set(&option)
        let made = option
        return { url in
            switch made.route(try #require(RequestURL(url))) {
            case .direct, .bypassing: "direct"
            case .through(let proxy, let reason): "\(proxy) \(reason)"
            }
        }
    }

    @Test("A URL is the proxy of every server but those of this machine, unless that is wished")
    func url() throws {
        let route = try routes("http://p:1")
        for url in ["http://a/", "https://a/", "ws://a/", "wss://a/"] {
            #expect(try route(url) == "http://p:1 --upstream-proxy")
        }
        for url in ["http://localhost/", "https://x.localhost/", "http://127.1.2.3/", "http://[::1]/"] {
            #expect(try route(url) == "direct")
        }
        let all = try routes("http://p:1") { $0.bypassesLocalhost = false }
        #expect(try all("http://localhost/") == "http://p:1 --upstream-proxy")
    }

    @Test("'direct' is no proxy, and no host of that name")
    func direct() throws {
        let error = #expect(throws: StartError.self) { try UpstreamOption("direct", environment: [:]) }
        #expect(error?.hint.contains("--upstream-bypass HOST") == true)
        let option = try UpstreamOption("http://p:1", environment: [:])
        let url = try #require(RequestURL("http://localhost/"))
        #expect(option.route(url) == .bypassing(reason: "bypassed: --upstream-proxy"))
    }

    @Test(
        "The environment's variables are read as curl does",
        arguments: [
            ([:], "direct", "direct"),
            (["http_proxy": "h:1"], "http://h:1 http_proxy", "direct"),
            (["HTTP_PROXY": "h:1"], "direct", "direct"),
            (["HTTPS_PROXY": "s:1"], "direct", "http://s:1 HTTPS_PROXY"),
            (["https_proxy": "s:1", "HTTPS_PROXY": "t:1"], "direct", "http://s:1 https_proxy"),
            (
                ["https_proxy": "", "ALL_PROXY": "socks5h://a"], "socks5://a:1080 ALL_PROXY",
                "socks5://a:1080 ALL_PROXY"
            ),
            (["http_proxy": "h:1", "all_proxy": "a:2"], "http://h:1 http_proxy", "http://a:2 all_proxy"),
            (["all_proxy": "a:2", "no_proxy": "x, .example"], "direct", "direct"),
            (["all_proxy": "a:2", "no_proxy": "", "NO_PROXY": "*"], "http://a:2 all_proxy", "http://a:2 all_proxy"),
            (["all_proxy": "a:2", "NO_PROXY": "*"], "direct", "direct"),
        ]
    )
    func environment(_ variables: [String: String], plain: String, secure: String) throws {
        let route = try routes("env", variables)
        #expect(try route("http://a.example/") == plain)
        #expect(try route("https://a.example/") == secure)
    }

    @Test("What is no proxy is refused by the name of who said it, without a password")
    func mistakes() {
        for (text, environment, words) in [
            ("ftp://u:secret@a", [:], "--upstream-proxy is not a proxy"),
            ("env", ["http_proxy": "http://u:secret@a b"], "http_proxy is not a proxy"),
        ] as [(String, [String: String], String)] {
            do {
                _ = try UpstreamOption(text, environment: environment)
                Issue.record("it was taken")
            } catch {
                #expect(error.message.hasPrefix(words) && !error.description.contains("secret"), "\(error)")
            }
        }
    }

    @Test("In words it has no password")
    func words() throws {
        let option = try UpstreamOption(
            "env",
            environment: ["http_proxy": "http://u:secret@h:1", "https_proxy": "s:2"]
        )
        #expect(option.text == "http://h:1 for http, http://s:2 for https")
        #expect(try UpstreamOption("h:1", environment: [:]).text == "http://h:1")
        #expect(try UpstreamOption("env", environment: ["https_proxy": "s:2"]).text == "http://s:2 for https")
        #expect(try UpstreamOption("env", environment: [:]).text.hasPrefix("none is set"))
    }

    @Test(
        "One that is certainly Sluice itself is refused before it listens",
        arguments: [
            ("127.0.0.1", 8_080, "localhost:8080", true), ("0.0.0.0", 8_080, "127.0.0.1:8080", true),
            ("192.168.1.2", 8_080, "192.168.1.2:8080", true), ("127.0.0.1", 8_080, "127.0.0.1:8081", false),
            ("127.0.0.1", 0, "127.0.0.1:8080", false), ("192.168.1.2", 8_080, "127.0.0.1:8080", false),
        ]
    )
    func itself(host: String, port: Int, proxy: String, isRefused: Bool) throws {
        let option = try UpstreamOption(proxy, environment: [:])
        if isRefused {
            #expect(throws: StartError.self) { try option.check(listeningOn: host, port: port) }
        } else {
            try option.check(listeningOn: host, port: port)
        }
    }
}

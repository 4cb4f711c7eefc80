import HTTPModel
import Testing

@Suite("Upstream proxies as they are written")
struct UpstreamProxyTests {
    @Test(
        "A URL names kind, host, port, user and password",
        arguments: [
            ("http://proxy.example:3128", UpstreamProxy(kind: .http, host: "proxy.example", port: 3_128)),
            ("proxy.example:3128", UpstreamProxy(kind: .http, host: "proxy.example", port: 3_128)),
            ("HTTP://Proxy.Example", UpstreamProxy(kind: .http, host: "proxy.example", port: 80)),
            ("https://proxy.example/", UpstreamProxy(kind: .https, host: "proxy.example", port: 443)),
            ("socks5h://[::1]", UpstreamProxy(kind: .socks5, host: "::1", port: 1_080)),
            ("socks://10.0.0.1:9050", UpstreamProxy(kind: .socks5, host: "10.0.0.1", port: 9_050)),
            (
                "http://me%40home:p%3Aw%20d@p:1",
                UpstreamProxy(kind: .http, host: "p", port: 1, user: "me@home", password: "p:w d")
            ),
            ("socks5://me@p:1", UpstreamProxy(kind: .socks5, host: "p", port: 1, user: "me")),
            ("http://me:@p:1", UpstreamProxy(kind: .http, host: "p", port: 1, user: "me", password: "")),
        ]
    )
    func reading(text: String, proxy: UpstreamProxy) throws {
        #expect(try UpstreamProxy(text) == proxy)
    }

    @Test("What is shown has neither user nor password")
    func shown() throws {
        #expect(try UpstreamProxy("http://me:secret@[::1]:3128").description == "http://[::1]:3128")
    }

    @Test(
        "What is no proxy is refused with a reason, without its password",
        arguments: [
            ("", "SCHEME://HOST:PORT"), ("http://", "SCHEME://HOST:PORT"), ("http://p:0", "SCHEME://HOST:PORT"),
            ("http://p:99999", "SCHEME://HOST:PORT"), ("ftp://p", "'ftp' is not a kind of proxy"),
            ("socks4://p:1", "SOCKS 4 is not supported"), ("http://p/path", "has no path"),
            ("http://p?q", "has no path"),
            ("http://me:secret%zz@p", "percent-encoding"), ("http://:secret@p", "the user before '@' is missing"),
            ("http://a%3Ab:secret@p", "colon"), ("http://a%0Ab:secret@p", "control characters"),
            ("http://a:secret%00@p", "control characters"),
            ("http://\(String(repeating: "a", count: 256)):secret@p", "at most 255 bytes"),
            ("http://me:secret@a b", "SCHEME://HOST:PORT"),
        ]
    )
    func mistakes(text: String, reason: String) {
        do {
            _ = try UpstreamProxy(text)
            Issue.record("it was taken")
        } catch {
            #expect(error.description.contains(reason), "\(error)")
            #expect(!error.description.contains("secret"))
        }
    }

    @Test(
        "A bypass means hosts, what is below them, addresses and networks",
        arguments: [
            ("*", ["a.example:1", "10.0.0.1:80"], []),
            ("a.example", ["a.example:80"], ["b.a.example:80", "xa.example:80"]),
            ("A.Example:8080", ["a.example:8080"], ["a.example:80"]),
            ("*.a.example", ["b.a.example:80", "c.b.a.example:1"], ["a.example:80", "ba.example:80"]),
            (".a.example", ["a.example:80", "b.a.example:80"], ["xa.example:80"]),
            ("10.0.0.0/8", ["10.1.2.3:80"], ["11.0.0.1:80", "10.example:80"]),
            ("192.168.128.0/17", ["192.168.128.1:1", "192.168.255.1:1"], ["192.168.127.1:1"]),
            ("0.0.0.0/0", ["1.2.3.4:80"], ["::1:80", "a:80"]),
            ("::1", ["::1:80"], ["::2:80"]),
            ("[fe80::1]:443", ["fe80::1:443"], ["fe80::1:80"]),
            ("2001:db8::/32", ["2001:db8:1::5:80"], ["2001:db9::1:80"]),
            ("127.0.0.1", ["127.0.0.1:80", "::ffff:127.0.0.1:80"], ["127.0.0.2:80"]),
        ]
    )
    func bypass(text: String, meant: [String], others: [String]) throws {
        let bypass = try #require(ProxyBypass(text))
        func matches(_ place: String) -> Bool {
            let colon = place.lastIndex(of: ":") ?? place.endIndex
            return bypass.matches(host: String(place[..<colon]), port: Int(place[colon...].dropFirst()) ?? 0)
        }
        #expect(meant.allSatisfy(matches))
        #expect(!others.contains(where: matches))
    }

    @Test(
        "What is no bypass is refused",
        arguments: ["", "a b", "10.0.0.0/33", "10.0.0.0/x", "a/8", "*.*.a", "a.*", "/", "::/129"]
    )
    func noBypass(text: String) {
        #expect(ProxyBypass(text) == nil)
    }

    @Test("As in no_proxy a name is also for those below it")
    func suffix() throws {
        let bypass = try #require(ProxyBypass("a.example", isSuffix: true))
        #expect(bypass.matches(host: "a.example", port: 1) && bypass.matches(host: "b.a.example", port: 1))
        #expect(!bypass.matches(host: "ba.example", port: 1))
    }

    @Test("Localhost is what leads to this machine", arguments: ["localhost", "a.localhost", "127.9.9.9", "::1"])
    func localhost(host: String) {
        #expect(ProxyBypass.localhost.contains { $0.matches(host: host, port: 80) })
        #expect(!ProxyBypass.localhost.contains { $0.matches(host: "x" + host + ".example", port: 80) })
    }
}

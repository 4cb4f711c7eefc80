import HTTPModel
import Support
import Testing
import Tools

@testable import Rules

@Suite("What a profile says of the way to servers")
struct UpstreamRulesTests {
    private func profile(_ text: String) throws -> RuleProfile {
        try RuleProfile("version: 1\n\(text)", file: "/p/p.yaml")
    }

    private func url(_ text: String) throws -> RequestURL { try #require(RequestURL(text)) }

    @Test("is the first rule for a request, with what it bypasses, and is listed")
    func reading() throws {
        let profile = try profile(
            """
            upstream:
              - { name: here, proxy: direct, only: "*.corp.example" }
              - name: office
                proxy: "http://me@proxy.example:3128"
                password-file: pass.txt
                except: "https://api.example.com/v2/*"
                bypass: [ 10.0.0.0/8, .near.example ]
              - { proxy: "socks5://[::1]:9050", bypass-localhost: false }
            """
        )
        let rules = profile.upstream
        #expect(rules.rules.map(\.heading.name) == ["here", "office", "rule 3"])
        let here = try #require(rules.rule(for: url("http://a.corp.example/")))
        #expect(here.proxy == nil)
        let office = try #require(rules.rule(for: url("https://other.example/")))
        #expect(office.proxy == UpstreamProxy(kind: .http, host: "proxy.example", port: 3_128, user: "me"))
        #expect(office.passwordFile == "/p/pass.txt")
        for bypassed in [
            "http://10.1.1.1/", "http://near.example/", "http://a.near.example/", "http://localhost/", "http://[::1]/",
        ] {
            #expect(try office.bypasses(url(bypassed)))
        }
        #expect(try !office.bypasses(url("http://far.example/")))
        let tor = try #require(rules.rule(for: url("https://api.example.com/v2/x")))
        #expect(tor.proxy?.kind == .socks5)
        #expect(try !tor.bypasses(url("http://localhost/")))
        #expect(
            profile.listing.contains(
                """
                upstream
                  1. here: *.corp.example: directly
                  2. office: * except https://api.example.com/v2/*: through http://proxy.example:3128 as me, but not to \
                10.0.0.0/8, .near.example
                  3. rule 3: *: through socks5://[::1]:9050, to localhost too

                """
            ),
            "\(profile.listing)"
        )
        #expect(profile.listingJSON.contains("here: *.corp.example: directly"))
        #expect(
            rules.way(to: try url("http://a.corp.example/"))
                == "asked directly ('here' under 'upstream', /p/p.yaml:3:5)"
        )
        #expect(
            rules.way(to: try url("http://x.example/"))
                == "asked through http://proxy.example:3128 ('office' under 'upstream', /p/p.yaml:4:5)"
        )
        #expect(rules.way(to: try url("http://localhost/"))?.contains("is bypassed") == true)
    }

    @Test("may be just a proxy, and rules of several files are in their order")
    func short() throws {
        let rules = try RuleProfile(
            sources: [
                ProfileSource(file: "a.yaml", text: "version: 1\nupstream: { proxy: \"http://a:1\", only: a.example }"),
                ProfileSource(file: "b.yaml", text: "version: 1\nupstream: \"http://b:2\""),
            ],
            tools: .standard
        ).upstream
        #expect(try rules.rule(for: url("http://a.example/"))?.proxy?.port == 1)
        #expect(try rules.rule(for: url("http://b.example/"))?.proxy?.port == 2)
        #expect(rules.rules[1].heading.name == "rule 2")
        #expect(try profile("").upstream.rule(for: url("http://a.example/")) == nil)
    }

    @Test("A disabled rule is for no request")
    func disabled() throws {
        let rules = try profile("upstream: [{ proxy: direct, enabled: false }, \"http://b:2\"]").upstream
        #expect(try rules.rule(for: url("http://a.example/"))?.proxy?.port == 2)
        #expect(rules.texts[0].hasSuffix("(disabled)"))
    }

    @Test("why says how a server would be reached, after tools have changed where it is")
    func explained() throws {
        let profile = try profile(
            """
            map-remote: { from: "http://a.example/*", to: "http://b.example/" }
            upstream: { proxy: "http://p:1", only: b.example }
            block: { at: c.example }
            """
        )
        func text(_ address: String) throws -> String {
            try DryRunRequest(method: "GET", url: url(address)).explained(by: profile).text()
        }
        #expect(try text("http://a.example/").contains("asked through http://p:1 ('rule 1' under 'upstream'"))
        #expect(try !text("http://d.example/").contains("asked "))
        #expect(try !text("http://c.example/").contains("asked "))
    }

    @Test(
        "Mistakes are told with their place",
        arguments: [
            ("upstream: { only: a }", "2:11 an upstream rule needs 'proxy'"),
            ("upstream: { proxy: ftp://a }", "2:20 'proxy' must be a proxy or 'direct': 'ftp' is not a kind of proxy"),
            ("upstream: \"http://u:secret@a:1\"", "2:11 'proxy' contains a password"),
            (
                "upstream: { proxy: direct, password-file: x }",
                "2:43 a password needs a user: write http://USER@HOST:3128"
            ),
            (
                "upstream: { proxy: \"http://a:1\", password-file: x }",
                "2:49 a password needs a user: write http://USER@a:1"
            ),
            ("upstream: { proxy: direct, bypass: [ \"10.0.0.0/99\" ] }", "2:38 '10.0.0.0/99' is not one of"),
            ("upstream: { proxi: direct }", "2:13 an upstream rule has no key 'proxi' (did you mean 'proxy'?)"),
            (
                "upstream: [ \"http://a:1\", { name: b, proxy: direct, only: c } ]",
                "2:27 lint 'b' is never used: 'rule 1' at p.yaml:2:13 already matches everything it matches"
            ),
            (
                "intercept: { except: [ a ] }\nupstream: { proxy: direct, only: \"https://a/x\" }",
                "3:11 lint https://a/x has a path or query, but 'intercept' excludes a from decryption"
            ),
            ("client-certificate: { file: a.p12 }", "2:21 a client-certificate rule needs 'host'"),
            (
                "client-certificate: { host: a }",
                "2:21 a client-certificate rule needs 'file', or 'certificate' and 'key'"
            ),
            ("client-certificate: { host: a, certificate: c }", "2:21 'certificate' needs 'key'"),
            ("client-certificate: { host: a, file: c, key: k }", "2:46 'file' contains certificate and key"),
            ("client-certificate: { host: a/x, file: c }", "2:29 client-certificate accepts a host and a port"),
            ("client-certificate: { host: a, file: c, port: 0 }", "port must be from 1 to 65535"),
            ("client-certificate: { host: \"a.test:9\", port: 10, file: c }", "2:47 'a.test:9' has a port"),
            ("client-certificate: { host: [ b, \"c:9\" ], port: 9, file: c }", "2:49 'c:9' has a port"),
            (
                "client-certificate: [{ host: \"*.a\", file: c }, { name: n, host: x.a, file: d, port: 1 }]",
                "2:48 lint 'n' is never used"
            ),
            (
                "intercept: { except: [ a ] }\nclient-certificate: { host: a, file: c }",
                "3:21 lint 'intercept' excludes a from decryption"
            ),
        ]
    )
    func mistakes(text: String, message: String) {
        let found = issues("version: 1\n\(text)")
        #expect(found.contains { $0.contains(message) }, "\(found)")
        #expect(!found.joined().contains("secret"))
    }

    @Test("A password that is in a file is told nowhere, and one for another port decides")
    func certificates() throws {
        let rules = try profile(
            """
            client-certificate:
              - { host: "*.example.com", port: 8443, file: a.p12, password-file: ~/x }
              - { name: b, host: [ "*.example.com", "c:9" ], certificate: c.pem, key: k.pem }
            """
        ).clientCertificates
        #expect(rules.index(host: "a.example.com", port: 8_443) == 0)
        #expect(rules.index(host: "a.example.com", port: 443) == 1)
        #expect(rules.index(host: "c", port: 9) == 1)
        #expect(rules.index(host: "c", port: 10) == nil)
        #expect(rules.rules[1].file == "/p/c.pem" && rules.rules[1].keyFile == "/p/k.pem")
        #expect(rules.texts == ["rule 1: *.example.com on port 8443: /p/a.p12", "b: *.example.com, c:9: /p/c.pem"])
    }
}

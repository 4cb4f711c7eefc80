import ExchangeCore
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("DNS spoofing")
struct DNSSpoofingTests {
    private func play(_ profile: String, _ url: String) throws -> DryRunExchange {
        var dryRun = DryRun(try RuleProfile("version: 1\n\(profile)", file: "p.yaml"))
        return dryRun.play(try #require(DryRunRequest(url)))
    }

    @Test("The address changes; Host, SNI and port stay")
    func address() throws {
        let exchange = try play(
            "dns-spoofing: [{ name: d, host: '*.example.com', address: 127.0.0.1 }]",
            "https://api.example.com:8443/x"
        )
        var expected = Destination(scheme: "https", host: "api.example.com", port: 8_443)
        expected.address = "127.0.0.1"
        #expect(exchange.destination == expected)
        #expect(exchange.sent?.head.fields.value(of: .host) == "api.example.com:8443")
        #expect(exchange.trace.map(\.text) == ["connects to 127.0.0.1 for api.example.com"])
        #expect(exchange.trace.map(\.rule) == ["d"])
    }

    @Test(
        "The first rule for the host that is looked up counts; addresses are not looked up",
        arguments: [
            ("http://one.example/", "10.0.0.1"), ("http://ONE.example/", "10.0.0.1"), ("http://two.example/", "::1"),
            ("http://three.example/", "other.example"), ("http://four.example:81/", "10.0.0.4"),
            ("http://four.example/", "10.0.0.9"), ("http://x.test/", nil), ("http://127.0.0.1/", nil),
            ("http://[::1]/", nil), ("http://off.example/", "10.0.0.9"),
        ] as [(String, String?)]
    )
    func hosts(url: String, address: String?) throws {
        let exchange = try play(
            """
            dns-spoofing:
              - { host: off.example, address: 10.0.0.8, enabled: false }
              - { host: one.example, address: 10.0.0.1 }
              - { host: two.example, address: "[::1]" }
              - { host: three.example, address: other.example }
              - { host: "four.example:81", address: 10.0.0.4 }
              - { host: ["*.example", "127.*", "[::1]"], address: 10.0.0.9 }
            """,
            url
        )
        #expect(exchange.destination?.address == address)
        #expect(exchange.trace.count == (address == nil ? 0 : 1))
    }

    @Test("After map-remote its host counts, not the client's")
    func afterMapRemote() throws {
        let profile = """
            map-remote: { from: a.example, to: b.example }
            dns-spoofing: [{ host: a.example, address: 10.0.0.1 }, { host: b.example, address: 10.0.0.2 }]
            """
        let exchange = try play(profile, "http://a.example/")
        #expect(exchange.destination?.host == "b.example")
        #expect(exchange.destination?.address == "10.0.0.2")
    }

    @Test("Tunnels are spoofed too")
    func tunnels() throws {
        let exchange = try play(
            "intercept: { only: none.example }\ndns-spoofing: { host: a.example, address: '::1' }",
            "https://a.example/"
        )
        #expect(exchange.isTunnel)
        #expect(exchange.destination?.address == "::1")
        #expect(exchange.destination?.host == "a.example")
    }

    @Test(
        "What is wrong is said with its place",
        arguments: [
            ("{ host: a.example }", "2:15 a dns-spoofing rule needs 'address'"),
            ("{ address: 1.2.3.4 }", "2:15 a dns-spoofing rule needs 'host'"),
            (
                "{ host: a.example/x, address: 1.2.3.4 }",
                "2:23 dns-spoofing accepts a host and a port; 'a.example/x' has more"
            ),
            (
                "{ host: a.example, address: '1.2.3.4:80' }",
                "2:43 '1.2.3.4:80' is neither an address nor the name of a host; map-remote changes ports"
            ),
            ("{ host: a.example, address: 'x y' }", "2:43 'x y' is neither an address nor the name of a host"),
            ("{ host: a.example, address: '1::2::3' }", "2:43 '1::2::3' is neither an address nor the name of a host"),
            (
                "{ host: 10.0.0.1, address: 1.2.3.4 }",
                "2:23 lint 10.0.0.1 is an address, which is never looked up; use map-remote"
            ),
        ]
    )
    func issues(rule: String, issue: String) {
        #expect(Support.issues("version: 1\ndns-spoofing: \(rule)") == [issue])
    }
}

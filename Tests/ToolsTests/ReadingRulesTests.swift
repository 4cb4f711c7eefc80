import ExchangeCore
import HTTPModel
import Rules
import Testing
import Tools

@Suite("Rules that have to read what is in TLS")
struct ReadingRulesTests {
    @Test(
        "They name the host and cannot act on its tunnels, or refuse some paths of any host",
        arguments: [
            ("rewrite: { at: a.example, rules: [{ remove: header, on: request, name: X }] }", "rewrite"),
            ("no-caching: { only: \"*.example\" }", "no-caching"), ("no-caching: true", nil),
            ("no-caching: { only: \"wss://a.example\" }", "no-caching"),
            ("no-caching: { only: [\"*\", \"*/v1/*\"] }", nil), ("no-caching: { only: b.example }", nil),
            ("no-caching: { only: \"http://a.example\" }", nil), ("no-caching: { only: \"a.example:8443\" }", nil),
            ("no-caching: { only: a.example, enabled: false }", nil),
            ("off: [no-caching]\nno-caching: { only: a.example }", nil),
            ("block: { at: a.example }", nil), ("block: { at: \"a.example/secret*\" }", "block"),
            ("block: { at: \"*/secret*\" }", "block"), ("allow: { at: \"a.example/public/*\" }", "allow"),
            ("allow: { at: \"*.example\" }", nil), ("throttle: { only: a.example, preset: 3g }", nil),
            ("throttle: { only: \"*/video/*\", preset: 3g }", nil),
            ("throttle: { only: \"a.example/video/*\", preset: 3g }", "throttle"),
        ] as [(String, String?)]
    )
    func readers(text: String, expected: String?) throws {
        let profile = try RuleProfile("version: 1\n\(text)", file: "p.yaml")
        let chain = profile.chain.between(ScriptedEnd(), nil)
        let url = RequestURL(scheme: "tunnel", host: "a.example", port: 443, path: "")
        #expect(profile.chain.reader(of: url)?.name == expected)
        #expect(chain.reader(of: url)?.name == expected)
    }

    @Test("Where the bytes are not known to be TLS, rules for both schemes count")
    func eitherScheme() throws {
        for scheme in ["http", "https"] {
            let profile = try RuleProfile("version: 1\nno-caching: { only: \"\(scheme)://a.example\" }", file: "p.yaml")
            let url = RequestURL(scheme: "http", host: "a.example", port: 80, path: "")
            #expect(profile.chain.reader(of: url)?.name == "no-caching")
        }
    }

    /// A stage before all others.
    private struct ScriptedEnd: Stage {
        let id = StageID("first", order: 0)
        func handler(for opening: ExchangeOpening) -> (any StageHandler)? { nil }
    }
}

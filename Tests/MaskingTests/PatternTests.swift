import HTTPModel
import Testing

@testable import Masking

@Suite("Secrets that are known by their look")
struct PatternTests {
    private let rules = Masked.rules(patterns: [.email, .card])

    private func masked(_ text: String, _ syntax: ScanSyntax? = .text) -> String { Masked.text(text, syntax, rules) }

    @Test(
        "The sign of an address is escaped",
        arguments: [
            "me%40example.com", "me@example.com",
        ]
    )
    func escapedSign(address: String) {
        #expect(masked("a=1&q=\(address)&b=2", .form) == "a=1&q=sluice-email-1&b=2")
        #expect(masked("/users/\(address)/x", .field) == "/users/sluice-email-1/x")
        #expect(masked(#"{"q":"\#(address)","r":"me@example.com"}"#) == #"{"q":"sluice-email-1","r":"sluice-email-1"}"#)
        #expect(masked("<a>\(address)</a>", .markup) == "<a>sluice-email-1</a>")
    }

    @Test("The letter of an escape before an address is none of the address's")
    func escapesAround() {
        #expect(masked("q=%20me@example.com", .form) == "q=%20sluice-email-1")
        #expect(masked(#"{"q":"to:\nme@example.com"}"#) == #"{"q":"to:\nsluice-email-1"}"#)
    }

    @Test("Numbers are those of the places where addresses begin")
    func order() {
        #expect(masked("a@example.com b%40example.com") == "sluice-email-1 sluice-email-2")
    }

    @Test(
        "What has the sign of an address and is none",
        arguments: [
            "lodash@4.17.21", "logo@2x.png", "logo@3x.png 2x", "a@b", "@example.com", "50%40 off", "me@example", "x%40",
            #"\u0040"#, "@media.x",
        ]
    )
    func noAddress(text: String) { #expect(masked(text) == text) }

    @Test(
        "Groups of a card's digits",
        arguments: [
            "4111+1111+1111+1111", "4111%201111%201111%201111", "4111%2D1111%2D1111%2D1111",
            "4111 1111 1111 1111",
        ]
    )
    func groups(number: String) { #expect(masked("a=1&n=\(number)&b=2", .form) == "a=1&n=sluice-card-1&b=2") }

    @Test("A card of American Express has other groups")
    func otherGroups() {
        #expect(masked("n=3782+822463+10005", .form) == "n=sluice-card-1")
        #expect(masked("n=3782%20822463%2010005&m=3782 822463 10005", .form) == "n=sluice-card-1&m=sluice-card-1")
    }

    @Test("Cards beside other numbers")
    func beside() {
        for (text, masked) in [
            ("4111111111111111 4111-1111-1111-1111 7", "sluice-card-1 sluice-card-2 7"),
            ("12 4111111111111111", "12 sluice-card-1"), ("4111 1111 1111 1111 12", "sluice-card-1 12"),
            ("1 2 3 4111 1111 1111 1111", "1 2 3 sluice-card-1"), ("x4111111111111111", "x4111111111111111"),
            ("41111111111111114111111111111111", "41111111111111114111111111111111"),
            ("2026-11-27 11:08:41 1111", "2026-11-27 11:08:41 1111"),
        ] { #expect(self.masked(text) == masked) }
    }

    @Test("A sum is no card", arguments: ["41+11111111+111111", "4111+1111+1111+1112", "4111+11111111+1111"])
    func sums(text: String) { #expect(masked(text) == text) }

    @Test("JSON Web Tokens and keys of services")
    func shapes() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
        #expect(Masked.text("a \(token), b") == "a sluice-token-1, b")
        #expect(Masked.text("eyJust.a.word", nil) == "eyJust.a.word")
        let tail = "7fQ2xLw9ZbT4mKc8VsR1nHd6YpJ3gEa5UoXi0BvN"
        let keys = [
            "GOCSPX-", "hvs.", "dckr_pat_", "gsk_", "sbp_", "lin_api_", "pat-na1-", "ntn_", "ATATT3", "ghp_", "gho_",
            "xoxb-",
            "xapp-", "sk_live_", "sk_test_", "rk_live_", "sk-", "ya29.", "SG.", "npm_", "pypi-", "hf_", "shpat_",
            "dop_v1_", "EAAC",
            "sq0atp-", "key-", "dapi", "glsa_", "NRAK-", "xkeysib-", "figd_", "PMAK-", "rubygems_", "sntrys_", "tskey-",
            "r8_",
            "glpat-", "glrt-", "gldt-", "glptt-", "whsec_", "github_pat_",
        ]
        .map { $0 + tail }
        for key in keys + [
            "AKIAIOSFODNN7EXAMPLE", "AIzaAMvfwRKGDVKrVuRRrDFGkbAtzzmygjaLu8s", "SK0123456789abcdef0123456789abcdef",
            "AGE-SECRET-KEY-1QZ7FQ2XLW9ZBT4MKC8VSR1NHD6YPJ3GEA5UOXI0BVN", "whsec_QqpbijQE5M/9Q5saJbVcxiW4mbox7b7z",
            "ghp_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGhIj", "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",
        ] {
            for text in ["see \(key) there", "{\"i1\": \"\(key)\"}", "a\\n\(key) b", "x=%20\(key)&b"] {
                #expect(Masked.text(text, nil) == text.replacing(key, with: "sluice-key-1"))
            }
        }
    }

    @Test("Names that begin like keys stay")
    func names() {
        for word in [
            "npm_config_registry_location_of_packages", "sk-learn-library-of-machine-learning-models",
            "key-value-pairs-of-a-long-map-here",
            "gsk_ghp_", "AKIA", "webhooks/123", "robot1234567890:abc",
        ] { #expect(Masked.text("x \(word) y", nil) == "x \(word) y") }
    }

    @Test("Secrets in addresses of webhooks and bots")
    func webhooks() {
        for (before, secret, after) in [
            ("https://api.telegram.org/bot123456789:", "AAF4Zr1x_gPqL7sVbN2cKd8WmT3yHjR5uEo", "/sendMessage"),
            ("https://hooks.slack.com/services/T024BE7LD/B024BE7LE/", "Xq7ZrT2mKc9VsW4nLd8YpJ6g", ""),
            ("https://discord.com/api/webhooks/123456789012345678/", "7fQ2xLw9ZbT4mKc8VsR1nHd6YpJ3gEa5UoXi0BvN", ""),
        ] {
            #expect(
                Masked.head("POST \(before)\(secret)\(after) HTTP/1.1\r\n\r\n")
                    == "POST \(before)sluice-token-1\(after) HTTP/1.1\r\n\r\n"
            )
        }
    }

    @Test("Private keys, also with the line ends of JSON and in forms", arguments: ["\n", "\\n", "\r\n", "%0A"])
    func privateKeys(lineEnd: String) {
        let body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7"].joined(separator: lineEnd)
        for (label, space) in [("RSA PRIVATE KEY", " "), ("PRIVATE KEY", "+"), ("PGP PRIVATE KEY BLOCK", "%20")] {
            let label = label.replacing(" ", with: space)
            let (begin, end) = ("-----BEGIN\(space)\(label)-----", "-----END\(space)\(label)-----")
            #expect(
                Masked.text("x \(begin)\(lineEnd)\(body)\(lineEnd)\(end) y") == "x \(begin)sluice-private-key-1\(end) y"
            )
        }
        for text in [
            "-----BEGIN PUBLIC KEY-----\nMIIB", "-----BEGIN PRIVATE KEY-----...-----END PRIVATE KEY-----",
            #""-----BEGIN PRIVATE KEY-----", -----END"#, "-----BEGIN PRIVATE KEY-----\nXXXX\n-----END",
        ] { #expect(Masked.text(text) == text) }
    }
}
